"""`make test-faults`: every case of the matrices of which `make test` runs each pair, and kills of each server amid a run."""

import sys

from scripts.java_home import java_home_first
from scripts.machine import missing_packages_install
from scripts.test import servers_jars, sparks_jars, suite


def main() -> int:
    java_home_first()
    missing_packages_install()
    return 0 if sparks_jars() and servers_jars() and suite("-m", "faults") else 1


if __name__ == "__main__":
    sys.exit(main())
