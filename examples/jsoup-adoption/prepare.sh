#!/bin/sh
# prepare.sh TREE: with network, once. Builds everything, so that $HOME holds what building and testing need offline, and
# puts Jazzer beside it. Nothing of the project runs here.
set -eu
task=$(cd "$(dirname "$0")" && pwd)
jazzer=com.code-intelligence:jazzer
for artifact in $jazzer:0.24.0 $jazzer-api:0.24.0; do
  "$task/maven.sh" org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy \
    -Dartifact="$artifact" -DoutputDirectory="$HOME/jazzer" -Dmdep.useBaseVersion=true
done
"$task/maven.sh" -f "$1/pom.xml" -DskipTests test-compile surefire:test
rm -rf "$1/target"
