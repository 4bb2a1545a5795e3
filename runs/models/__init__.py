"""The data model; one module per subject. Import models from here."""

from __future__ import annotations

from runs.models.accounts import SCOPES, ApiToken, User, digest_secret
from runs.models.artefacts import Artefact
from runs.models.base import UnknownName
from runs.models.changes import Change
from runs.models.configs import Config, ConfigFile, ConfigParameter
from runs.models.dbms import Dbms, DbmsVersion
from runs.models.experiments import Experiment
from runs.models.hardware import HardwareProfile, StorageDevice
from runs.models.literature import (
    Claim,
    Fact,
    IndexStat,
    MissingItem,
    Observation,
    Publication,
    QueryStat,
    TableStat,
)
from runs.models.measurements import Aggregate, Measurement, Metric
from runs.models.reports import Report
from runs.models.runs import Run, RunFactor, RunStorage, StateChange, cell_key, delete_softly, restore
from runs.models.series import SeriesChunk
from runs.models.uploads import FileImport, Upload
from runs.models.workloads import DataSchema, Workload
