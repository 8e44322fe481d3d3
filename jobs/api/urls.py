"""Every address below /api/."""

from django.urls import include, path, re_path

from jobs.api import (
    configs,
    connections,
    documents,
    drafts,
    examples,
    execution_history,
    executions,
    exports,
    jobs,
    overview,
    pipeline_tests,
    questions,
    samples,
    schedules,
    tokens,
)
from jobs.api.schema_view import SchemaView
from jobs.api.unknown import UnknownView

_job = [
    path("draft", drafts.JobDraftView.as_view()),
    path("draft/samples", samples.JobSamplesView.as_view()),
    path("draft/samples/<str:node_id>", samples.JobSampleView.as_view()),
    path("layout", drafts.JobLayoutView.as_view()),
    path("publish", jobs.JobPublishView.as_view()),
    path("versions", jobs.JobVersionsView.as_view()),
    path("versions/<int:version>", jobs.JobVersionView.as_view()),
    path("start", jobs.JobStartView.as_view()),
    path("enable", jobs.JobEnableView.as_view()),
    path("disable", jobs.JobEnableView.as_view(enabled=False)),
    path("tests", pipeline_tests.JobTestsView.as_view()),
    path("schedule", schedules.JobScheduleView.as_view()),
    path("config", configs.JobConfigView.as_view()),
    path("export", exports.JobExportView.as_view()),
]

_execution = [
    path("stop", executions.ExecutionStopView.as_view()),
    path("pause", executions.ExecutionStopView.as_view()),
    path("resume", executions.ExecutionResumeView.as_view()),
    path("cancel", executions.ExecutionCancelView.as_view()),
    path("checkpoint", executions.ExecutionCheckpointView.as_view()),
    path("savepoint", executions.ExecutionSavepointView.as_view()),
    path("events", execution_history.ExecutionEventsView.as_view()),
    path("metrics", execution_history.ExecutionMetricsView.as_view()),
    path("logs", execution_history.ExecutionLogsView.as_view()),
    path("expectations", execution_history.ExecutionExpectationsView.as_view()),
    path("rejected-rows", execution_history.ExecutionRejectedRowsView.as_view()),
]

urlpatterns = [
    path("schema", SchemaView.as_view()),
    path("me", overview.MeView.as_view()),
    path("overview", overview.OverviewView.as_view()),
    path("search", overview.SearchView.as_view()),
    path("node-types", connections.NodeTypesView.as_view()),
    path("connection-kinds", connections.ConnectionKindsView.as_view()),
    path("connections", connections.ConnectionsView.as_view()),
    path("connections/test", connections.NewConnectionTestView.as_view()),
    path("connections/<int:connection_id>", connections.ConnectionView.as_view()),
    path("connections/<int:connection_id>/test", connections.ConnectionTestView.as_view()),
    path("jobs", jobs.JobsView.as_view()),
    path("jobs/validate", documents.ValidateView.as_view()),
    path("questions/<uuid:question>", questions.QuestionView.as_view()),
    path("jobs/preview", documents.PreviewView.as_view()),
    path("jobs/defaults", exports.DefaultsView.as_view()),
    path("jobs/script", exports.ScriptView.as_view()),
    path("jobs/import", documents.ImportView.as_view()),
    path("job-exports", exports.JobExportsView.as_view()),
    path("jobs/<str:job_name>", jobs.JobView.as_view()),
    path("jobs/<str:job_name>/", include(_job)),
    path("examples", examples.ExamplesView.as_view()),
    path("examples/<str:job_name>/reset", examples.ExampleResetView.as_view()),
    path("schedule-times", schedules.ScheduleTimesView.as_view()),
    path("tokens", tokens.TokensView.as_view()),
    path("tokens/<int:token_id>", tokens.TokenView.as_view()),
    path("executions", executions.ExecutionsView.as_view()),
    path("executions/<str:execution_id>", executions.ExecutionView.as_view()),
    path("executions/<str:execution_id>/", include(_execution)),
    path("", include("checkpoints.urls")),
    re_path(r"^.*$", UnknownView.as_view()),
]
