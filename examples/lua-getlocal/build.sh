#!/bin/sh
# build.sh TREE OUT: makes OUT/harness and what the tests need.
set -eu
task=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$2"
tree=$(cd "$1" && pwd)
exec make --no-print-directory -j"${JOBS:-2}" -C "$2" -f "$task/Makefile" TREE="$tree" TASK="$task"
