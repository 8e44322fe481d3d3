"""A CRON expression in Chinese words; `cronsim` itself explains it in English only."""

from collections.abc import Callable

from cronsim.explain import Expression, Field, Sequence

#: Up to so many times of day are named one by one, as in the English words.
_MOST_TIMES = 4
_WEEKDAYS = "日一二三四五六日"


def cron_words_zh(expression: str) -> str:
    """Words for an expression of five fields that `cronsim` accepts, such as "每周一 06:00"."""
    parsed = Expression(expression.upper().split())
    times = _times_of_day(parsed)
    date = _date(parsed)
    if times:
        return f"{date if date else '每天'} {times}"
    rhythm = _rhythm(parsed.minute, parsed.hour)
    return f"{date}，{rhythm}" if date else rhythm


def _times_of_day(parsed: Expression) -> str:
    """ "06:00、18:00" where hours and minutes are few single values, else ""."""
    hours, minutes = parsed.hour, parsed.minute
    if not (hours.all_singles and minutes.all_singles) or len(hours.singles()) * len(minutes.singles()) > _MOST_TIMES:
        return ""
    return "、".join(f"{hour:02d}:{minute:02d}" for hour in sorted(hours.singles()) for minute in sorted(minutes.singles()))


def _rhythm(minute: Field, hour: Field) -> str:
    """How often within the day."""
    minutes = "整点" if minute.zero else _joined(minute, lambda value: f"第 {value} 分", "分钟")
    if not hour.star:
        return f"{_joined(hour, lambda value: f'{value} 点', '小时')}，{minutes}"
    return minutes if any(part.start is None for part in minute.parsed) else f"每小时{minutes}"


def _date(parsed: Expression) -> str:
    """Which days; "" for every day."""
    months = "" if parsed.month.star else _joined(parsed.month, lambda value: f"{value} 月", "个月")
    days = "" if parsed.day.star else _joined(parsed.day, _day, "天")
    weekdays = "" if parsed.dow.star else _joined(parsed.dow, lambda value: f"周{_WEEKDAYS[value]}", "天")
    if days:
        also = f"{'且为' if parsed.day_and else '或'}{weekdays}" if weekdays else ""
        return f"{months or '每月'}{_spaced(days)}{also}"
    if weekdays:
        every = "每月" if any(part.nth is not None for part in parsed.dow.parsed) else "每" if parsed.dow.all_singles else ""
        return f"{months}的{weekdays}" if months else f"{every}{weekdays}"
    return f"{months}每天" if months else ""


def _spaced(text: str) -> str:
    """A figure stands apart from the characters before it."""
    return f" {text}" if text[:1].isdigit() else text


def _day(value: int) -> str:
    return {-1: "最后一天", -2: "最后一个工作日"}.get(value, f"{value} 日")


def _joined(field: Field, label: Callable[[int], str], unit: str) -> str:
    return "、".join(_part(part, label, unit) for part in field.parsed)


def _part(part: Sequence, label: Callable[[int], str], unit: str) -> str:
    every = f"每{unit.removeprefix('个')}" if part.step == 1 else f"每 {part.step} {unit}"
    if part.start is None or part.stop is None:
        return every
    if part.start != part.stop:
        return f"{label(part.start)}至{_spaced(label(part.stop))}" + (every if part.step > 1 else "")
    if part.nth is None or part.start < 0:
        return label(part.start)
    return f"最后一个{label(part.start)}" if part.nth == -1 else f"第 {part.nth} 个{label(part.start)}"
