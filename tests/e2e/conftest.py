"""One running product and one browser for the run; a signed-in page for each test."""

import re
import signal
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.servers.browser import ARGUMENTS, browser_program
from tests.servers.product import Product

#: Other parts of the suite run beside this one.
PATIENCE = 20_000
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="session")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """Stopped as Ctrl-C does it, whatever still runs in it: it leaves no process behind."""
    product = Product(tmp_path_factory.mktemp("product"))
    product.environment["CONNECTION_CHECK_SECONDS"] = "2"
    with product as running:
        yield running
        running.stop_wholly(signal.SIGINT)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    program = browser_program()
    if program is None:
        pytest.skip("no Chromium on this machine (Debian: apt-get install chromium-headless-shell)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield browser
        browser.close()


def sign_in(page: Page, product: Product, link: str) -> None:
    """Open a one-time link and say yes: only that uses it up, a mail program that looks at links does not."""
    page.goto(link)
    page.get_by_role("button", name="Continue").click()
    page.wait_for_url(re.compile(re.escape(product.url) + r"/(?!sign-in)"))


@pytest.fixture(scope="session")
def signed_in(product: Product, browser: Browser) -> str:
    """The storage state (as a file's path) of a browser that signed in by the printed link."""
    context = browser.new_context()
    page = context.new_page()
    sign_in(page, product, product.sign_in_link())
    path = product.data / "signed-in.json"
    context.storage_state(path=path)
    context.close()
    return str(path)


@pytest.fixture
def page(product: Product, browser: Browser, signed_in: str) -> Iterator[Page]:
    """A signed-in page of 1440×900 that fails the test on an error in the browser's console."""
    context = browser.new_context(
        base_url=product.url, storage_state=signed_in, viewport={"width": 1440, "height": 900}, reduced_motion="reduce"
    )
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    yield page
    context.close()
    assert not errors, errors
