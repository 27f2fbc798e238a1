#!/bin/sh
# test.sh OUT: the sheets come out as they should, and test/errors/*.scss are refused as test/errors/*.out say.
set -eu
cd "$(dirname "$0")"
../sheets.sh "$1" ../test test
for sheet in test/errors/*.scss; do
  PRINT=1 timeout 60 "$1"/harness "$sheet" 2>/dev/null | sed -n '1p;/^>>/,$p' | diff - "${sheet%.scss}.out" || { echo "FAIL $sheet"; exit 1; }
done
echo PASS
