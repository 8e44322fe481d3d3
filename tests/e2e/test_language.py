"""The page in Chinese: its own words, the node types, the states, and what the server says in words."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.numbers import ask, numbers_document

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(200)]


def test_states_node_types_and_schedules_are_told_in_chinese(page: Page) -> None:
    ask(page, "POST", "/api/jobs", numbers_document("in-chinese"))
    page.goto("/jobs/in-chinese")
    page.get_by_role("button", name=re.compile("Menu of")).click()
    page.get_by_text("中文", exact=True).click()
    palette = page.get_by_role("complementary", name="组件")
    expect(palette.get_by_role("button", name="数据生成器")).to_be_visible()
    palette.get_by_role("textbox").fill("窗口")
    expect(palette.get_by_role("button")).to_have_text(["窗口聚合", "窗口归并"])
    page.goto("/jobs?q=in-chinese")
    page.get_by_role("button", name="in-chinese 的更多操作").click()
    page.get_by_role("menuitem", name="计划…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_text("按 CRON", exact=True).click()
    dialog.get_by_label("CRON 表达式").fill("0 6 * * 1-5")
    expect(dialog.get_by_text("周一至周五 06:00")).to_be_visible()
    dialog.get_by_role("button", name="取消").click()
    page.get_by_role("button", name=re.compile("状态")).first.click()
    expect(page.get_by_role("menuitem", name="已暂停")).to_be_visible()
