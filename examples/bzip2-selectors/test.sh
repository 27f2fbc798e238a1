#!/bin/sh
# test.sh TREE OUT: bzip2's own samples, a round trip of a full-sized block, and damage that must be noticed.
# Prints the Test Anything Protocol; fails when a test does.
# shellcheck disable=SC2317,SC2086 # functions that `check` calls, and an option that may be empty
set -u
tree=$1
bzip2="timeout 60 $2/bzip2"
scratch=$(mktemp -d "${WORK:-/tmp}/test.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
number=0 failed=0

check() { # check NAME FUNCTION ARGUMENT..
  name=$1
  shift
  number=$((number + 1))
  if "$@"; then
    echo "ok $number - $name"
  else
    echo "not ok $number - $name"
    failed=1
  fi
}

compresses() { # sample N, compressed at level N, is what upstream ships
  $bzip2 "-$1" <"$tree/sample$1.ref" >"$scratch/out" && cmp "$scratch/out" "$tree/sample$1.bz2"
}
decompresses() { # sample N, by the small algorithm if told so
  $bzip2 -d $2 <"$tree/sample$1.bz2" >"$scratch/out" && cmp "$scratch/out" "$tree/sample$1.ref"
}
full_block_returns() { # 900 kB that compress poorly: the largest number of selectors there is
  awk 'BEGIN { srand(7); for (i = 0; i < 180000; i++) printf "%04x\n", int(65536 * rand()) }' >"$scratch/big"
  $bzip2 -9 <"$scratch/big" >"$scratch/big.bz2" && $bzip2 -d <"$scratch/big.bz2" | cmp - "$scratch/big"
}
streams_join() {
  cat "$tree/sample1.bz2" "$tree/sample2.bz2" | $bzip2 -d >"$scratch/out" &&
    cat "$tree/sample1.ref" "$tree/sample2.ref" | cmp - "$scratch/out"
}
refuses() { # refuses FILE: an error, not a crash
  $bzip2 -d <"$1" >/dev/null 2>"$scratch/log"
  status=$?
  ! grep -q 'runtime error\|Sanitizer' "$scratch/log" && [ "$status" -gt 0 ] && [ "$status" -lt 4 ]
}
damaged() { # damaged OFFSET: sample 1 with one byte changed there
  head -c "$1" "$tree/sample1.bz2" >"$scratch/damaged"
  printf 'x' >>"$scratch/damaged"
  tail -c +"$(($1 + 2))" "$tree/sample1.bz2" >>"$scratch/damaged"
  refuses "$scratch/damaged"
}
truncated() {
  head -c 2000 "$tree/sample1.bz2" >"$scratch/truncated"
  refuses "$scratch/truncated"
}

for n in 1 2 3; do check "sample $n compresses" compresses $n; done
for n in 1 2; do check "sample $n decompresses" decompresses $n ""; done
check "sample 3 decompresses in little memory" decompresses 3 -s
check "a full block returns" full_block_returns
check "two streams in one file" streams_join
check "a truncated file is refused" truncated
check "a damaged checksum is refused" damaged 11
check "a damaged block is refused" damaged 5000
echo "1..$number"
exit $failed
