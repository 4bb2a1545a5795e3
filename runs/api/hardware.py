"""Machines and disks over REST."""

from __future__ import annotations

from typing import Annotated, Any, cast

from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from runs import machines
from runs.access.rules import describable
from runs.api.outgoing import Error
from runs.incoming.reading import read
from runs.incoming.values import Slug, Strict
from runs.machines.facts import DeviceFacts, MachineFacts, NewDevice, NewMachine
from runs.models import HardwareProfile, StorageDevice, User


class DeviceSerializer(serializers.ModelSerializer[StorageDevice]):
    class Meta:
        model = StorageDevice
        fields = ["slug", "provenance", *machines.DEVICE_FIELDS]


class ProfileSerializer(serializers.ModelSerializer[HardwareProfile]):
    """`merged_into`: slug of the machine that this one turned out to be."""

    storage = DeviceSerializer(many=True)
    merged_into = serializers.SlugRelatedField[HardwareProfile](slug_field="slug", read_only=True, allow_null=True)

    class Meta:
        model = HardwareProfile
        fields = ["slug", "provenance", *machines.MACHINE_FIELDS, "storage", "merged_into", "created_at"]


class MergeRequest(Strict):
    into: Annotated[Slug, Field(description="slug of the machine that stays")]


class MergedSerializer(serializers.Serializer[Any]):
    machine = ProfileSerializer()
    runs_moved = serializers.IntegerField()


def _editable(request: Request, slug: str) -> tuple[HardwareProfile, User]:
    user = cast(User, request.user)
    return describable(user, machines.readable_profiles(user), slug), user


def _facts(kind: type[Strict], request: Request) -> dict[str, Any]:
    """What is stated; nothing that is left out."""
    facts: dict[str, Any] = read(kind, request.data).model_dump(exclude_unset=True)
    return facts


class HardwareList(APIView):
    required_scope = "upload"

    @extend_schema(responses=ProfileSerializer(many=True))
    def get(self, request: Request) -> Response:
        """All machines, with their disks."""
        rows = machines.listed_profiles(request.user).select_related("merged_into").prefetch_related("storage")
        return Response(ProfileSerializer(rows.order_by("name", "slug"), many=True).data)

    @extend_schema(request=NewMachine, responses={201: ProfileSerializer})
    def post(self, request: Request) -> Response:
        """Describe a machine. Its disks follow with /storage/."""
        profile = machines.create_profile(facts=_facts(NewMachine, request), by=cast(User, request.user))
        return Response(ProfileSerializer(profile).data, status=201)


class HardwareDetail(APIView):
    required_scope = "upload"

    @extend_schema(responses={200: ProfileSerializer})
    def get(self, request: Request, slug: str) -> Response:
        profile = get_object_or_404(machines.readable_profiles(request.user), slug=slug)
        return Response(ProfileSerializer(profile).data)

    @extend_schema(request=MachineFacts, responses={200: ProfileSerializer})
    def patch(self, request: Request, slug: str) -> Response:
        """Correct facts; the slug stays, who changed what is kept."""
        profile, user = _editable(request, slug)
        machines.edit_facts(profile, facts=_facts(MachineFacts, request), by=user)
        return Response(ProfileSerializer(profile).data)


class HardwareStorage(APIView):
    required_scope = "upload"

    @extend_schema(request=NewDevice, responses={201: DeviceSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Add a disk."""
        profile, user = _editable(request, slug)
        try:
            device = machines.add_device(profile, facts=_facts(NewDevice, request), by=user)
        except ValueError as error:
            raise ValidationError({"name": [str(error)]}) from error
        return Response(DeviceSerializer(device).data, status=201)


class HardwareDevice(APIView):
    required_scope = "upload"

    @extend_schema(request=DeviceFacts, responses={200: DeviceSerializer})
    def patch(self, request: Request, slug: str, device: str) -> Response:
        """Correct facts of a disk."""
        profile, user = _editable(request, slug)
        chosen = get_object_or_404(profile.storage, slug=device)
        try:
            machines.edit_device(chosen, facts=_facts(DeviceFacts, request), by=user)
        except ValueError as error:
            raise ValidationError({"name": [str(error)]}) from error
        return Response(DeviceSerializer(chosen).data)


class HardwareMerge(APIView):
    required_scope = "upload"

    @extend_schema(request=MergeRequest, responses={200: MergedSerializer, 409: Error})
    def post(self, request: Request, slug: str) -> Response:
        """Make this machine and `into` one: runs move, the old address leads to the new one."""
        source, user = _editable(request, slug)
        wanted = read(MergeRequest, request.data).into
        try:
            into = describable(user, machines.listed_profiles(user), wanted)
        except Http404:
            raise ValidationError({"into": [f"No machine {wanted}."]}) from None
        moved = machines.merge(source, into=into, by=user)
        return Response(MergedSerializer({"machine": into, "runs_moved": moved}).data)

    @extend_schema(request=None, responses={200: MergedSerializer, 409: Error})
    def delete(self, request: Request, slug: str) -> Response:
        """Undo a merge."""
        source, user = _editable(request, slug)
        moved = machines.unmerge(source, by=user)
        return Response(MergedSerializer({"machine": source, "runs_moved": moved}).data)
