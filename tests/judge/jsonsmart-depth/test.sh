#!/bin/sh
# test.sh TREE: the JUnit tests, offline, after build.sh; reports lie in TREE/target/surefire-reports.
set -eu
rm -rf "$1/target/surefire-reports"
exec timeout 120 "$(dirname "$0")/maven.sh" --offline -f "$1/pom.xml" surefire:test
