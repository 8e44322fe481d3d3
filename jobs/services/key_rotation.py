"""The secrets of all connections under the installation's first key."""

from django.db import transaction

from jobs.models import Connection
from jobs.services.audit import audit_record
from jobs.services.secrets import SecretsUnreadable, secret_rotate


def secrets_rotate() -> tuple[int, list[str]]:
    """How many connections were encrypted anew, and those whose secrets no key opens, as `project/name`.

    Nothing else of them changes, so whoever is at a connection's form may save it, and what its last test found stays.
    """
    done, unreadable = 0, []
    for pk in list(Connection.objects.exclude(secrets="").order_by("project__slug", "name").values_list("pk", flat=True)):
        with transaction.atomic():
            row = Connection.objects.select_for_update(of=("self",)).select_related("project").filter(pk=pk).first()
            if row is None:  # deleted meanwhile
                continue
            try:
                Connection.objects.filter(pk=pk).update(secrets=secret_rotate(row.secrets))
            except SecretsUnreadable:
                unreadable.append(f"{row.project.slug}/{row.name}")
                continue
            done += 1
    if done:
        detail = {"connections": done, "unreadable": unreadable}
        audit_record(user=None, action="secrets encrypted anew", object_type="connection", object_id="", detail=detail)
    return done, unreadable
