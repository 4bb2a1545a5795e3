"""Files of tools, dropped in the browser or sent by `benchctl`: read, previewed, completed by a person, stored as runs.

In the order of use: `sent` and `parts`, files as they come; `steps`, what a person does with them; `reading`, files to
reports, at once or in `worker`; `storing`, reports to runs through the one door, `runs.results`.
"""

from __future__ import annotations

from runs.imports.parts import note_used, sent_files
from runs.imports.sent import BadFiles, Sent, TooManyWait
from runs.imports.steps import (
    StillRead,
    deleted_runs_of,
    described,
    forget,
    imports_of,
    keep_subject,
    read_again,
    receive,
    store,
    uploads_of,
    warnings_of,
)
from runs.imports.storing import NotReady, runs_of
