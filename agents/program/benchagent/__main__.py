"""`python -m benchagent`."""

from benchagent.cli.main import main

raise SystemExit(main())
