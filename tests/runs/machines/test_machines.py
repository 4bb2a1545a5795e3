"""Machines by hand: made, edited with history, merged and apart again, compared; runs go on in every case."""

from __future__ import annotations

import pytest
from django.http import QueryDict
from rest_framework.exceptions import ValidationError

from runs import machines
from runs.access import changes
from runs.listing.filters import RunFilter, hardware_choices
from runs.machines.facts import parse_size, size_text
from runs.models import HardwareProfile, Run, RunStorage
from tests.runs.builders import hardware_facts, machine, scheduled

pytestmark = pytest.mark.django_db

SSD = {"name": "sda", "medium": "ssd", "model": "Fast 480", "capacity_bytes": 480 * 10**9, "emulated": False}


def run_on(profile: HardwareProfile, **changes_) -> Run:
    run = scheduled(hardware=profile, **changes_)
    device = profile.storage.first()
    if device is not None:
        RunStorage.objects.create(run=run, role="data", device=device)
    run = Run.objects.get(pk=run.pk)
    run.set_cell_key()
    run.save(update_fields=["cell_key"])
    return run


def test_it_keeps_who_changed_what(operator):
    profile = machines.create_profile(facts={"name": "bench 9", "ram_bytes": 16 * 1024**3}, by=operator)
    slug = profile.slug

    changed = machines.edit_facts(profile, facts={"name": "Bench Nine", "ram_bytes": 16 * 1024**3}, by=operator)

    assert changed == ["name"]
    assert HardwareProfile.objects.get(slug=slug).name == "Bench Nine"
    change = changes.history(profile).get()
    assert (change.field, change.old, change.new, change.by) == ("name", "bench 9", "Bench Nine", operator)


def test_it_refuses_two_disks_of_one_name(operator):
    profile = machines.create_profile(facts={"name": "bench 9"}, by=operator)
    machines.add_device(profile, facts=SSD, by=operator)

    with pytest.raises(ValidationError, match="sda"):
        machines.add_device(profile, facts=SSD, by=operator)


def test_it_makes_repeats_of_one_cell_of_runs_on_merged_machines(operator):
    one, two = machine(), machine(hostname="bench-1b")
    first, second = run_on(one, repeat=1), run_on(two, repeat=2)
    assert first.cell_key != second.cell_key

    moved = machines.merge(two, into=one, by=operator)

    first.refresh_from_db()
    second.refresh_from_db()
    assert moved == 1
    assert second.hardware == one
    assert second.storage.get().device == one.storage.get()
    assert first.cell_key == second.cell_key


def test_it_puts_everything_back_when_a_merge_is_undone(operator):
    one, two = machine(), machine(hostname="bench-1b")
    before = run_on(two)
    machines.merge(two, into=one, by=operator)

    machines.unmerge(two, by=operator)

    after = Run.objects.get(pk=before.pk)
    assert (after.hardware, after.cell_key) == (two, before.cell_key)
    assert after.storage.get().device == two.storage.get()
    assert two.merged_into is None


def test_it_moves_a_disk_that_the_other_machine_does_not_have(operator):
    one = machines.create_profile(facts={"name": "bare"}, by=operator)
    two = machine()
    run = run_on(two)

    machines.merge(two, into=one, by=operator)

    assert run.storage.get().device.hardware == one
    machines.unmerge(two, by=operator)
    assert run.storage.get().device.hardware == two


def test_it_gives_an_agent_the_machine_that_its_own_was_merged_with(operator):
    one, two = machine(), machine(hostname="bench-1b")
    machines.merge(two, into=one, by=operator)

    found = machines.upsert_hardware(facts=hardware_facts(hostname="bench-1b"), name="Bench One")

    assert found == one


def test_its_address_selects_what_it_became_and_no_menu_offers_it(operator, client):
    one, two = machine(), machine(hostname="bench-1b")
    run = run_on(two)
    machines.merge(two, into=one, by=operator)

    assert [row.pk for row in RunFilter(QueryDict(f"hardware={two.slug}"), Run.objects.all()).qs] == [run.pk]
    assert [slug for slug, _ in hardware_choices(operator, [])] == [one.slug]


def test_machines_of_one_name_are_told_apart_wherever_they_are_listed(client, operator):
    client.force_login(operator)
    for kernel in ("6.1", "6.12"):
        machines.create_profile(facts={"name": "Lab", "kernel": kernel}, by=operator)
    machines.create_profile(facts={"name": "Other"}, by=operator)
    called = {"Lab (6.1)", "Lab (6.12)", "Other"}
    assert {name for _, name, _ in client.get("/hardware/").context["machines"]} == called
    page = client.get("/hardware/lab/").context
    assert {page["called"], *(name for _, name in page["others"])} == called
    diff = client.get("/hardware/diff/?machine=lab&machine=lab-2").context
    assert [name for _, name in diff["profiles"]] == ["Lab (6.1)", "Lab (6.12)"]
    assert {name for _, name in diff["choices"]} == called


def test_it_does_not_merge_in_circles(operator):
    one, two = machine(), machine(hostname="bench-1b")
    machines.merge(two, into=one, by=operator)

    for source, into in ((one, one), (one, two), (two, one)):
        with pytest.raises(machines.CannotMerge):
            machines.merge(source, into=into, by=operator)


