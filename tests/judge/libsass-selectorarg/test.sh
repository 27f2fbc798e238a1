#!/bin/sh
# test.sh OUT: the CSS of test/*.scss must equal test/*.css, and test/errors/*.scss are refused as test/errors/*.out say.
set -eu
cd "$(dirname "$0")"
for sheet in test/*.scss; do
  PRINT=1 timeout 60 "$1"/harness "$sheet" 2>/dev/null | diff - "${sheet%.scss}.css" || { echo "FAIL $sheet"; exit 1; }
done
for sheet in test/errors/*.scss; do
  PRINT=1 timeout 60 "$1"/harness "$sheet" 2>/dev/null | sed -n '1p;/^>>/,$p' | diff - "${sheet%.scss}.out" || { echo "FAIL $sheet"; exit 1; }
done
echo PASS
