#!/bin/sh
# test.sh TREE OUT: what is spelled right and what is suggested, for each dictionary of test/.
# Prints the Test Anything Protocol; fails when a test does.
set -u
harness="timeout 60 $2/harness"
cd "$(dirname "$0")/test" || exit
scratch=$(mktemp -d "${WORK:-/tmp}/test.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
number=0 failed=0
for words in *.txt; do
  number=$((number + 1))
  if $harness "$words" >"$scratch/out" && diff "$scratch/out" "${words%.txt}.out"; then
    echo "ok $number - ${words%.txt}"
  else
    echo "not ok $number - ${words%.txt}"
    failed=1
  fi
done
echo "1..$number"
exit $failed
