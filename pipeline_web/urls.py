"""Every address of the installation."""

from django.contrib import admin
from django.contrib.auth.decorators import login_not_required
from django.urls import include, path, re_path
from django.views.generic import RedirectView

from jobs.api import health, metrics, own_password, shell, sign_in

urlpatterns = [
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path("metrics", metrics.metrics),
    path("sign-in", sign_in.SignInView.as_view(), name="sign-in"),
    path("sign-in/link/<str:token>", sign_in.SignInLinkView.as_view(), name="sign-in-link"),
    path("password", own_password.OwnPasswordView.as_view()),
    path("sign-out", sign_in.sign_out, name="sign-out"),
    path("admin/login/", login_not_required(RedirectView.as_view(url="/sign-in?next=/admin/"))),  # one door, where failures are counted
    path("admin/", admin.site.urls),
    path("api/", include("checkpoints.urls")),
    path("api/", include("jobs.api.urls")),
    path("", include("jobs.api.demo")),
    path("", include("jobs.api.hooks")),
    path("favicon.ico", shell.favicon),
    re_path(r"^(?!static/|ws/|demo/|hooks/|favicon\.ico$).*$", shell.shell, name="shell"),
]
