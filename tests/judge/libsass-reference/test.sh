#!/bin/sh
# test.sh OUT: the CSS of test/*.scss must equal test/*.css, and selectors that end in half a combinator are refused.
set -eu
cd "$(dirname "$0")"
for sheet in test/*.scss; do
  PRINT=1 timeout 60 "$1"/harness "$sheet" 2>/dev/null | diff - "${sheet%.scss}.css" || { echo "FAIL $sheet"; exit 1; }
done
scratch=$(mktemp "${WORK:-/tmp}/sheet.XXXXXX")
trap 'rm -f "$scratch"' EXIT
for bad in 'a /deep b { x: y; }' 'a /1/ b { x: y; }' 'a // > { x: y; }' 'a /deep/' '.a { @extend b /deep/ c; }'; do
  printf '%s\n' "$bad" >"$scratch"
  PRINT=1 timeout 60 "$1"/harness "$scratch" 2>/dev/null | grep -q '^error Error: ' || { echo "FAIL $bad"; exit 1; }
done
echo PASS
