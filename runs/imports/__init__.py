"""Files of tools, dropped in the browser or sent by `benchctl`: read, previewed, completed by a person, stored as runs.

`sent_files` are those that came in parts.

`take` keeps the files and reads them; `store` turns what was read into results through the one door, `runs.results`;
`read_again` reads the kept files with today's importers.
"""

from __future__ import annotations

from runs.imports.parts import note_used, sent_files
from runs.imports.sent import BadFiles, Sent, TooManyWait
from runs.imports.steps import (
    NotReady,
    StillRead,
    deleted_runs_of,
    described,
    forget,
    imports_of,
    read_again,
    runs_of,
    say,
    store,
    take,
)
