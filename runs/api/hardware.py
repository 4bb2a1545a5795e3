"""Machines and disks over REST."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, cast

from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from runs import machines
from runs.access.rules import describable
from runs.api.outgoing import ALL, Error, Outgoing, Rows, SlugOf, answered
from runs.incoming.reading import read
from runs.incoming.values import Slug, Strict
from runs.machines.facts import DeviceFacts, MachineFacts, NewDevice, NewMachine
from runs.models import HardwareProfile, User
from runs.models.choices import Provenance


class Device(Outgoing):
    slug: str
    provenance: Provenance
    name: str
    medium: str
    model: str
    bus: str
    capacity_bytes: int | None
    raid: str
    controller_cache: str
    write_cache: str
    file_system: str
    mount_point: str
    mount_options: str
    scheduler: str
    emulated: bool
    note: str


class Profile(Outgoing):
    """`merged_into`: slug of the machine that this one turned out to be."""

    slug: str
    provenance: Provenance
    name: str
    cpu_model: str
    cpu_cores: int | None
    cpu_threads: int | None
    ram_bytes: int | None
    os: str
    kernel: str
    motherboard: str
    virtualisation: str
    note: str
    storage: Annotated[list[Device], ALL]
    merged_into: SlugOf
    created_at: datetime


class Profiles(Rows[Profile]):
    """By name."""


class MergeRequest(Strict):
    into: Annotated[Slug, Field(description="slug of the machine that stays")]


class Merged(Outgoing):
    machine: Profile
    runs_moved: int


def _editable(request: Request, slug: str) -> tuple[HardwareProfile, User]:
    user = cast(User, request.user)
    return describable(user, machines.readable_profiles(user), slug), user


def _facts(kind: type[Strict], request: Request) -> dict[str, Any]:
    """What is stated; nothing that is left out."""
    facts: dict[str, Any] = read(kind, request.data).model_dump(exclude_unset=True)
    return facts


class HardwareList(APIView):
    required_scope = "upload"

    @extend_schema(operation_id="v1_hardware_list", responses={200: Profiles})
    def get(self, request: Request) -> Response:
        """All machines, with their disks."""
        rows = machines.listed_profiles(request.user).select_related("merged_into").prefetch_related("storage")
        return answered(Profiles.of(rows.order_by("name", "slug")))

    @extend_schema(request=NewMachine, responses={201: Profile})
    def post(self, request: Request) -> Response:
        """Describe a machine. Its disks follow with /storage/."""
        profile = machines.create_profile(facts=_facts(NewMachine, request), by=cast(User, request.user))
        return answered(Profile.of(profile), 201)


class HardwareDetail(APIView):
    required_scope = "upload"

    @extend_schema(responses={200: Profile})
    def get(self, request: Request, slug: str) -> Response:
        profile = get_object_or_404(machines.readable_profiles(request.user), slug=slug)
        return answered(Profile.of(profile))

    @extend_schema(request=MachineFacts, responses={200: Profile})
    def patch(self, request: Request, slug: str) -> Response:
        """Correct facts; the slug stays, who changed what is kept."""
        profile, user = _editable(request, slug)
        machines.edit_facts(profile, facts=_facts(MachineFacts, request), by=user)
        return answered(Profile.of(profile))


class HardwareStorage(APIView):
    required_scope = "upload"

    @extend_schema(request=NewDevice, responses={201: Device})
    def post(self, request: Request, slug: str) -> Response:
        """Add a disk."""
        profile, user = _editable(request, slug)
        device = machines.add_device(profile, facts=_facts(NewDevice, request), by=user)
        return answered(Device.of(device), 201)


class HardwareDevice(APIView):
    required_scope = "upload"

    @extend_schema(request=DeviceFacts, responses={200: Device})
    def patch(self, request: Request, slug: str, device: str) -> Response:
        """Correct facts of a disk."""
        profile, user = _editable(request, slug)
        chosen = get_object_or_404(profile.storage, slug=device)
        machines.edit_device(chosen, facts=_facts(DeviceFacts, request), by=user)
        return answered(Device.of(chosen))


class HardwareMerge(APIView):
    required_scope = "upload"

    @extend_schema(request=MergeRequest, responses={200: Merged, 409: Error})
    def post(self, request: Request, slug: str) -> Response:
        """Make this machine and `into` one: runs move, the old address leads to the new one."""
        source, user = _editable(request, slug)
        wanted = read(MergeRequest, request.data).into
        try:
            into = describable(user, machines.listed_profiles(user), wanted)
        except Http404:
            raise ValidationError({"into": [f"No machine {wanted}."]}) from None
        moved = machines.merge(source, into=into, by=user)
        return answered(Merged(machine=Profile.of(into), runs_moved=moved))

    @extend_schema(request=None, responses={200: Merged, 409: Error})
    def delete(self, request: Request, slug: str) -> Response:
        """Undo a merge."""
        source, user = _editable(request, slug)
        moved = machines.unmerge(source, by=user)
        return answered(Merged(machine=Profile.of(source), runs_moved=moved))
