#!/usr/bin/env python3
"""Vendor the JavaScript libraries that pages load, pinned by checksum.

    scripts/vendor_assets.py           fetch every tarball of the lock with `npm pack`, verify, write static/vendor/
    scripts/vendor_assets.py --check   verify the committed files against the lock; no network

The lock (static/vendor/vendor.lock.json) names for each library its version, the file taken out of the tarball, the
sha512 of the tarball as the registry states it, and the sha256 of the file as committed. The only change made to a
file is that the line pointing to its source map goes: the map is not vendored, and a hashed static file may not point
to one that is missing.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import re
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

VENDOR = Path(__file__).resolve().parent.parent / "static" / "vendor"
LOCK = VENDOR / "vendor.lock.json"
SOURCE_MAP_LINE = re.compile(rb"^//# sourceMappingURL=.*\n?", re.MULTILINE)


class VendorError(Exception):
    """A file or tarball is not what the lock says."""


@dataclass(frozen=True)
class Asset:
    name: str
    version: str
    file: str
    licence: str
    licence_file: str
    tarball_sha512: str
    sha256: str

    @property
    def folder(self) -> Path:
        return VENDOR / f"{self.name.rpartition('/')[2]}-{self.version}"

    @property
    def path(self) -> Path:
        return self.folder / Path(self.file).name

    @property
    def licence_path(self) -> Path:
        return self.folder / Path(self.licence_file).name


def read_lock() -> list[Asset]:
    return [Asset(**entry) for entry in json.loads(LOCK.read_text())["assets"]]


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def check(asset: Asset) -> None:
    """Raises VendorError when a committed file is missing or differs from the lock."""
    for path in (asset.path, asset.licence_path):
        if not path.is_file():
            raise VendorError(f"{asset.name}: {path.name} is missing in {asset.folder.name}")
    if sha256(asset.path.read_bytes()) != asset.sha256:
        raise VendorError(f"{asset.name}: {asset.path.name} differs from the lock")


def verified_tarball(asset: Asset, folder: Path) -> Path:
    command = ["npm", "pack", "--silent", "--pack-destination", str(folder), f"{asset.name}@{asset.version}"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    tarball = folder / printed.strip().splitlines()[-1]
    digest = base64.b64encode(hashlib.sha512(tarball.read_bytes()).digest()).decode()
    if digest != asset.tarball_sha512:
        raise VendorError(f"{asset.name}: tarball has sha512 {digest}, lock says {asset.tarball_sha512}")
    return tarball


def member(tarball: Path, name: str) -> bytes:
    with tarfile.open(tarball) as archive:
        file = archive.extractfile(f"package/{name}")
        if file is None:
            raise VendorError(f"{tarball.name} has no {name}")
        return file.read()


def fetch(asset: Asset) -> None:
    with tempfile.TemporaryDirectory() as folder:
        tarball = verified_tarball(asset, Path(folder))
        script = SOURCE_MAP_LINE.sub(b"", member(tarball, asset.file))
        licence = member(tarball, asset.licence_file)
    if sha256(script) != asset.sha256:
        raise VendorError(f"{asset.name}: {asset.file} has sha256 {sha256(script)}, lock says {asset.sha256}")
    asset.folder.mkdir(parents=True, exist_ok=True)
    asset.path.write_bytes(script)
    asset.licence_path.write_bytes(licence)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="verify the committed files only, no network")
    act = check if parser.parse_args().check else fetch
    try:
        for asset in read_lock():
            act(asset)
            print(f"ok  {asset.name} {asset.version}")
    except VendorError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
