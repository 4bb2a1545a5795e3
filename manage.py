#!/usr/bin/env python
"""Django's command line."""

from __future__ import annotations

import errno
import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchsite.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line
    from django.db import DatabaseError, DataError, IntegrityError

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(str(error))
    except DatabaseError as error:
        if isinstance(error, (DataError, IntegrityError)):
            raise
        sys.exit(f"the database does not work, or has no tables yet (`make up` makes them): {str(error).strip()}")
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        sys.exit(f"the disk is full ({error.filename or os.environ.get('STATE') or 'var'}): make room, then try again")


if __name__ == "__main__":
    main()
