#!/bin/sh
# test.sh OUT: rendered HTML of test/*.md must equal test/*.html, and a table of 40,000 columns still renders.
set -eu
cd "$(dirname "$0")"
for page in test/*.md; do
  PRINT=1 timeout 60 "$1"/harness "$page" | diff - "${page%.md}.html" >/dev/null || { echo "FAIL $page"; exit 1; }
done
wide=$(mktemp "${WORK:-/tmp}/wide.XXXXXX")
trap 'rm -f "$wide"' EXIT
awk 'BEGIN { for (l = 0; l < 3; l++) { s = substr("a-b", l + 1, 1); for (i = 0; i < 40000; i++) printf "|%s", s; print "|" } }' >"$wide"
[ "$(PRINT=1 timeout 120 "$1"/harness "$wide" | grep -c '<td>b</td>')" = 40000 ] || { echo "FAIL wide"; exit 1; }
echo PASS
