"""The page on which people give themselves a password."""

from collections.abc import Mapping
from typing import Any, cast

from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.forms import PasswordChangeForm, SetPasswordForm
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.decorators import method_decorator
from django.views import View
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from jobs.api.client_address import client_address
from jobs.api.page_words import page_words
from jobs.api.sign_in import page_answer
from jobs.api.sign_in_attempts import attempt_failed, attempts_exceeded
from jobs.services.access import password_change


@method_decorator([never_cache, sensitive_post_parameters()], name="dispatch")
class OwnPasswordView(View):
    """The form, and what it sends. Who has a password says it once more; it is guessed here as seldom as at signing in."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return _shown(request)

    def post(self, request: HttpRequest) -> HttpResponse:
        user = cast(User, request.user)
        address, name = client_address(request), user.get_username()
        if attempts_exceeded(username=name, address=address):
            response = _shown(request, [page_words(request)["too_many"]], status=429)
            response["Retry-After"] = "300"
            return response
        form: SetPasswordForm[User] = (PasswordChangeForm if user.has_usable_password() else SetPasswordForm)(user, request.POST)
        problems = _problems(form, page_words(request))
        if "old_password" in form.errors:
            attempt_failed(username=name, address=address)
        if problems:
            return _shown(request, problems, status=400)
        password_change(user=user, password=form.cleaned_data["new_password1"])
        update_session_auth_hash(request, user)  # this session goes on, all others of the user end
        return _shown(request, done=True)


def _problems(form: "SetPasswordForm[User]", words: Mapping[str, str]) -> list[str]:
    """In the words of Django, but for the length: that sentence it has in English only."""
    with translation.override("zh-hans" if words["lang"] == "zh" else "en"):
        found = [problem for problems in form.errors.as_data().values() for problem in problems]
        lengths = {problem: (problem.params or {}).get("min_length") for problem in found if problem.code == "password_too_short"}
        return [words["too_short"].format(lengths[problem]) if problem in lengths else problem.messages[0] for problem in found]


def _shown(request: HttpRequest, problems: list[str] | None = None, *, done: bool = False, status: int = 200) -> HttpResponse:
    shown: dict[str, Any] = {"problems": problems or [], "done": done, "asks_old": cast(User, request.user).has_usable_password()}
    return page_answer(request, "password.html", shown, status)
