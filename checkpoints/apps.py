"""The checkpoints application: cuts of running executions that people can keep and go back to."""

from django.apps import AppConfig


class CheckpointsConfig(AppConfig):
    name = "checkpoints"
    default_auto_field = "django.db.models.BigAutoField"
