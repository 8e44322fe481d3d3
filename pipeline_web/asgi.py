"""The web process: HTTP by Django, live messages by Channels."""

import os
import warnings

import django
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.sessions import SessionMiddlewareStack

from pipeline_web.variables import VARIABLES

# Each request is answered in a thread of its own: nobody would find a connection again that it left open, and PostgreSQL would hold it
# until it is collected as garbage. Threads of workers and drivers come back to theirs.
VARIABLES["DATABASE_CONN_MAX_AGE"] = "0"
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "pipeline_web.settings")
django.setup(set_prefix=False)

from jobs.api.body_limit import BodyLimit  # noqa: E402  the apps must be set up first
from jobs.api.body_size import SizedBodies  # noqa: E402
from jobs.live.origins import SameOrigin  # noqa: E402
from jobs.live.routes import websocket_urlpatterns  # noqa: E402

# WhiteNoise hands a file over piece by piece, and Django reads it whole before it goes out: what is served so is small.
warnings.filterwarnings("ignore", message="StreamingHttpResponse must consume synchronous iterators")
websocket = SameOrigin(SessionMiddlewareStack(URLRouter(websocket_urlpatterns)))
application = ProtocolTypeRouter({"http": BodyLimit(SizedBodies()), "websocket": websocket})
