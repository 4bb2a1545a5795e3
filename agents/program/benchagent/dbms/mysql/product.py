"""Which of the two products, in which version: everything that differs between them is asked here."""

from __future__ import annotations

import re
from dataclasses import dataclass

MYSQL, MARIADB = "mysql", "mariadb"
Numbers = tuple[int, ...]


@dataclass(frozen=True)
class Product:
    slug: str
    version: str

    @property
    def name(self) -> str:
        return "MariaDB" if self.slug == MARIADB else "MySQL"

    @property
    def numbers(self) -> Numbers:
        """ "10.11.19-MariaDB" is (10, 11, 19)."""
        match = re.match(r"\d+(?:\.\d+)*", self.version)
        return tuple(int(part) for part in match.group().split(".")) if match else ()

    def since(self, mysql: Numbers | None, mariadb: Numbers | None) -> bool:
        """True from these versions on; None: that product has it in no version."""
        first = mariadb if self.slug == MARIADB else mysql
        return first is not None and self.numbers >= first

    def __str__(self) -> str:
        return f"{self.name} {self.version}"
