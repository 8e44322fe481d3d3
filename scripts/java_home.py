"""Where Java stands: JAVA_HOME counts before the PATH, for this process and for whatever it starts."""

import os


def java_home_first() -> None:
    """Put JAVA_HOME, which the bootstrap accepts alone, on the PATH: Spark, Ivy and the compiler look for `java` there."""
    home, path = os.environ.get("JAVA_HOME"), os.environ.get("PATH", "")
    java = f"{home}/bin"
    if home and path.split(os.pathsep)[0] != java:
        os.environ["PATH"] = f"{java}{os.pathsep}{path}"
