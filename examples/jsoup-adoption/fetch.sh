#!/bin/sh
# fetch.sh DEST: a Maven project of the published sources of jsoup 1.14.1, with our pom.xml and tests.
set -eu
artifact=org.jsoup:jsoup:1.14.1:jar:sources
task=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
dest=$(cd "$1" && pwd)
scratch=$(mktemp -d "${WORK:-/tmp}/fetch.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
"$task/maven.sh" org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy \
  -Dartifact="$artifact" -DoutputDirectory="$scratch" || {
  echo "fetch.sh: $artifact cannot be fetched; this needs Maven and the network" >&2
  exit 1
}
mkdir -p "$dest/src/main/java"
(cd "$dest/src/main/java" && jar xf "$scratch"/*-sources.jar && mv META-INF/LICENSE "$dest"/ && rm -rf META-INF)
cp -R "$task/project/." "$dest"/
