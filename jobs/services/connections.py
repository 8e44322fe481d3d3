"""Connections: kept with encrypted secrets, opened only for those who run and test."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from django.db import IntegrityError, transaction
from pydantic import ValidationError

from jobs.dag.problems import Problem
from jobs.models import Connection, Role
from jobs.nodes.base import ConnectionSettings
from jobs.nodes.config_problems import config_problems
from jobs.nodes.connection_kind import ConnectionKind
from jobs.nodes.plainly import secret_stand_in
from jobs.nodes.registry import CONNECTION_KINDS, REGISTRY
from jobs.selectors.connection_use import connection_users
from jobs.selectors.refusals import Conflict, Invalid, NotFound
from jobs.services.access import role_check
from jobs.services.audit import audit_record
from jobs.services.jobs import project_for
from jobs.services.secrets import SecretsUnreadable, secret_decrypt, secret_encrypt

if TYPE_CHECKING:
    from django.contrib.auth.models import User

MAX_SECRET = 20_000
#: Fields of our kinds that say where secrets travel, and how well they are hidden on the way.
_PLACE = (
    *("host", "port", "url", "base_url", "token_url", "servers", "brokers", "driver", "store", "options"),
    *("tls", "verify_tls", "certificate_authority", "security", "mechanism", "proof"),
)
#: Columns of a change, and of the test that it makes forget.
_CHANGED = (
    *("name", "description", "config", "secrets", "secret_names", "updated_by", "update_time"),
    *("test_time", "test_ok", "test_step", "test_message", "failing_since", "check_claim_time"),
)


def connection_open(connection: Connection) -> ConnectionSettings:
    """With its secrets open; SecretsUnreadable where the key was lost."""
    return ConnectionSettings(connection.name, connection.kind, connection.config, secret_decrypt(connection.secrets))


def connections_open(project_id: int) -> dict[str, ConnectionSettings]:
    """Every connection of a project by name. One whose secrets cannot be opened says so."""
    found = {}
    for row in Connection.objects.filter(project_id=project_id):
        try:
            found[row.name] = connection_open(row)
        except SecretsUnreadable as error:
            found[row.name] = ConnectionSettings(row.name, row.kind, row.config, problem=str(error))
    return found


def connections_closed(project_id: int) -> dict[str, ConnectionSettings]:
    """Every connection of a project by name, with stand-ins for its secrets, none of which is opened."""
    found: dict[str, ConnectionSettings] = {}
    taken: set[str] = set()
    for row in Connection.objects.filter(project_id=project_id).order_by("name"):
        secrets = {}
        for name in row.secret_names:
            secrets[name] = secret_stand_in(row.name, name, taken)
            taken.add(secrets[name])
        found[row.name] = ConnectionSettings(row.name, row.kind, row.config, secrets)
    return found


@transaction.atomic
def connection_create(*, user: "User", project: str, content: Mapping[str, Any]) -> Connection:
    """A new connection. `content`: name, kind, description, config, secrets {field: text or null}."""
    home = project_for(user=user, slug=project, role=Role.EDITOR)
    kind = connection_kind_get(content["kind"])
    _config_check(kind, content["config"])
    secrets = _secrets_merged(kind, {}, content["secrets"])
    row = Connection(project=home, name=content["name"], kind=content["kind"], description=content["description"], updated_by=user)
    row.config, row.secrets, row.secret_names = dict(content["config"]), secret_encrypt(secrets), sorted(secrets)
    _saved(row)
    audit_record(user=user, action="connection created", object_type="connection", object_id=row.name, project=home)
    return row


@transaction.atomic
def connection_update(*, connection: Connection, user: "User", changes: Mapping[str, Any], seen: str | None = None) -> Connection:
    """Change what is in `changes`. A secret that is not named stays, null removes it, text replaces it; the kind never changes.

    `seen`: what `changed_at` said of it when it was read; Conflict where somebody changed it since.

    Changing where a connection points takes its secrets away unless they are given again: otherwise an editor could
    have a stored password sent to a host of his own. What was found by the last test is forgotten.
    """
    role_check(user=user, project=connection.project_id, role=Role.EDITOR)
    connection = _locked(connection)  # what somebody else saved since it was read stays
    if seen is not None and seen != changed_at(connection):
        raise _changed_meanwhile(connection)
    kind = connection_kind_get(connection.kind)
    given = changes.get("secrets") or {}
    kept = _secrets_or_none(connection)
    if "config" in changes and dict(changes["config"]) != connection.config:
        _config_check(kind, changes["config"])
        _secrets_given_again(kind, connection, changes["config"], kept, given)
        connection.config = dict(changes["config"])
    if "name" in changes and changes["name"] != connection.name:
        _rename_check(connection)
    connection.name = changes.get("name", connection.name)
    connection.description = changes.get("description", connection.description)
    secrets = _secrets_merged(kind, kept, given)
    connection.secrets, connection.secret_names = secret_encrypt(secrets), sorted(secrets)
    connection.updated_by = user
    _test_forget(connection)
    _saved(connection, _CHANGED)
    audit_record(
        user=user,
        action="connection changed",
        object_type="connection",
        object_id=connection.name,
        project=connection.project,
        detail={"fields": sorted(changes), "secrets": sorted(given)},
    )
    return connection


def changed_at(connection: Connection) -> str:
    """When it was changed last, as the API says it."""
    return connection.update_time.isoformat().replace("+00:00", "Z")


def _changed_meanwhile(connection: Connection) -> Conflict:
    who = connection.updated_by.get_username() if connection.updated_by else "somebody"
    return Conflict(
        f"{who} changed this connection at {changed_at(connection)}: close it, open it again, and change it as it is now",
        code="connection.changed",
    )


def _locked(connection: Connection) -> Connection:
    """As it is now, until the transaction ends."""
    row = Connection.objects.select_for_update().filter(pk=connection.pk).first()
    if row is None:
        raise NotFound(f"connection {connection.pk} does not exist, or not for you")
    return row


def connection_given(*, name: str | None, kind: str, config: Mapping[str, Any], secrets: Mapping[str, str | None]) -> ConnectionSettings:
    """A connection that is not kept yet, as its form has it. Invalid where `connection_create` would refuse it."""
    found = connection_kind_get(kind)
    _config_check(found, config)
    return ConnectionSettings(name or "this connection", kind, dict(config), _secrets_merged(found, {}, secrets))


def connection_changed(*, connection: Connection, config: Mapping[str, Any], secrets: Mapping[str, str | None]) -> ConnectionSettings:
    """`connection` as the change would make it; nothing is kept. Invalid where `connection_update` would refuse it."""
    kind = connection_kind_get(connection.kind)
    kept = _secrets_or_none(connection)
    _config_check(kind, config)
    _secrets_given_again(kind, connection, config, kept, secrets)
    return ConnectionSettings(connection.name, connection.kind, dict(config), _secrets_merged(kind, kept, secrets))


def _test_forget(row: Connection) -> None:
    row.test_time, row.test_ok, row.test_step, row.test_message = None, None, "", ""
    row.failing_since, row.check_claim_time = None, None


def _secrets_given_again(
    kind: ConnectionKind, connection: Connection, config: Mapping[str, Any], kept: Mapping[str, str], given: Mapping[str, Any]
) -> None:
    # What the fields of another package's kind say is not known here: each may name a place.
    places = _PLACE if kind.kind in CONNECTION_KINDS else tuple(kind.Config.model_fields)
    if all(config.get(name) == connection.config.get(name) for name in places):
        return
    missing = [name for name in kept if name not in given]
    if missing:
        problems = [
            Problem(code="secret.again", pointer=f"/secrets/{name}", message=f"enter it again: {kind.secrets.get(name, name)}")
            for name in missing
        ]
        raise Invalid("the address, or what protects the way there, changed: enter the secrets again", problems=problems)


def _rename_check(connection: Connection) -> None:
    users = connection_users([connection]).get(connection.pk, [])
    if users:
        raise Conflict(f'"{connection.name}" is used by {", ".join(users[:5])}: documents refer to it by this name', code="connection.used")


@transaction.atomic
def connection_delete(*, connection: Connection, user: "User") -> None:
    """Gone with its secrets; Conflict while a job's current version, its draft or what is not finished refers to it."""
    role_check(user=user, project=connection.project_id, role=Role.EDITOR)
    users = connection_users([connection]).get(connection.pk, [])
    if users:
        words = (
            f'"{connection.name}" is used by {", ".join(users[:5])}: change these jobs, and end what still runs of older versions, first'
        )
        raise Conflict(words, code="connection.used")
    audit_record(user=user, action="connection deleted", object_type="connection", object_id=connection.name, project=connection.project)
    connection.delete()


