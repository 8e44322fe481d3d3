"""The words of the pages beside the interface, in the language chosen in the interface, else the browser's."""

from collections.abc import Mapping

from django.http import HttpRequest
from django.utils import translation

#: The interface keeps the reader's choice under this name, for the pages that it does not draw itself.
LANGUAGE_COOKIE = "pipeline-web-language"

_EN = {
    "lang": "en",
    "title": "Sign in",
    "about": "Design, run, watch and rewind Spark pipelines.",
    "name": "Name",
    "password": "Password",
    "sign_in": "Sign in",
    "no_password": "No password yet?",
    "prints_link": "prints a link that signs you in.",
    "wrong": "The name or the password is wrong.",
    "too_many": "Too many failed tries. Wait five minutes, or use a sign-in link.",
    "welcome": "Welcome",
    "once": "This link signs you in once, as",
    "continue": "Continue",
    "dead": "This link no longer works",
    "dead_why": "It was used already, or it is older than ten minutes.",
    "prints_fresh": "prints a fresh one.",
    "with_password": "Sign in with a password",
    "once_more": "Please try once more",
    "once_more_why": "The page was open for too long, or cookies are blocked. Nothing was changed.",
    "back": "Back to Pipeline Web",
    "own_password": "Change password",
    "own_password_why": "Your sessions in other browsers end; your API tokens stay.",
    "old_password": "Present password",
    "new_password": "New password",
    "new_password_again": "New password, once more",
    "change_password": "Change password",
    "too_short": "This password is too short: it needs {} characters or more.",
    "password_changed": "The new password holds from now on.",
}

_ZH = {
    "lang": "zh",
    "title": "登录",
    "about": "设计、运行、监控和回退 Spark 管道。",
    "name": "用户名",
    "password": "密码",
    "sign_in": "登录",
    "no_password": "还没有密码？",
    "prints_link": "会输出一个登录链接。",
    "wrong": "用户名或密码错误。",
    "too_many": "失败次数过多。请等待五分钟，或使用登录链接。",
    "welcome": "欢迎",
    "once": "此链接可登录一次，用户为",
    "continue": "继续",
    "dead": "此链接已失效",
    "dead_why": "它已被使用，或已超过十分钟。",
    "prints_fresh": "会输出一个新的链接。",
    "with_password": "使用密码登录",
    "once_more": "请再试一次",
    "once_more_why": "页面打开时间过长，或 Cookie 被阻止。没有任何更改。",
    "back": "返回 Pipeline Web",
    "own_password": "修改密码",
    "own_password_why": "您在其他浏览器中的会话将结束；API 令牌保持不变。",
    "old_password": "当前密码",
    "new_password": "新密码",
    "new_password_again": "再次输入新密码",
    "change_password": "修改密码",
    "too_short": "密码太短：至少需要 {} 个字符。",
    "password_changed": "新密码已生效。",
}


def page_words(request: HttpRequest) -> Mapping[str, str]:
    chosen = request.COOKIES.get(LANGUAGE_COOKIE) or translation.get_language_from_request(request)
    return _ZH if chosen.startswith("zh") else _EN
