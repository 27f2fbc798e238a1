#!/bin/sh
# prepare.sh TREE: with network, once: builds everything, so that $HOME holds what building and testing need offline.
set -eu
"$(dirname "$0")/maven.sh" -f "$1/pom.xml" -DskipTests package surefire:test
rm -rf "$1/target"
