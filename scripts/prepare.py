"""Makes the data folder ready for a start: tables, the user `admin`, the example jobs. Safe to run again."""

import os

import django
from django.core.management import call_command

ADMIN = "admin"


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "pipeline_web.settings")
    django.setup()
    call_command("migrate", interactive=False, verbosity=0)
    admin_create()
    call_command("load_examples")


def admin_create() -> None:
    """The first user signs in by link and has no password until one is set."""
    from django.contrib.auth import get_user_model

    users = get_user_model().objects
    if not users.filter(username=ADMIN).exists():
        users.create_superuser(username=ADMIN, password=None)


if __name__ == "__main__":
    main()
