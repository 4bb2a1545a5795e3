"""The vendored libraries are the ones of the lock, and pages load no others."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys

import pytest


@pytest.fixture
def vendor(repository):
    spec = importlib.util.spec_from_file_location("vendor_assets", repository / "scripts" / "vendor_assets.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["vendor_assets"] = module
    spec.loader.exec_module(module)
    return module


def test_the_committed_files_match_the_lock(repository):
    done = subprocess.run(
        [sys.executable, "scripts/vendor_assets.py", "--check"],
        cwd=repository,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("ok ") == 2


def test_a_changed_file_is_found(vendor, tmp_path, monkeypatch):
    shutil.copytree(vendor.VENDOR, tmp_path / "vendor")
    monkeypatch.setattr(vendor, "VENDOR", tmp_path / "vendor")
    asset = vendor.read_lock()[0]
    vendor.check(asset)
    asset.path.write_bytes(asset.path.read_bytes() + b"//")
    with pytest.raises(vendor.VendorError, match="differs from the lock"):
        vendor.check(asset)


def test_each_has_its_licence_and_the_lock_names_no_host(vendor):
    assert all(asset.licence_path.is_file() for asset in vendor.read_lock())
    assert "://" not in vendor.LOCK.read_text()


def test_pages_load_only_vendored_files_that_exist(repository):
    head = (repository / "templates" / "_charts_head.html").read_text()
    files = re.findall(r'\{% static "([^"]+)" %\}', head)
    assert len(files) == 3
    for file in files:
        assert (repository / "static" / file).is_file(), file
