"""The data model; one module per subject. Import models from here."""

from __future__ import annotations

from runs.models.accounts import SCOPES, AnsweredRequest, ApiToken, Change, LoginTries, User, digest_secret
from runs.models.base import UnknownName
from runs.models.batches import Batch
from runs.models.experiments import Experiment, Report, StoredSelection
from runs.models.history import Alert, Benchmark, ChangePoint, Conditions, SeriesBatch, take_out
from runs.models.literature import Publication, PublicationFiles
from runs.models.measurements import Aggregate, Measurement, Metric, SeriesChunk
from runs.models.runs import Annotation, Run, RunFactor, RunStorage, StateChange, cell_key, delete_softly, restore
from runs.models.subjects import (
    Config,
    ConfigFile,
    ConfigParameter,
    Dbms,
    DbmsVersion,
    HardwareProfile,
    Machine,
    StorageDevice,
    Workload,
)
from runs.models.telling import Notice, Telling, TellingRule
from runs.models.uploads import Artefact, FileImport, FileInParts, ToolDescription, Upload
