"""The rows behind jobs, executions and everything around them."""

from jobs.models.access import ApiToken, AuditEntry, SignInLink, TokenScope
from jobs.models.connection import Connection
from jobs.models.driver import Driver, DriverKind, DriverStatus, Worker
from jobs.models.execution import (
    EVENT_KINDS,
    Command,
    CommandKind,
    CommandStatus,
    Event,
    Execution,
    ForgottenExecutions,
    MetricSample,
    QueryProgress,
    RejectedRow,
)
from jobs.models.job import ConfigType, Job, JobConfig, JobDraft, JobVersion
from jobs.models.lifecycle import (
    FINAL,
    LEASED,
    TRANSITIONS,
    UNFINISHED,
    ExecutionStatus,
    JobType,
    TransitionRefused,
    TriggeredBy,
    transition_check,
)
from jobs.models.project import DEFAULT_PROJECT, Project, ProjectMember, Role
from jobs.models.schedule import FireOutcome, JobSchedule, ScheduleFire, ScheduleType

__all__ = [
    "DEFAULT_PROJECT",
    "EVENT_KINDS",
    "FINAL",
    "LEASED",
    "TRANSITIONS",
    "UNFINISHED",
    "ApiToken",
    "AuditEntry",
    "Command",
    "CommandKind",
    "CommandStatus",
    "ConfigType",
    "Connection",
    "Driver",
    "DriverKind",
    "DriverStatus",
    "Event",
    "Execution",
    "ExecutionStatus",
    "FireOutcome",
    "ForgottenExecutions",
    "Job",
    "JobConfig",
    "JobDraft",
    "JobSchedule",
    "JobType",
    "JobVersion",
    "MetricSample",
    "Project",
    "ProjectMember",
    "QueryProgress",
    "RejectedRow",
    "Role",
    "ScheduleFire",
    "ScheduleType",
    "SignInLink",
    "TokenScope",
    "TransitionRefused",
    "TriggeredBy",
    "Worker",
    "transition_check",
]
