#!/bin/sh
# build.sh TREE OUT: configures the whole tree once, then compiles the module under test.
set -eu
task=$(cd "$(dirname "$0")" && pwd)
tree=$1 out=$2
mkdir -p "$out/b"
: "${CC:=gcc}"
if [ ! -f "$out/b/configured" ]; then
  (cd "$out/b" && perl "$tree/Configure" linux-x86_64 no-asm no-shared no-tests >/dev/null && make -s build_generated >/dev/null)
  : >"$out/b/configured"
fi
for program in harness functest; do
  # shellcheck disable=SC2086 # CFLAGS is a list of words
  $CC $CFLAGS -w -I"$out/b/include" -I"$tree/include" "$task/$program.c" "$tree/crypto/punycode.c" -o "$out/$program"
done
