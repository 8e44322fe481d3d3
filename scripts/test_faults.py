"""`make test-faults`: every case of the matrices of which `make test` runs each pair."""

import sys

from scripts.fetch_jars import JarsUnavailable
from scripts.java_home import java_home_first
from scripts.machine import missing_packages_install
from scripts.test import sparks_jars_fetch, suite
from tests.servers.kafka import kafka_jars_fetch


def main() -> int:
    java_home_first()
    missing_packages_install()
    try:
        sparks_jars_fetch()
        kafka_jars_fetch()
    except JarsUnavailable as error:
        print(error)
        return 1
    return 0 if suite("-m", "faults") else 1


if __name__ == "__main__":
    sys.exit(main())
