"""The installation's figures for Prometheus: counted per job in the database, read anew for each scrape."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import timedelta
from typing import Any

from django.db.models import Count, Max, Q, QuerySet, Sum
from django.utils import timezone
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric, UnknownMetricFamily
from prometheus_client.registry import Collector

from jobs.models import UNFINISHED, Driver, DriverStatus, Execution, ExecutionStatus, ForgottenExecutions, MetricSample, Project

#: What the share of successes looks back on.
RECENT = timedelta(hours=24)
#: A rate older than this says nothing about now: the driver that measured it is silent.
_FRESH = timedelta(seconds=15)

_JOB = ("project", "job")
_DRIVER = ("worker", "kind", "pid")
#: In the order of their gravity, as `pipeline_backpressure_status` counts them.
_PRESSURES = ("OK", "HOLDING", "DROPPING", "FAILED")
_SUCCESS = Q(status=ExecutionStatus.COMPLETED)


def prometheus_text(*, projects: QuerySet[Project], drivers: bool) -> bytes:
    """The twelve figures in Prometheus' text format, of the living jobs of `projects`; those of the drivers only with `drivers`.

    Seven queries, whatever the number of jobs.
    """
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Figures(projects, drivers=drivers))
    return generate_latest(registry)


class _Figures(Collector):
    def __init__(self, projects: QuerySet[Project], *, drivers: bool) -> None:
        self._slugs = dict(projects.values_list("id", "slug"))
        self._drivers = drivers

    def collect(self) -> Iterator[Metric]:
        executions = Execution.objects.filter(job__deleted_at=None, job__project__in=list(self._slugs))
        yield from self._totals(executions)
        yield self._success_rates(executions)
        yield self._durations(executions)
        yield from self._rates(executions.filter(status__in=UNFINISHED))
        if self._drivers:
            yield from _driver_figures()

    def _totals(self, executions: QuerySet[Execution]) -> Iterator[Metric]:
        """Promised by these names, without the ending that a counter would get; they grow all the same."""
        count = UnknownMetricFamily("pipeline_job_execution_count", "Executions by status", labels=[*_JOB, "status"])
        sums = {
            "processed_records": UnknownMetricFamily("pipeline_records_processed", "Rows that sources gave", labels=_JOB),
            "failed_records": UnknownMetricFamily("pipeline_records_failed", "Rows that were rejected", labels=_JOB),
            "dropped_records": UnknownMetricFamily("pipeline_dropped_records", "Messages that a full buffer discarded", labels=_JOB),
        }
        totals: dict[tuple[str, str], dict[str, int]] = defaultdict(lambda: dict.fromkeys(sums, 0))
        counts: Counter[tuple[str, str, str]] = Counter()
        for project, name, status, number, *summed in self._groups(executions, tuple(sums)):
            job = (self._slugs[project], name)
            counts[*job, status] += number
            for column, value in zip(sums, summed, strict=True):
                totals[job][column] += value
        for labels, number in counts.items():
            count.add_metric(labels, number)
        for job, values in totals.items():
            for name, family in sums.items():
                family.add_metric(job, values[name])
        yield count
        yield from sums.values()

    def _groups(self, executions: QuerySet[Execution], sums: Collection[str]) -> Iterable[tuple[Any, ...]]:
        """Project, job, status, number and sums, also of what was forgotten: in one query, or what goes meanwhile would be in neither."""
        there = executions.order_by().values_list("job__project", "job_name", "status").annotate(Count("id"), *map(Sum, sums))
        forgotten = ForgottenExecutions.objects.filter(job__deleted_at=None, job__project__in=list(self._slugs))
        return there.union(forgotten.values_list("job__project", "job__job_name", "status", "executions", *sums), all=True)

    def _success_rates(self, executions: QuerySet[Execution]) -> Metric:
        words = "Share of the executions that completed, of those that completed or failed in the last 24 hours"
        family = GaugeMetricFamily("pipeline_job_success_rate", words, labels=_JOB)
        ended = executions.filter(_SUCCESS | Q(status=ExecutionStatus.FAILED), end_time__gte=timezone.now() - RECENT)
        for row in ended.values("job__project", "job_name").order_by().annotate(all=Count("id"), good=Count("id", filter=_SUCCESS)):
            family.add_metric([self._slugs[row["job__project"]], row["job_name"]], row["good"] / row["all"])
        return family

    def _durations(self, executions: QuerySet[Execution]) -> Metric:
        """Of the job's newest execution."""
        family = GaugeMetricFamily("pipeline_job_duration", "Seconds that the newest execution ran, without its pauses", labels=_JOB)
        newest = executions.order_by().values("job").annotate(newest=Max("id")).values("newest")
        now = timezone.now()
        columns = ("job__project_id", "job_name", "status", "start_time", "resume_time", "duration_ms")
        for row in Execution.objects.filter(pk__in=newest).select_related("job").only(*columns):
            if (ran := row.ran_ms(now)) is not None:
                family.add_metric([self._slugs[row.job.project_id], row.job_name], ran / 1000)
        return family

    def _rates(self, unfinished: QuerySet[Execution]) -> Iterator[Metric]:
        throughput = GaugeMetricFamily("pipeline_throughput", "Rows in a second, now", labels=[*_JOB, "direction"])
        size = GaugeMetricFamily("pipeline_buffer_size", "Messages that wait in the sources' own buffers", labels=_JOB)
        words = "Backpressure at the sources: 0 none, 1 nothing more is taken, 2 messages are discarded, 3 the job failed of it"
        pressure = GaugeMetricFamily("pipeline_backpressure_status", words, labels=_JOB)
        now = _newest_samples(unfinished)
        columns = ("job__project", "job_name", "execution_id", "buffer_size", "backpressure_status")
        for project, name, execution_id, waiting, status in unfinished.values_list(*columns):
            job = (self._slugs[project], name)
            if sample := now.get(execution_id):
                throughput.add_metric([*job, "in"], sample.in_per_second)
                throughput.add_metric([*job, "out"], sample.out_per_second)
            if waiting is not None:
                size.add_metric(job, waiting)
            if status in _PRESSURES:
                pressure.add_metric(job, _PRESSURES.index(status))
        yield from (throughput, size, pressure)


def _newest_samples(executions: QuerySet[Execution]) -> Mapping[str, MetricSample]:
    rows = MetricSample.objects.filter(execution__in=executions, resolution=1, time__gte=timezone.now() - _FRESH)
    return {row.execution_id: row for row in rows.order_by("time")}


def _driver_figures() -> Iterator[Metric]:
    figures = {
        "cpu_usage": GaugeMetricFamily("pipeline_cpu_usage", "Processors that a driver and its processes take", labels=_DRIVER),
        "memory_usage": GaugeMetricFamily("pipeline_memory_usage", "Share of its machine's memory that a driver takes", labels=_DRIVER),
        "thread_count": GaugeMetricFamily("pipeline_thread_count", "Threads of a driver and its processes", labels=_DRIVER),
    }
    for driver in Driver.objects.exclude(status=DriverStatus.GONE).exclude(thread_count=None):
        for name, family in figures.items():
            family.add_metric([driver.worker, driver.kind, str(driver.pid)], getattr(driver, name))
    yield from figures.values()
