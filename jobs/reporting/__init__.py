"""Hears the engine: counts, keeps, and tells those who watch."""

from jobs.reporting.ledger import RowLedger
from jobs.reporting.reporter import Reporter
from jobs.reporting.writer import Writer

__all__ = ["Reporter", "RowLedger", "Writer"]