def test_it_tells_differences_from_gaps():
    one, two = machine(), machine(hostname="bench-2", cpu_model="Eight cores", motherboard="X1")
    facts, devices = machines.compare_profiles([one, two])

    rows = {row.label: row for row in facts}
    assert rows["CPU"].differs and all(rows["CPU"].values)
    assert not rows["Motherboard"].differs and sorted(map(bool, rows["Motherboard"].values)) == [False, True]
    assert not rows["RAM"].differs
    assert [device.name for device in devices] == ["vda"]


def test_it_sets_disks_of_other_names_beside_each_other():
    one, two = machine(hostname="bench-3"), machine(hostname="bench-4")
    one.storage.update(name="SATA", medium="hdd")
    two.storage.update(name="NVMe", medium="ssd")
    _, devices = machines.compare_profiles([one, two])

    assert [device.name for device in devices] == ["SATA ↔ NVMe"]
    assert [row.label for row in devices[0].facts if row.differs] == ["Name", "Medium"]


@pytest.mark.parametrize(
    ("text", "size_bytes"),
    [("16 GiB", 16 * 1024**3), ("480 GB", 480 * 10**9), ("1.8TB", 1_800_000_000_000), ("512", 512), ("1 kib", 1024)],
)
def test_it_reads_sizes_as_people_write_them(text, size_bytes):
    assert parse_size(text) == size_bytes
    assert parse_size(size_text(size_bytes)) == size_bytes


@pytest.mark.parametrize(
    "size_bytes", [25276502016, 25276186624, 1000204886016, 1932735283, 1, 1023, 999_999 * 1024, 2**53 + 1, 2**63 - 1]
)
def test_every_stored_size_goes_through_the_form_unchanged(size_bytes):
    """Was: "2.46841e+07 KiB", which is no size, and 25276186624 B as "24105.2 MiB", which is another one."""
    assert parse_size(size_text(size_bytes)) == size_bytes
    assert "e" not in size_text(size_bytes)


@pytest.mark.parametrize("text", ["", "much", "-1 GB", "0", "1 XB", "1,5 GB", "9" * 30])
def test_it_refuses_what_is_no_size(text):
    with pytest.raises(ValueError, match="size"):
        parse_size(text)


def test_it_makes_a_machine_with_disks_in_the_browser(client, contributor):
    client.force_login(contributor)

    answer = client.post("/hardware/new/", {"name": "Lab 3", "ram_bytes": "64 GiB", "cpu_cores": "8"}, follow=True)
    profile = HardwareProfile.objects.get(name="Lab 3")
    client.post(f"/hardware/{profile.slug}/disks/new/", {"name": "nvme0", "medium": "NVMe", "capacity_bytes": "2 TB"})

    assert answer.status_code == 200
    assert (profile.ram_bytes, profile.created_by) == (64 * 1024**3, contributor)
    assert profile.storage.get().capacity_bytes == 2 * 10**12
    page = client.get(f"/hardware/{profile.slug}/").content.decode()
    assert "64 GiB" in page and "NVMe" in page


def test_it_names_the_wrong_field(client, contributor, bearer):
    client.force_login(contributor)
    page = client.post("/hardware/new/", {"name": "Lab 3", "ram_bytes": "lots"})
    answer = client.post(
        "/api/v1/hardware/", {"name": "x", "ram_bytes": -1, "colour": "red"}, content_type="application/json",
        headers=bearer("upload"),
    )  # fmt: skip

    assert page.status_code == 422 and "lots" in page.content.decode()
    assert set(answer.json()) == {"colour"} or "ram_bytes" in answer.json()
    assert answer.status_code == 400
    assert not HardwareProfile.objects.filter(name__in=["Lab 3", "x"]).exists()


def test_it_speaks_rest(client, bearer):
    headers = bearer("upload")
    made = client.post("/api/v1/hardware/", {"name": "rest 1"}, content_type="application/json", headers=headers)
    slug = made.json()["slug"]
    disk = client.post(f"/api/v1/hardware/{slug}/storage/", SSD, content_type="application/json", headers=headers)
    patched = client.patch(
        f"/api/v1/hardware/{slug}/storage/{disk.json()['slug']}/", {"raid": "1"}, content_type="application/json",
        headers=headers,
    )  # fmt: skip
    other = client.post("/api/v1/hardware/", {"name": "rest 2"}, content_type="application/json", headers=headers)
    merged = client.post(
        f"/api/v1/hardware/{other.json()['slug']}/merge/", {"into": slug}, content_type="application/json",
        headers=headers,
    )  # fmt: skip

    assert [answer.status_code for answer in (made, disk, patched, other, merged)] == [201, 201, 200, 201, 200]
    answer = client.get(f"/api/v1/hardware/{slug}/")
    assert answer.status_code == 200, answer.json()
    assert answer.json()["storage"][0]["raid"] == "1"
    assert {*machines.MACHINE_FIELDS} < {*answer.json()} and {*machines.DEVICE_FIELDS} < {*disk.json()}
    assert client.get(f"/hardware/{other.json()['slug']}/").headers["Location"] == f"/hardware/{slug}/"


def test_machines_of_one_name_are_offered_with_what_parts_them(operator):
    for facts in ({"kernel": "6.1"}, {"kernel": "6.12"}, {"kernel": "6.12"}):
        machines.create_profile(facts={"name": "alpha", "os": "Debian 12", **facts}, by=operator)
    machines.create_profile(facts={"name": "beta", "kernel": "6.1"}, by=operator)
    offered = hardware_choices(operator, [])
    assert sorted(words for _, words in offered) == ["alpha (6.1)", "alpha (alpha-2)", "alpha (alpha-3)", "beta"]
