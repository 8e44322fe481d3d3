"""Settings of a test run: a data folder of its own, and a Redis of its own that tests/conftest.py starts."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

from scripts.ports import free_port

_given = os.environ.get("TEST_DATA_DIR")
_folder = Path(_given or tempfile.mkdtemp(prefix="pipeline-web-test-")).resolve()
if not _given:
    atexit.register(shutil.rmtree, _folder, ignore_errors=True)


# Set before the product's own settings read them; processes that a test starts inherit them.
os.environ["DATA_DIR"] = str(_folder)
os.environ["TEST_DATA_DIR"] = str(_folder)
os.environ.setdefault("REDIS_URL", f"redis://127.0.0.1:{free_port()}/0")
os.environ.setdefault("SPARK_MASTER", "local[2]")
os.environ.setdefault("SPARK_DRIVER_MEMORY", "1g")
#: The second compiler's work is never worth its while here, also in a Spark of half an hour: a third more processor time. Young objects
#: get room, of which streams of a few rows make a gigabyte each.
_JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=128m -Xmn384m"
os.environ.setdefault("SPARK_DRIVER_JAVA_OPTIONS", _JAVA_OPTIONS)
os.environ.setdefault("LOG_LEVEL", "WARNING")

from pipeline_web.settings import *  # noqa: E402, F403
from pipeline_web.settings import DATABASES  # noqa: E402

ALLOWED_HOSTS = ["*"]
STATICFILES_DIRS = []  # the front end may be built while tests run
WHITENOISE_AUTOREFRESH = True  # every client of a test would look through all files first
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

# A file, not memory: threads, and processes that a test starts, see the same rows.
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATABASES["default"]["TEST"] = {"NAME": str(_folder / "test.sqlite3")}
