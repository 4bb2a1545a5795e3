"""What YCSB's JSON exporters write (`-p exporter=…JSON[Array]MeasurementsExporter`), as summary lines."""

from __future__ import annotations

import json

from benchagent.importers.base import NotUnderstood, SourceFile


def exported(file: SourceFile) -> SourceFile:
    """The same file, or its summary in the text form where it is JSON: one array, or objects one after the other."""
    text = file.text.strip()
    if not text.startswith(("{", "[")) or '"measurement"' not in text[:500]:
        return file
    rows: list[object] = []
    decoder = json.JSONDecoder(parse_float=str, parse_int=str)
    at = 0
    try:
        while at < len(text):
            content, at = decoder.raw_decode(text, at)
            rows += content if isinstance(content, list) else [content]
            while at < len(text) and text[at] in " \n\t,":
                at += 1
    except ValueError as error:
        raise NotUnderstood(f"broken JSON: {error}") from error
    return SourceFile(file.name, "".join(map(_line, rows)).encode())


def _line(row: object) -> str:
    if not isinstance(row, dict) or not {"metric", "measurement", "value"} <= set(row):
        raise NotUnderstood("JSON of another form than YCSB's")
    cells = [str(row[name]) for name in ("metric", "measurement", "value")]
    if any("\n" in cell or "," in cell for cell in cells):
        raise NotUnderstood("JSON of another form than YCSB's")
    return f"[{cells[0]}], {cells[1]}, {cells[2]}\n"
