"""Machines: list, one with what ran on it, two side by side; made, edited and merged by hand."""

from __future__ import annotations

from collections.abc import Iterable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from rest_framework.exceptions import ValidationError

from runs import machines as hardware
from runs.access import changes
from runs.access.rules import describable, may_describe
from runs.listing.cursor import bounded_count
from runs.listing.rows import RunRow
from runs.machines.forms import DeviceForm, ProfileForm
from runs.models import HardwareProfile, Run, StorageDevice
from runs.models.base import clean
from runs.views.forms import add_errors, changed, form_page, remembering
from runs.views.guards import PersonRequest, contributor_required

RECENT = 10
MOST_LISTED = 500
MOST_COMPARED = 6


@require_safe
def hardware_list(request: HttpRequest) -> HttpResponse:
    words = clean(request.GET.get("q", "").strip(), 100)
    rows = hardware.listed_profiles(request.user).prefetch_related("storage")
    for word in words.split():
        rows = rows.filter(name__icontains=word) | rows.filter(cpu_model__icontains=word)
    counts = Run.objects.present().listed_for(request.user).counts_up_to(hardware.MOST_COUNTED, "hardware")
    called = _called_apart(rows.order_by("name")[:MOST_LISTED])
    machines = [(profile, name, counts.get(profile.pk, 0)) for profile, name in called]
    return render(request, "hardware/list.html", {"machines": machines, "q": words})


@require_safe
def hardware_detail(request: HttpRequest, slug: str) -> HttpResponse:
    profile = get_object_or_404(hardware.readable_profiles(request.user), slug=slug)
    if profile.merged_into is not None:
        return redirect("hardware-detail", slug=profile.merged_into.slug, permanent=False)
    runs = Run.objects.present().listed_for(request.user).filter(hardware=profile)
    run_count, is_exact = bounded_count(runs)
    others = hardware.listed_profiles(request.user).exclude(pk=profile.pk).order_by("name")[:MOST_LISTED]
    (_, called), *others_called = _called_apart([profile, *others])
    may_edit = may_describe(request.user, profile)
    context = {
        "profile": profile,
        "called": called,
        "facts": hardware.profile_facts(profile),
        "devices": [(device, hardware.device_facts(device)) for device in profile.storage.all()],
        "best": hardware.best_results(profile, request.user),
        "run_count": run_count,
        "run_count_is_exact": is_exact,
        "looked_at": hardware.LOOKED_AT,
        "rows": [RunRow(run) for run in runs.for_lists()[:RECENT]],
        "others": others_called,
        "may_edit": may_edit,
        "history": changes.history(profile)[:20],
        "merged": _called_apart([*profile.merged.all(), profile])[:-1] if may_edit else [],
    }
    return render(request, "hardware/detail.html", context)


@require_safe
def hardware_diff(request: HttpRequest) -> HttpResponse:
    given = (clean(slug, 120) for slug in request.GET.getlist("machine"))
    wanted = list(dict.fromkeys(given))[:MOST_COMPARED]
    listed = hardware.listed_profiles(request.user)
    by_slug = {profile.slug: profile for profile in listed.filter(slug__in=wanted).prefetch_related("storage")}
    profiles = [by_slug[slug] for slug in wanted if slug in by_slug]
    facts, devices = hardware.compare_profiles(profiles)
    context = {
        "profiles": _called_apart(profiles),
        "unknown": [slug for slug in wanted if slug and slug not in by_slug],
        "facts": facts,
        "devices": devices,
        "differing": sum(row.differs for row in [*facts, *(row for device in devices for row in device.facts)]),
        "choices": _called_apart(listed.order_by("name")[:MOST_LISTED]),
    }
    return render(request, "hardware/diff.html", context, status=404 if context["unknown"] else 200)


@contributor_required
@require_http_methods(["GET", "HEAD", "POST"])
def hardware_new(request: PersonRequest) -> HttpResponse:
    form = ProfileForm(request.POST or None)
    if form.is_valid():
        profile = hardware.create_profile(facts=form.cleaned_data, by=request.user)
        messages.success(request, f"{profile} is there. Add its disks, so that runs can say which held what.")
        return redirect("hardware-detail", slug=profile.slug)
    return form_page(request, "hardware/form.html", form, title="A new machine")


@contributor_required
@require_http_methods(["GET", "HEAD", "POST"])
def hardware_edit(request: PersonRequest, slug: str) -> HttpResponse:
    profile = _editable(request, slug)
    # The row as it is stands apart from the form's copy: the old values are recorded.
    form = remembering(ProfileForm(request.POST or None, instance=HardwareProfile.objects.get(pk=profile.pk)))
    if form.is_valid():
        hardware.edit_facts(profile, facts=changed(form), by=request.user)
        return redirect("hardware-detail", slug=profile.slug)
    return form_page(request, "hardware/form.html", form, title=f"Edit {profile}", profile=profile)


@contributor_required
@require_http_methods(["GET", "HEAD", "POST"])
def device(request: PersonRequest, slug: str, device: str = "") -> HttpResponse:
    """A new disk, or another description of one."""
    profile = _editable(request, slug)
    chosen = get_object_or_404(profile.storage, slug=device) if device else None
    form = remembering(DeviceForm(request.POST or None, instance=chosen and StorageDevice.objects.get(pk=chosen.pk)))
    if form.is_valid():
        try:
            if chosen:
                hardware.edit_device(chosen, facts=changed(form), by=request.user)
            else:
                hardware.add_device(profile, facts=form.cleaned_data, by=request.user)
            return redirect("hardware-detail", slug=profile.slug)
        except ValidationError as error:
            add_errors(form, error)
    title = f"Edit {chosen} of {profile}" if chosen else f"A disk of {profile}"
    return form_page(request, "hardware/form.html", form, title=title, profile=profile)


@contributor_required
@require_POST
def hardware_merge(request: PersonRequest, slug: str) -> HttpResponse:
    """Make this machine and the one named `into` one."""
    source = _editable(request, slug)
    into = describable(request.user, hardware.listed_profiles(request.user), request.POST.get("into", ""))
    try:
        moved = hardware.merge(source, into=into, by=request.user)
        (_, old), (_, new) = _called_apart([source, into])
        messages.success(request, f"{old} is now {new}; runs moved: {moved}. It can be undone on this page.")
    except hardware.CannotMerge as error:
        messages.error(request, str(error))
    return redirect("hardware-detail", slug=into.slug)


@contributor_required
@require_POST
def hardware_unmerge(request: PersonRequest, slug: str) -> HttpResponse:
    source = _editable(request, slug)
    try:
        moved = hardware.unmerge(source, by=request.user)
        messages.success(request, f"{source} is a machine of its own again; runs moved back: {moved}.")
    except hardware.CannotMerge as error:
        messages.error(request, str(error))
    return redirect("hardware-detail", slug=source.slug)


def _called_apart(profiles: Iterable[HardwareProfile]) -> list[tuple[HardwareProfile, str]]:
    """Each with what it is called beside the others: machines of one name by the facts in which they differ."""
    shown = list(profiles)
    names = hardware.names_apart({profile.slug: profile.name for profile in shown})
    return [(profile, names[profile.slug]) for profile in shown]


def _editable(request: HttpRequest, slug: str) -> HardwareProfile:
    return describable(request.user, hardware.readable_profiles(request.user), slug)