def connection_kind_get(name: str) -> ConnectionKind:
    """Invalid where there is no such kind, or it could not be loaded."""
    kind = REGISTRY.connection_kinds().get(name)
    if kind is None and (reason := REGISTRY.missing_kinds().get(name)):
        raise Invalid(
            "the kind of connection is not available", problems=[Problem(code="connection.kind", pointer="/kind", message=reason)]
        )
    if kind is None:
        known = ", ".join(sorted(REGISTRY.connection_kinds()))
        problem = Problem(code="connection.kind", pointer="/kind", message=f'there is no kind "{name[:50]}"; there are: {known}')
        raise Invalid("the kind of connection is unknown", problems=[problem])
    return kind


def _config_check(kind: ConnectionKind, config: Mapping[str, Any]) -> None:
    problems = [problem.model_copy(update={"pointer": f"/config{problem.pointer}"}) for problem in config_problems(kind.Config, config)]
    if problems:
        raise Invalid("the settings of the connection have problems", problems=problems)
    try:
        kind.Config.model_validate(dict(config))
    except ValidationError as error:  # what the problems left unsaid must not pass
        raise Invalid("the settings of the connection have problems", problems=[_config_problem(error)]) from None


def _config_problem(error: ValidationError) -> Problem:
    first = error.errors(include_url=False, include_input=False)[0]
    return Problem(code="config.invalid", pointer="/config/" + "/".join(str(part) for part in first["loc"]), message=first["msg"])


def _secrets_or_none(connection: Connection) -> dict[str, str]:
    """Secrets under a lost key count as not set: they have to be entered again anyway."""
    try:
        return secret_decrypt(connection.secrets)
    except SecretsUnreadable:
        return {}


def _secrets_merged(kind: ConnectionKind, kept: Mapping[str, str], given: Mapping[str, str | None]) -> dict[str, str]:
    problems = [
        Problem(code="secret.unknown", pointer=f"/secrets/{name[:100]}", message="this kind of connection has no such secret")
        for name in given
        if name not in kind.secrets
    ]
    problems += [
        Problem(code="secret.too_long", pointer=f"/secrets/{name}", message=f"at most {MAX_SECRET:,} characters")
        for name, value in given.items()
        if value is not None and len(value) > MAX_SECRET
    ]
    if problems:
        raise Invalid("the secrets have problems", problems=problems)
    merged = {**kept, **given}
    return {name: value for name, value in merged.items() if value}


def _saved(row: Connection, columns: Iterable[str] | None = None) -> None:
    try:
        with transaction.atomic():
            row.save(update_fields=columns)
    except IntegrityError:
        raise Conflict(f'a connection called "{row.name}" exists already in this project', code="connection.name_taken") from None
