#!/bin/sh
# build.sh TREE OUT: all of LibSass as one translation unit without optimisation; its headers are heavy.
set -eu
task=$(cd "$(dirname "$0")" && pwd)
tree=$1 out=$2
: "${CC:=gcc}" "${CXX:=g++}"
(cd "$tree" && ls src/*.cpp src/memory/*.cpp) | sed 's/.*/#include "&"/' >"$out/all.cc"
# shellcheck disable=SC2086 # CFLAGS is a list of words
{
  for file in "$tree"/src/*.c; do $CC $CFLAGS -w -I"$tree/include" -c "$file" -o "$out/$(basename "$file" .c).o"; done
  $CXX $CFLAGS -std=c++11 -w -DLIBSASS_VERSION='"3.5"' -I"$tree" -I"$tree/src" -I"$tree/include" \
    "$task/harness.cc" "$out/all.cc" "$out"/*.o -o "$out/harness"
}
