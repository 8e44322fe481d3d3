"""Signing in, the shell page, and the rules the browser is given."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from jobs.api import page_words
from jobs.models import AuditEntry, Driver, DriverStatus, SignInLink
from jobs.services.access import TOKENS_OF_ONE_USER, sign_in_link_create, token_create
from jobs.services.examples import EXAMPLES
from pipeline_web.addresses import origin_of
from tests.api.rows import job
from tests.services.job_rows import driver_row

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"


def test_the_right_password_leads_where_one_wanted_to_go(client: Client, editor: User) -> None:
    answer = client.post("/sign-in", {"username": "erin", "password": PASSWORD, "next": "/jobs?status=FAILED"})
    assert (answer.status_code, answer["Location"]) == (302, "/jobs?status=FAILED")
    assert client.get("/api/me").json()["username"] == "erin"
    entry = AuditEntry.objects.get(action="signed in by password")
    assert (entry.actor, entry.object_id, entry.detail) == ("erin", str(editor.pk), {"address": "127.0.0.1"})


def test_a_failed_sign_in_is_in_the_log_without_what_may_be_a_password(
    client: Client, editor: User, caplog: pytest.LogCaptureFixture
) -> None:
    client.post("/sign-in", {"username": "erin", "password": "wrong"})
    assert 'a sign-in by password as "erin" from 127.0.0.1 failed' in caplog.text
    for name in (PASSWORD, "e\0", "x" * 2000):
        client.post("/sign-in", {"username": name, "password": "wrong"})
    assert caplog.text.count("as nobody known from 127.0.0.1 failed") == 3
    assert PASSWORD not in caplog.text
    assert not AuditEntry.objects.exists()


@pytest.mark.parametrize("wanted", ["https://evil.example.com/", "//evil.example.com", "javascript:alert(1)", "/\\evil.example.com"])
def test_signing_in_never_leads_to_another_site(client: Client, editor: User, wanted: str) -> None:
    answer = client.post("/sign-in", {"username": "erin", "password": PASSWORD, "next": wanted})
    assert answer["Location"] == "/"


@pytest.mark.parametrize(
    ("headers", "cookie", "words"),
    [
        ({}, "", "Password"),
        ({"accept-language": "zh-CN,zh;q=0.9"}, "", "密码"),
        ({"accept-language": "zh-CN,zh;q=0.9"}, "en", "Password"),
        ({"accept-language": "en-GB"}, "zh", "密码"),
    ],
)
def test_the_sign_in_page_speaks_the_chosen_language_else_the_browsers(
    client: Client, headers: dict[str, str], cookie: str, words: str
) -> None:
    if cookie:
        client.cookies["pipeline-web-language"] = cookie
    page = client.get("/sign-in", headers=headers).content.decode()
    assert f">{words}</label>" in page
    assert f'<html lang="{"zh" if words == "密码" else "en"}">' in page


def test_a_refused_sign_in_is_told_in_the_same_language(client: Client, editor: User) -> None:
    answer = client.post("/sign-in", {"username": "erin", "password": "wrong"}, headers={"accept-language": "zh-CN"})
    assert "用户名或密码错误。" in answer.content.decode()


def test_every_word_of_the_pages_is_there_in_both_languages() -> None:
    assert page_words._EN.keys() == page_words._ZH.keys()


def test_the_sign_in_page_has_the_letters_of_the_interface(client: Client, built: Path) -> None:
    assert 'url("/static/assets/inter-3.woff2")' in client.get("/sign-in").content.decode()


def test_the_icon_is_served_where_browsers_look_for_it(client: Client) -> None:
    answer = client.get("/favicon.ico")
    assert (answer.status_code, answer["Content-Type"]) == (200, "image/svg+xml")


@pytest.mark.parametrize("name", ["erin", "nobody"])
def test_a_wrong_name_and_a_wrong_password_look_the_same(client: Client, editor: User, name: str) -> None:
    answer = client.post("/sign-in", {"username": name, "password": "wrong"})
    assert answer.status_code == 400
    assert "The name or the password is wrong." in answer.content.decode()


def test_after_eight_failures_the_right_password_has_to_wait_too(client: Client, editor: User) -> None:
    for _ in range(8):
        assert client.post("/sign-in", {"username": "erin", "password": "wrong"}).status_code == 400
    answer = client.post("/sign-in", {"username": "Erin", "password": PASSWORD})
    assert (answer.status_code, answer["Retry-After"]) == (429, "300")
    elsewhere = client.post("/sign-in", {"username": "erin", "password": PASSWORD}, REMOTE_ADDR="10.0.0.9")
    assert elsewhere.status_code == 302


def test_a_name_that_nobody_can_have_is_a_failed_attempt(client: Client, editor: User) -> None:
    for _ in range(8):
        assert client.post("/sign-in", {"username": "erin\0", "password": PASSWORD}).status_code == 400
    assert client.post("/sign-in", {"username": "erin\0", "password": PASSWORD}).status_code == 429


def fails(*, times: int, address: str, port: int = 40_000, forwarded: str = "") -> None:
    """Each time with another name."""
    client = Client(headers={"x-forwarded-for": forwarded} if forwarded else None)
    for number in range(times):
        body = {"username": f"{address}-{number}", "password": "wrong"}
        assert client.post("/sign-in", body, REMOTE_ADDR=address, REMOTE_PORT=port).status_code == 400


def may_sign_in(*, address: str, port: int = 40_000, forwarded: str = "") -> bool:
    client = Client(headers={"x-forwarded-for": forwarded} if forwarded else None)
    answer = client.post("/sign-in", {"username": "erin", "password": PASSWORD}, REMOTE_ADDR=address, REMOTE_PORT=port)
    return answer.status_code == 302


def test_who_fails_again_and_again_with_many_names_has_to_wait(editor: User) -> None:
    fails(times=60, address="203.0.113.7")
    assert not may_sign_in(address="203.0.113.7")
    assert may_sign_in(address="203.0.113.8")


def test_nobody_keeps_others_behind_an_unknown_proxy_from_signing_in(editor: User, caplog: pytest.LogCaptureFixture) -> None:
    fails(times=61, address="172.18.0.1", forwarded="172.18.0.1, 203.0.113.7")
    assert may_sign_in(address="172.18.0.1", forwarded="203.0.113.8")
    assert "requests come through 172.18.0.1, which hides who asks" in caplog.text


def test_behind_an_unknown_proxy_a_name_still_has_to_wait(editor: User) -> None:
    client = Client(headers={"x-forwarded-for": "203.0.113.7"}, REMOTE_ADDR="172.18.0.1")
    for _ in range(8):
        assert client.post("/sign-in", {"username": "erin", "password": "wrong"}).status_code == 400
    assert client.post("/sign-in", {"username": "erin", "password": PASSWORD}).status_code == 429


@pytest.mark.parametrize(("port", "forwarded"), [(0, "10.1.2.3"), (51_000, "10.1.2.3:51000")])
def test_whom_a_known_proxy_names_is_counted_also_in_a_private_network(editor: User, port: int, forwarded: str) -> None:
    fails(times=60, address="10.1.2.3", port=port, forwarded=forwarded)
    assert not may_sign_in(address="10.1.2.3", port=port, forwarded=forwarded)
    assert may_sign_in(address="10.1.2.4", port=port, forwarded="10.1.2.4:51000")


def test_nobody_from_outside_is_counted_nowhere_for_a_header_of_his_own(editor: User) -> None:
    fails(times=60, address="1.1.1.1", forwarded="198.51.100.1")
    assert not may_sign_in(address="1.1.1.1", forwarded="198.51.100.2")


def test_the_administration_has_no_door_of_its_own(client: Client, editor: User) -> None:
    assert client.post("/admin/login/", {"username": "erin", "password": PASSWORD})["Location"] == "/sign-in?next=/admin/"
    assert client.get("/admin/", follow=True).redirect_chain[-1] == ("/sign-in?next=/admin/", 302)


def test_who_may_not_administer_is_led_home_and_not_round_in_circles(browser: Client, built: Path) -> None:
    answer = browser.get("/admin/", follow=True)
    assert answer.redirect_chain[-1] == ("/", 302)


def test_a_link_is_not_used_up_by_looking_at_it(client: Client, editor: User) -> None:
    path = f"/sign-in/link/{sign_in_link_create(user=editor)}"
    for _ in range(3):
        assert "erin" in Client().get(path).content.decode()
    assert client.post(path)["Location"] == "/"
    assert client.get("/api/me").json()["username"] == "erin"
    assert AuditEntry.objects.filter(action="signed in by link", actor="erin").exists()


def test_a_link_signs_in_once(client: Client, editor: User) -> None:
    path = f"/sign-in/link/{sign_in_link_create(user=editor)}"
    assert client.post(path).status_code == 302
    other = Client()
    assert other.post(path).status_code == 410
    assert other.get(path).status_code == 410
    assert other.get("/api/me").status_code == 401


def test_a_link_dies_after_ten_minutes_and_with_its_user(client: Client, editor: User) -> None:
    path = f"/sign-in/link/{sign_in_link_create(user=editor)}"
    link = SignInLink.objects.get()
    assert timedelta(minutes=9) < link.expire_time - timezone.now() <= timedelta(minutes=10)
    SignInLink.objects.update(expire_time=timezone.now())
    assert client.post(path).status_code == 410
    path = f"/sign-in/link/{sign_in_link_create(user=editor)}"
    User.objects.update(is_active=False)
    assert client.post(path).status_code == 410


def test_only_the_digest_of_a_link_is_kept(editor: User) -> None:
    token = sign_in_link_create(user=editor)
    assert token not in json.dumps(list(SignInLink.objects.values_list("digest", flat=True)))


def test_a_link_wants_its_own_form(editor: User) -> None:
    path = f"/sign-in/link/{sign_in_link_create(user=editor)}"
    strict = Client(enforce_csrf_checks=True)
    assert strict.post(path).status_code == 403
    page = strict.get(path).content.decode()
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
    assert token is not None
    assert strict.post(path, {"csrfmiddlewaretoken": token.group(1)}).status_code == 302


def test_behind_tls_people_sign_in_from_the_address_they_type(editor: User, settings: Any) -> None:
    path = f"/sign-in/link/{sign_in_link_create(user=editor)}"
    from_there = {"host": "pipelines.example.com", "origin": "https://pipelines.example.com"}
    for address, status in (("https://elsewhere.example.com/", 403), ("https://pipelines.example.com/", 302)):
        settings.CSRF_TRUSTED_ORIGINS = [origin_of(address)]
        strict = Client(enforce_csrf_checks=True, headers=from_there)
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', strict.get(path).content.decode())
        assert token is not None
        assert strict.post(path, {"csrfmiddlewaretoken": token.group(1)}).status_code == status


def test_signing_out_is_a_post(browser: Client) -> None:
    assert browser.get("/sign-out").status_code == 405
    assert browser.post("/sign-out")["Location"] == "/sign-in"
    assert browser.get("/api/me").status_code == 401


def change(client: Client, old: str | None, new: str, again: str = "", language: str = "en") -> Any:
    said = {} if old is None else {"old_password": old}
    body = {**said, "new_password1": new, "new_password2": again or new}
    return client.post("/password", body, headers={"accept-language": language})


def test_people_who_administer_nothing_give_themselves_another_password(client_of: Callable[[User], Client], editor: User) -> None:
    here, elsewhere = client_of(editor), client_of(editor)
    assert "Present password" in here.get("/password").content.decode()
    answer = change(here, PASSWORD, "staple gun of tomorrow")
    assert (answer.status_code, "holds from now on" in answer.content.decode()) == (200, True)
    assert here.get("/api/me").status_code == 200
    assert elsewhere.get("/api/me").status_code == 401, "the other sessions end"
    assert Client().post("/sign-in", {"username": "erin", "password": PASSWORD}).status_code == 400
    assert Client().post("/sign-in", {"username": "erin", "password": "staple gun of tomorrow"}).status_code == 302
    entry = AuditEntry.objects.get(action="password changed")
    assert (entry.actor, entry.object_id, entry.detail) == ("erin", str(editor.pk), {})


@pytest.mark.parametrize(
    ("old", "new", "again", "english", "chinese"),
    [
        ("wrong", "staple gun of tomorrow", "", "Your old password was entered incorrectly", "你的旧密码不正确"),
        (PASSWORD, "staple gun of tomorrow", "another", "password fields didn’t match", "输入的两个密码不一致"),
        (PASSWORD, "short", "", "it needs 10 characters or more", "至少需要 10 个字符"),
        (PASSWORD, "password123", "", "too common", "密码太常见了"),
    ],
)
def test_a_new_password_that_is_refused_says_why_in_the_language_of_the_page(
    browser: Client, editor: User, old: str, new: str, again: str, english: str, chinese: str
) -> None:
    for language, words in (("en", english), ("zh-CN", chinese)):
        answer = change(browser, old, new, again, language)
        assert answer.status_code == 400
        assert words in answer.content.decode()
    editor.refresh_from_db()
    assert editor.check_password(PASSWORD)


def test_who_signed_in_by_link_and_has_no_password_says_none(browser: Client, editor: User) -> None:
    editor.set_unusable_password()
    editor.save()
    browser.force_login(editor)
    assert "Present password" not in browser.get("/password").content.decode()
    assert change(browser, None, "staple gun of tomorrow").status_code == 200
    assert Client().post("/sign-in", {"username": "erin", "password": "staple gun of tomorrow"}).status_code == 302


def test_the_present_password_is_not_guessed_with_somebodys_open_browser(browser: Client, editor: User) -> None:
    for _ in range(8):
        assert change(browser, "wrong", "staple gun of tomorrow").status_code == 400
    answer = change(browser, PASSWORD, "staple gun of tomorrow")
    assert (answer.status_code, answer["Retry-After"]) == (429, "300")


def test_the_command_prints_a_link_that_works(editor: User, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("sign_in_link", "erin")
    link = capsys.readouterr().out.strip().splitlines()[-1]
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/sign-in/link/[\w-]{43}", link)
    client = Client()
    assert client.post("/" + link.split("/", 3)[3]).status_code == 302


@pytest.mark.slow
@pytest.mark.parametrize("command", [["sign_in_link"], ["create_token", "erin"]])
def test_a_command_for_no_installation_says_so_in_a_line(tmp_path: Path, command: list[str]) -> None:
    variables = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"} | {"DATA_DIR": str(tmp_path / "none")}
    variables["DJANGO_SETTINGS_MODULE"] = "pipeline_web.settings"
    told = subprocess.run([sys.executable, "manage.py", *command], env=variables, capture_output=True, text=True, check=False)
    assert told.returncode == 1
    (line,) = told.stderr.strip().splitlines()
    assert line.startswith("CommandError: there is no installation here yet: name its DATA_DIR or DATABASE_URL")


def test_a_token_is_printed_once_and_opens_the_api(editor: User, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("create_token", "erin")
    token = capsys.readouterr().out.strip().splitlines()[-1]
    assert len(token) >= 20
    client = Client(headers={"authorization": f"Bearer {token}"})
    assert client.get("/api/me").json()["username"] == "erin"
    assert Client(headers={"authorization": f"Bearer {token}x"}).get("/api/me").status_code == 401
    editor.api_tokens.update(revoke_time=timezone.now())
    assert client.get("/api/me").status_code == 401


def test_a_token_too_many_is_refused_in_a_line(editor: User) -> None:
    for number in range(TOKENS_OF_ONE_USER):
        token_create(user=editor, name=str(number))
    with pytest.raises(CommandError, match="as many as one may have"):
        call_command("create_token", "erin")


def test_a_token_needs_no_csrf_token_and_says_api(editor: User, capsys: pytest.CaptureFixture[str]) -> None:
    job(editor)
    call_command("create_token", "erin")
    token = capsys.readouterr().out.split()[-1]
    client = Client(enforce_csrf_checks=True, headers={"authorization": f"Bearer {token}"})
    started = client.post("/api/jobs/numbers/start", {}, content_type="application/json").json()["execution_id"]
    assert client.get(f"/api/executions/{started}").json()["triggered_by"] == "API"


@pytest.fixture
def built(tmp_path: Path, settings: object) -> Path:
    """A front end as Vite leaves it."""
    manifest = {
        "src/main.tsx": {"file": "assets/main-1.js", "imports": ["_lib-2.js"], "css": ["assets/main-1.css"], "isEntry": True},
        "node_modules/@fontsource-variable/inter/files/inter-latin-wght-normal.woff2": {"file": "assets/inter-3.woff2"},
        "_lib-2.js": {"file": "assets/lib-2.js", "css": ["assets/lib-2.css"]},
    }
    (tmp_path / ".vite").mkdir()
    (tmp_path / ".vite" / "manifest.json").write_text(json.dumps(manifest))
    settings.FRONTEND_DIST = tmp_path  # type: ignore[attr-defined]
    return tmp_path


def directives(policy: str) -> dict[str, list[str]]:
    return {part.split()[0]: part.split()[1:] for part in policy.split(";") if part.strip()}


@pytest.mark.parametrize("path", ["/", "/jobs", "/jobs/numbers?node=out", "/executions/1"])
def test_the_shell_names_the_built_files_and_its_nonce(browser: Client, built: Path, path: str) -> None:
    answer = browser.get(path)
    page = answer.content.decode()
    for file in ("assets/main-1.js", "assets/lib-2.js", "assets/main-1.css", "assets/lib-2.css"):
        assert f"/static/{file}" in page
    nonce = re.search(r'<meta name="csp-nonce" content="([^"]+)">', page)
    assert nonce is not None
    assert f"'nonce-{nonce.group(1)}'" in directives(answer["Content-Security-Policy"])["style-src"]
    assert "csrftoken" in answer.cookies


def test_the_shell_says_what_to_do_while_nothing_is_built(browser: Client, settings: object, tmp_path: Path) -> None:
    settings.FRONTEND_DIST = tmp_path / "nowhere"  # type: ignore[attr-defined]
    answer = browser.get("/")
    assert answer.status_code == 503
    assert "make run" in answer.content.decode()


def test_the_shell_is_for_the_signed_in(client: Client, built: Path) -> None:
    assert client.get("/jobs/numbers")["Location"] == "/sign-in?next=/jobs/numbers"


def pages(editor: User, client_of: Callable[[User], Client]) -> list[tuple[str, str, str]]:
    """(address, its policy, its text) of every page that is not of the API."""
    editor.is_staff = editor.is_superuser = True
    editor.save()
    job(editor)
    inside = client_of(editor)
    found = []
    for client, paths in (
        (Client(), ("/sign-in", "/sign-in/link/x")),
        (inside, ("/", "/password", "/admin/", "/admin/jobs/job/", "/admin/jobs/project/1/change/")),
    ):
        for path in paths:
            answer = client.get(path)
            found.append((path, answer["Content-Security-Policy"], answer.content.decode()))
    return found


def test_no_page_allows_or_needs_inline_code(editor: User, client_of: Callable[[User], Client], built: Path) -> None:
    for path, policy, text in pages(editor, client_of):
        assert "unsafe-" not in policy, path
        assert directives(policy)["frame-ancestors"] == ["'none'"], path
        for tag in re.findall(r"<(?:script|style)\b[^>]*>", text):
            assert "nonce=" in tag or "src=" in tag or 'type="application/json"' in tag, f"{path}: {tag}"
        assert not re.search(r"\son\w+=[\"']", text), path


def test_health_is_open_and_readiness_names_what_is_missing(client: Client, editor: User) -> None:
    assert client.get("/healthz").json() == {"ok": True}
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["worker"] != "ok"
    assert answer.json()["examples"] != "ok"


def test_ready_with_examples_and_a_driver_that_reports(client: Client, editor: User) -> None:
    for name in EXAMPLES:
        job(editor, name)
    driver = driver_row()
    assert client.get("/readyz").status_code == 503
    Driver.objects.filter(pk=driver.pk).update(heartbeat_time=timezone.now())
    assert client.get("/readyz").status_code == 200
    Driver.objects.filter(pk=driver.pk).update(status=DriverStatus.GONE)
    assert client.get("/readyz").status_code == 503
