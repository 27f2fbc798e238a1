#!/bin/sh
# Makes a program in $OUT of a harness of the tree, named by its path there, and of the driver beside this script where
# the harness has no main.
# It is linked with the libraries that the build left, else with its objects, else with the sources; those that have a
# main or a harness of their own are left out. Of objects that define the same, as those of two builds of one source, the
# first is taken. What is missing then is taken from sources beside the harness.
set -eu
name=$(basename "$1")
name=${name%.*}
folders=$(find "$TREE" -name .git -prune -o -type d -printf '-idirafter %p ')

# Compiles a source file.
compile() {
  case $1 in
  *.c) ${CC:-cc} ${CFLAGS-} -I"$OUT"/build $folders -c "$1" -o "$2" ;;
  *) ${CXX:-c++} ${CXXFLAGS-} -I"$OUT"/build $folders -c "$1" -o "$2" ;;
  esac
}

parts=$(find "$OUT" "$TREE" -name '*.a')
if [ -z "$parts" ]; then
  for object in $(find "$OUT" "$TREE" -name '*.o'); do
    nm "$object" | grep -qE ' T (main|LLVMFuzzerTestOneInput)$' || parts="$parts $object"
  done
fi
if [ -z "$parts" ]; then
  for source in $(find "$TREE" -name '*.c' -o -name '*.cc' -o -name '*.cpp' -o -name '*.cxx'); do
    grep -qE '\b(main|LLVMFuzzerTestOneInput) *\(' "$source" && continue
    object="$OUT"/part$(echo "$source" | tr -c 'A-Za-z0-9\n' -).o
    compile "$source" "$object"
    parts="$parts $object"
  done
fi
compile "$TREE/$1" "$OUT/$name".o
driver=
if ! nm "$OUT/$name".o | grep -q ' T main$'; then
  driver=$OUT/driver.o
  compile "$TASK"/standalone.c "$driver"
fi
# Links it, with more parts.
link() {
  ${CXX:-c++} ${CXXFLAGS-} "$OUT/$name".o $driver -Wl,-z,muldefs -Wl,--start-group $parts "$@" -Wl,--end-group \
    -lm -lpthread -ldl -o "$OUT/$name"
}

link 2>/dev/null && exit
rm -f "$OUT/$name".beside
: >"$OUT/$name".log
for source in $(find "$(dirname "$TREE/$1")" -maxdepth 1 -name '*.c' -o -name '*.cc' -o -name '*.cpp' -o -name '*.cxx'); do
  grep -qE '\b(main|LLVMFuzzerTestOneInput) *\(' "$source" && continue
  object="$OUT"/beside$(echo "$source" | tr -c 'A-Za-z0-9\n' -)
  compile "$source" "$object" 2>>"$OUT/$name".log && ar rc "$OUT/$name".beside "$object"
done
beside=$(find "$OUT" -maxdepth 1 -name "$name.beside")
link $beside 2>/dev/null && exit
cat "$OUT/$name".log >&2
link $beside
