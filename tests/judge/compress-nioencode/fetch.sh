#!/bin/sh
# fetch.sh DEST: a Maven project of the published sources of Commons Compress 1.18, with our pom.xml, tests and harness.
set -eu
task=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
dest=$(cd "$1" && pwd)
scratch=$(mktemp -d "${WORK:-/tmp}/fetch.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
"$task/maven.sh" org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy \
  -Dartifact=org.apache.commons:commons-compress:1.18:jar:sources -DoutputDirectory="$scratch"
mkdir -p "$dest/src/main/java"
(cd "$dest/src/main/java" && jar xf "$scratch"/*-sources.jar && rm -rf META-INF)
cp -R "$task/project/." "$dest"/
