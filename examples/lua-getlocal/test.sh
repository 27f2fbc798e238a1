#!/bin/sh
# test.sh TREE OUT: the language, the libraries and the debug interface, one script a topic.
# Prints the Test Anything Protocol; fails when a test does.
set -u
harness="timeout 60 $2/harness"
cd "$(dirname "$0")/test" || exit
number=0 failed=0
for script in *.lua; do
  number=$((number + 1))
  output=$($harness "$script" 2>&1 | tail -n 1)
  if [ "$output" = passed ]; then
    echo "ok $number - ${script%.lua}"
  else
    echo "not ok $number - ${script%.lua}: $output"
    failed=1
  fi
done
echo "1..$number"
exit $failed
