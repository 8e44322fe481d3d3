"""What a CRON expression says to people, in English and in Chinese."""

import pytest
from django.utils import translation

from jobs.selectors.schedules import cron_words

CHINESE = {
    "* * * * *": "每分钟",
    "*/5 * * * *": "每 5 分钟",
    "0 * * * *": "每小时整点",
    "5,35 * * * *": "每小时第 5 分、第 35 分",
    "0 6 * * *": "每天 06:00",
    "0 6,18 * * 1-5": "周一至周五 06:00、18:00",
    "*/5 9-17 * * 1-5": "周一至周五，9 点至 17 点，每 5 分钟",
    "15 */2 * * *": "每 2 小时，第 15 分",
    "0 9-17 * * MON": "每周一，9 点至 17 点，整点",
    "1-30/5 * * * *": "每小时第 1 分至第 30 分每 5 分钟",
    "0 0 1 * *": "每月 1 日 00:00",
    "0 0 1 */3 *": "每 3 个月 1 日 00:00",
    "0 0 L * *": "每月最后一天 00:00",
    "0 0 LW 1,6 *": "1 月、6 月最后一个工作日 00:00",
    "0 0 13 * 5": "每月 13 日或周五 00:00",
    "0 0 * * 5#2": "每月第 2 个周五 00:00",
    "0 0 * * 5L": "每月最后一个周五 00:00",
    "0 12 * 1-3 *": "1 月至 3 月每天 12:00",
    "0 9 * 6 1,3": "6 月的周一、周三 09:00",
}


@pytest.mark.parametrize(("expression", "words"), CHINESE.items())
def test_an_expression_is_told_in_chinese(expression, words):
    with translation.override("zh-hans"):
        assert cron_words(expression) == words


@pytest.mark.parametrize("expression", CHINESE)
def test_in_english_nothing_is_told_in_chinese(expression):
    assert cron_words(expression).isascii()


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_an_expression_that_cannot_be_read_is_told_as_it_is(language):
    with translation.override(language):
        assert cron_words("61 * * * *") == "61 * * * *"
