#!/bin/sh
# test.sh OUT: the sheets come out as they should, and selectors that end in half a combinator are refused.
set -eu
cd "$(dirname "$0")"
../sheets.sh "$1" ../test test
scratch=$(mktemp "${WORK:-/tmp}/sheet.XXXXXX")
trap 'rm -f "$scratch"' EXIT
for bad in 'a /deep b { x: y; }' 'a /1/ b { x: y; }' 'a // > { x: y; }' 'a /deep/' '.a { @extend b /deep/ c; }'; do
  printf '%s\n' "$bad" >"$scratch"
  PRINT=1 timeout 60 "$1"/harness "$scratch" 2>/dev/null | grep -q '^error Error: ' || { echo "FAIL $bad"; exit 1; }
done
echo PASS
