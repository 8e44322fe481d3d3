"""The Django project: settings, routes and the Celery application, wired together."""

from pipeline_web.celery import app as celery_app

__all__ = ["celery_app"]
