"""Every address of checkpoints below /api/; included before the rest of the API, which answers for what is unknown."""

from django.urls import path

from checkpoints import administration_api, api, travel_api
from jobs.api import checkpoint_state

urlpatterns = [
    path("checkpoints", api.CheckpointsView.as_view()),
    path("checkpoints/usage", api.CheckpointUsageView.as_view()),
    path("checkpoints/cleanup", api.CheckpointCleanupView.as_view()),
    path("checkpoints/retention", administration_api.CheckpointRetentionView.as_view()),
    path("checkpoints/orphans", administration_api.CheckpointOrphansView.as_view()),
    path("checkpoints/delete", administration_api.CheckpointDeletionView.as_view()),
    path("checkpoints/<int:checkpoint_id>", api.CheckpointView.as_view()),
    path("checkpoints/<int:checkpoint_id>/files", api.CheckpointFilesView.as_view()),
    path("checkpoints/<int:checkpoint_id>/precheck", api.CheckpointPrecheckView.as_view()),
    path("checkpoints/<int:checkpoint_id>/restore", api.CheckpointRestoreView.as_view()),
    path("checkpoints/<int:checkpoint_id>/archive", travel_api.CheckpointArchiveView.as_view()),
    path("checkpoints/<int:checkpoint_id>/positions", travel_api.CheckpointPositionsView.as_view()),
    path("jobs/<str:job_name>/checkpoints/import", travel_api.CheckpointImportView.as_view()),
    path("checkpoints/<int:checkpoint_id>/state", checkpoint_state.CheckpointStateView.as_view()),
    path("checkpoints/<int:checkpoint_id>/state/rows", checkpoint_state.CheckpointStateRowsView.as_view()),
    path("checkpoints/<int:checkpoint_id>/state/file", checkpoint_state.CheckpointStateFileView.as_view()),
    path("checkpoints/<int:checkpoint_id>/compare/<int:other_id>", api.CheckpointComparisonView.as_view()),
    path("executions/<str:execution_id>/checkpoint-history", api.ExecutionCheckpointHistoryView.as_view()),
    path("executions/<str:execution_id>/checkpoints", api.ExecutionCheckpointsView.as_view()),
]
