"""A publication as a ZIP file from a stranger: its files out of it, or why not. Nothing is written to a disk."""

from __future__ import annotations

import zipfile
from pathlib import PurePosixPath
from typing import IO

from runs.publications.folder import MAX_FILE_BYTES, OPTIONAL, REQUIRED, Folder, FolderError, comes_with_program

MAX_ZIP_BYTES = 4 * 1024**2
MAX_UNPACKED_BYTES = 2 * MAX_FILE_BYTES
_MOST_ENTRIES = 20
_CHUNK = 64 * 1024
_ENCRYPTED, _SYMLINK = 0x1, 0o120000


def read_zip(file: IO[bytes], size_bytes: int) -> Folder:
    """The files may lie in one folder of the archive. Raises FolderError."""
    if size_bytes > MAX_ZIP_BYTES:
        raise FolderError([f"the archive is larger than {MAX_ZIP_BYTES} bytes"])
    try:
        with zipfile.ZipFile(file) as archive:
            folder = Folder.of(_files(archive))
    # zipfile raises NotImplementedError for a compression that it does not know.
    except (zipfile.BadZipFile, NotImplementedError, EOFError, ValueError, OSError) as error:
        if isinstance(error, FolderError):
            raise
        raise FolderError([f"no ZIP file that can be read: {error}"]) from error
    if comes_with_program(folder.slug):
        raise FolderError([f"results.json: publication.slug: {folder.slug} comes with the program"])
    return folder


def _files(archive: zipfile.ZipFile) -> dict[str, bytes]:
    entries = [one for one in archive.infolist() if not one.is_dir()]
    if len(entries) > _MOST_ENTRIES:
        raise FolderError([f"the archive holds more than {_MOST_ENTRIES} files"])
    tops = {PurePosixPath(one.filename).parts[:-1] for one in entries}
    faults = [fault for one in entries if (fault := _fault(one))]
    names = [PurePosixPath(one.filename).name for one in entries]
    faults += [f"{name}: stands twice" for name in sorted(set(names)) if names.count(name) > 1]
    if not faults and len(tops) > 1:
        faults = ["the files lie in several folders: results.json and the others belong beside each other"]
    if faults:
        raise FolderError(faults)
    left, files = MAX_UNPACKED_BYTES, {}
    for name, entry in zip(names, entries, strict=True):
        files[name] = _unpacked(archive, entry, min(left, MAX_FILE_BYTES))
        left -= len(files[name])
    return files


def _fault(entry: zipfile.ZipInfo) -> str:
    path = PurePosixPath(entry.filename)
    if path.is_absolute() or ".." in path.parts or "\\" in entry.filename or len(path.parts) > 2:
        return f"{entry.filename}: not a place for a file of a publication"
    if entry.flag_bits & _ENCRYPTED:
        return f"{entry.filename}: encrypted"
    if (entry.external_attr >> 16) & 0o170000 == _SYMLINK:
        return f"{entry.filename}: a link"
    return "" if path.name in (*REQUIRED, *OPTIONAL) else f"{entry.filename}: not a file of a publication"


def _unpacked(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, most_bytes: int) -> bytes:
    """What an entry says of its own size is not believed."""
    content = bytearray()
    with archive.open(entry) as stream:
        while chunk := stream.read(_CHUNK):
            content += chunk
            if len(content) > most_bytes:
                raise FolderError([f"{entry.filename}: more than {most_bytes} bytes when unpacked"])
    return bytes(content)
