"""Machines and disks over REST."""

from __future__ import annotations

from typing import Any, cast

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from runs import machines
from runs.access.visibility import nameable
from runs.api.exceptions import Conflict
from runs.api.serializers import FIELD_ERRORS, ErrorSerializer
from runs.models import HardwareProfile, StorageDevice, User
from runs.models.machine_facts import MACHINE_FACTS, STORAGE_FACTS, Kind, MachineFact
from runs.results.fields import StrictSerializer


class _FactsGiven(StrictSerializer):
    """Facts by name; what is left out is not stated."""

    model: type[HardwareProfile | StorageDevice]
    facts: tuple[MachineFact, ...]

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        note = serializers.CharField(max_length=10_000, required=False, allow_blank=True)
        given = {fact.name: self._field(fact) for fact in self.facts}
        return {"name": serializers.CharField(max_length=200), **given, "note": note}

    def _field(self, fact: MachineFact) -> serializers.Field[Any, Any, Any, Any]:
        if fact.kind == Kind.FLAG:
            return serializers.BooleanField(required=False)
        if fact.kind == Kind.TEXT:
            most = fact.most_characters(self.model)
            return serializers.CharField(max_length=most, required=False, allow_blank=True)
        most = 1_000_000 if fact.kind == Kind.COUNT else 2**63 - 1
        return serializers.IntegerField(min_value=1, max_value=most, required=False, allow_null=True)


class DeviceFacts(_FactsGiven):
    """A disk. What is left out is not stated."""

    model, facts = StorageDevice, STORAGE_FACTS


class ProfileFacts(_FactsGiven):
    """A machine. What is left out is not stated."""

    model, facts = HardwareProfile, MACHINE_FACTS


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
        fields = ["slug", "provenance", *machines.PROFILE_FIELDS, "storage", "merged_into", "created_at"]


class MergeSerializer(StrictSerializer):
    into = serializers.SlugField(max_length=120, help_text="slug of the machine that stays")


class MergedSerializer(serializers.Serializer[Any]):
    machine = ProfileSerializer()
    runs_moved = serializers.IntegerField()


def _found(request: Request, slug: str) -> HardwareProfile:
    """Also one that an unlisted run leads to."""
    all_ = HardwareProfile.objects.all()
    rows = machines.listed_profiles(request.user) | nameable(all_, request.user, by_address=True)
    rows |= all_.exclude(merged_into=None)
    return get_object_or_404(rows.select_related("merged_into").prefetch_related("storage").distinct(), slug=slug)


def _editable(request: Request, slug: str) -> tuple[HardwareProfile, User]:
    profile = _found(request, slug)
    if not machines.may_edit(request.user, profile):
        raise PermissionDenied("Only operators may edit a machine that somebody else described.")
    return profile, cast(User, request.user)


def _facts(kind: type[StrictSerializer], request: Request, *, partial: bool = False) -> dict[str, Any]:
    message = kind(data=request.data, partial=partial)
    message.is_valid(raise_exception=True)
    return dict(message.validated_data)


class HardwareList(APIView):
    required_scope = "upload"

    @extend_schema(responses=ProfileSerializer(many=True))
    def get(self, request: Request) -> Response:
        """All machines, with their disks."""
        rows = machines.listed_profiles(request.user).select_related("merged_into").prefetch_related("storage")
        return Response(ProfileSerializer(rows.order_by("name", "slug"), many=True).data)

    @extend_schema(request=ProfileFacts, responses={201: ProfileSerializer, 400: FIELD_ERRORS})
    def post(self, request: Request) -> Response:
        """Describe a machine. Its disks follow with /storage/."""
        profile = machines.create_profile(facts=_facts(ProfileFacts, request), by=cast(User, request.user))
        return Response(ProfileSerializer(profile).data, status=201)


class HardwareDetail(APIView):
    required_scope = "upload"

    @extend_schema(responses={200: ProfileSerializer, 404: ErrorSerializer})
    def get(self, request: Request, slug: str) -> Response:
        return Response(ProfileSerializer(_found(request, slug)).data)

    @extend_schema(request=ProfileFacts(partial=True), responses={200: ProfileSerializer, 400: FIELD_ERRORS})
    def patch(self, request: Request, slug: str) -> Response:
        """Correct facts; the slug stays, who changed what is kept."""
        profile, user = _editable(request, slug)
        machines.edit_profile(profile, facts=_facts(ProfileFacts, request, partial=True), by=user)
        return Response(ProfileSerializer(profile).data)


class HardwareStorage(APIView):
    required_scope = "upload"

    @extend_schema(request=DeviceFacts, responses={201: DeviceSerializer, 400: FIELD_ERRORS})
    def post(self, request: Request, slug: str) -> Response:
        """Add a disk."""
        profile, user = _editable(request, slug)
        try:
            device = machines.add_device(profile, facts=_facts(DeviceFacts, request), by=user)
        except ValueError as error:
            raise ValidationError({"name": [str(error)]}) from error
        return Response(DeviceSerializer(device).data, status=201)


class HardwareDevice(APIView):
    required_scope = "upload"

    @extend_schema(request=DeviceFacts(partial=True), responses={200: DeviceSerializer, 400: FIELD_ERRORS})
    def patch(self, request: Request, slug: str, device: str) -> Response:
        """Correct facts of a disk."""
        profile, user = _editable(request, slug)
        chosen = get_object_or_404(profile.storage, slug=device)
        try:
            machines.edit_device(chosen, facts=_facts(DeviceFacts, request, partial=True), by=user)
        except ValueError as error:
            raise ValidationError({"name": [str(error)]}) from error
        return Response(DeviceSerializer(chosen).data)


class HardwareMerge(APIView):
    required_scope = "upload"

    @extend_schema(request=MergeSerializer, responses={200: MergedSerializer, 400: FIELD_ERRORS, 409: ErrorSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Make this machine and `into` one: runs move, the old address leads to the new one."""
        source, user = _editable(request, slug)
        wanted = _facts(MergeSerializer, request)["into"]
        into = machines.listed_profiles(user).filter(slug=wanted).first()
        if into is None:
            raise ValidationError({"into": [f"No machine {wanted}."]})
        if not machines.may_edit(user, into):
            raise PermissionDenied("Only operators may merge with a machine that somebody else described.")
        try:
            moved = machines.merge(source, into=into, by=user)
        except machines.CannotMerge as error:
            raise Conflict(str(error)) from error
        return Response(MergedSerializer({"machine": into, "runs_moved": moved}).data)

    @extend_schema(request=None, responses={200: MergedSerializer, 409: ErrorSerializer})
    def delete(self, request: Request, slug: str) -> Response:
        """Undo a merge."""
        source, user = _editable(request, slug)
        try:
            moved = machines.unmerge(source, by=user)
        except machines.CannotMerge as error:
            raise Conflict(str(error)) from error
        return Response(MergedSerializer({"machine": source, "runs_moved": moved}).data)
