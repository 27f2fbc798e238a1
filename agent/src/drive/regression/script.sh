#!/bin/sh
# Regression test: the program must not crash on this input. It is run in the tree;
# OUT names the folder of the built program, built with a sanitizer.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
POV=$folder/input-{{ name }}
TASK=$folder/task
HARNESS=${HARNESS:-{{ harness }}}
TREE=${TREE:-$PWD}
export POV HARNESS TREE TASK
write() { mkdir -p "${1%/*}"; base64 -d >"$1"; chmod +x "$1"; }
{{ files }}{{ command }}
