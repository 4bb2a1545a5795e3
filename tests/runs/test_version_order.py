"""Versions of a DBMS in their order, as they call themselves."""

import pytest

from runs.formatting import natural, version_order

IN_ORDER = {
    "PostgreSQL": [
        "9.6.24", "10.0", "16.10", "17.6", "18devel", "18devel-1204-f3eb639a", "18devel-1210-0badc0de", "18beta1",
        "18beta2", "18rc1", "18.0", "18.0-7-ab", "18.1", "18.10",
    ],
    "MySQL": ["5.7.44-log", "8.0.0-dmr", "8.0.4-rc-log", "8.0.4", "8.0.36", "8.0.36-28", "8.4.0", "9.0.1"],
    "MariaDB": ["5.5.68-MariaDB", "10.0-rc1", "10.0", "10.6.16-11-MariaDB-enterprise-log", "10.11.6+maria~ubu2204"],
    "Firebird": ["2.5.9.27139", "3.0.11.33703", "5.0.0-Beta1", "5.0.0-RC2", "5.0.0.1306", "5.0.1.1469", "6.0.0.1234"],
    "H2": ["1.4.200", "2.2.224", "2.3.232", "2.4.0-SNAPSHOT", "2.4.0"],
    "Oracle": ["11.2.0.4.0", "12.2.0.1.0", "19.3.0.0.0", "21c", "23ai"],
    "Derby": ["10.9.1.0", "10.17.1.0"],
}  # fmt: skip


@pytest.mark.parametrize("versions", IN_ORDER.values(), ids=IN_ORDER)
def test_versions_stand_in_order(versions):
    orders = [version_order(version) for version in versions]
    assert orders == sorted(set(orders))


def test_what_a_build_is_named_by_its_text_alone_tells_no_order():
    assert version_order("18.0") == version_order("18.0a") == version_order("18.0-head")
    assert version_order("trunk") == version_order("0.0-rc1") == ""


def test_a_hostile_version_is_a_text_too():
    assert len(version_order("1." * 60)) <= 200
    assert version_order("9" * 120) == "9" * 9


def test_sizes_in_names_stand_by_their_bytes_and_numbers_by_their_value():
    """Seen: 1GB, 4GB, 512MB."""
    sizes = ["1GB", "4GB", "8kB", "512MB", "1.5 GiB"]
    assert sorted(sizes, key=natural) == ["8kB", "512MB", "1GB", "1.5 GiB", "4GB"]
    numbers = ["18.1", "10", "1,600", "9.6"]
    assert sorted(numbers, key=natural) == ["9.6", "10", "18.1", "1,600"]
