#!/bin/sh
# sheets.sh OUT FOLDER..: the CSS of FOLDER/*.scss must equal FOLDER/*.css.
set -eu
out=$1
shift
for folder; do
  for sheet in "$folder"/*.scss; do
    PRINT=1 timeout 60 "$out"/harness "$sheet" 2>/dev/null | diff - "${sheet%.scss}.css" || { echo "FAIL $sheet"; exit 1; }
  done
done
