"""Every page."""

from django.contrib.auth.views import LogoutView
from django.urls import URLPattern, URLResolver, path
from django.views.i18n import set_language

from scheduler_admin.web.views import shell

app_name = "web"
urlpatterns: list[URLPattern | URLResolver] = [
    path("", shell.home, name="home"),
    path("sign-in/", shell.SignIn.as_view(), name="login"),
    path("sign-out/", LogoutView.as_view(), name="logout"),
    path("language/", set_language, name="language"),
]
