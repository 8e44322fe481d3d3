"""/api/jobs/{name}/config: what an operator lays over a job."""

from datetime import datetime
from typing import Annotated, Any, Literal

from django.http import QueryDict
from pydantic import Field, StringConstraints, TypeAdapter, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from jobs.api.base import ApiView, answer, asked, body_read, described, json_object
from jobs.dag.problems import Problem
from jobs.models import Job
from jobs.selectors.job_details import configs_out
from jobs.selectors.jobs import job_get
from jobs.selectors.refusals import Invalid
from jobs.selectors.shapes.base import Body
from jobs.selectors.shapes.job import ConfigKeyOut, ConfigsOut
from jobs.services.configs import KNOWN_KEYS, config_set, configs_change, configs_delete, configs_replace

ConfigValue = str | int | float | bool | dict[str, Any] | list[Any]


class ConfigEntry(Body):
    """`config_type` may be left out: a known key has its own, another one that of the value."""

    config_key: Annotated[str, StringConstraints(min_length=1, max_length=100)]
    config_value: ConfigValue
    config_type: Literal["STRING", "INT", "BOOLEAN", "JSON"] | None = None
    description: Annotated[str, StringConstraints(max_length=500)] = ""


class ConfigsBody(Body):
    """All settings of the job: what is not named is taken off."""

    results: list[ConfigEntry] = Field(max_length=200)


class ConfigChange(Body):
    """`config_value` null takes it off. `seen`: its `update_time` as it was read, null where there was none."""

    config_key: Annotated[str, StringConstraints(min_length=1, max_length=100)]
    config_value: ConfigValue | None
    config_type: Literal["STRING", "INT", "BOOLEAN", "JSON"] | None = None
    description: Annotated[str, StringConstraints(max_length=500)] = ""
    seen: datetime | None


class ConfigsChange(Body):
    """What is not named stays."""

    results: list[ConfigChange] = Field(max_length=200)


class JobConfigView(ApiView):
    @described("Settings laid over the document, and the keys that have a meaning", responds=ConfigsOut, tag="jobs")
    def get(self, request: Request, job_name: str) -> Response:
        return answer(_configs(job_get(user=self.user(), job_name=job_name)))

    @described(
        "Replace the settings: {results: [...]} or {key: value}; one entry alone sets just that key",
        takes=ConfigsBody,
        responds=ConfigsOut,
        tag="jobs",
    )
    def put(self, request: Request, job_name: str) -> Response:
        job = job_get(user=self.user(), job_name=job_name)
        data = json_object(request)
        if "config_key" in data:
            config_set(job=job, user=self.user(), entry=body_read(request, ConfigEntry).model_dump())
        elif "results" in data:
            entries = [entry.model_dump() for entry in body_read(request, ConfigsBody).results]
            configs_replace(job=job, user=self.user(), entries=entries)
        else:
            configs_replace(job=job, user=self.user(), entries=_entries(data))
        return answer(_configs(job))

    @described(
        "Change some settings and leave the others; refused where somebody changed one of them since it was read",
        takes=ConfigsChange,
        responds=ConfigsOut,
        tag="jobs",
    )
    def patch(self, request: Request, job_name: str) -> Response:
        job = job_get(user=self.user(), job_name=job_name)
        changes = [change.model_dump() for change in body_read(request, ConfigsChange).results]
        configs_change(job=job, user=self.user(), changes=changes)
        return answer(_configs(job))

    @described("Take one setting off, or all", responds=ConfigsOut, tag="jobs", query=[asked("key", "Only this one.")])
    def delete(self, request: Request, job_name: str) -> Response:
        job = job_get(user=self.user(), job_name=job_name)
        configs_delete(job=job, user=self.user(), key=_key_asked(request.query_params))
        return answer(_configs(job))


def _key_asked(query: QueryDict) -> str | None:
    """None: all of them, where nothing at all is asked for. An empty question must not take everything off."""
    if not query:
        return None
    key = query.get("key", "")
    if not key:
        problem = Problem(code="config.invalid", pointer="/key", message='name one setting, as in "?key=parallelism", or nothing for all')
        raise Invalid("it is not clear which settings are to go", problems=[problem])
    return key


def _configs(job: Job) -> ConfigsOut:
    known = [
        ConfigKeyOut(config_key=key.key, config_type=key.type.value, help=key.help, choices=list(key.choices))
        for key in KNOWN_KEYS.values()
    ]
    return ConfigsOut(results=configs_out(job), known=known)


def _entries(data: dict[str, Any]) -> list[dict[str, Any]]:
    try:
        values = TypeAdapter(dict[str, ConfigValue]).validate_python(data, strict=True)
    except ValidationError:
        problem = Problem(code="config.invalid", message="send {key: value}, where no value is null")
        raise Invalid("the settings have problems", problems=[problem]) from None
    return [{"config_key": key, "config_value": value} for key, value in values.items()]
