"""`python -m benchagent`."""

from benchagent.cli import main

raise SystemExit(main())
