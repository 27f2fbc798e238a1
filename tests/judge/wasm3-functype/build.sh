#!/bin/sh
# build.sh TREE OUT: OUT/harness and OUT/functest.
set -eu
task=$(cd "$(dirname "$0")" && pwd)
exec make --no-print-directory -j"${JOBS:-2}" -C "$2" -f "$task/Makefile" TREE="$1" TASK="$task"
