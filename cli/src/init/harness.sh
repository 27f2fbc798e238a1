#!/bin/sh
# Makes a program in $OUT of a harness of the tree, named by its path there, and of the driver beside this script where
# the harness has no main.
# It is linked with the libraries that the build left, else with its objects, else with the sources; those that have a
# main or a harness of their own are left out. Of objects that define the same, as those of two builds of one source, the
# first is taken. What is missing then is taken from the libraries of the system that the build names, and from sources
# beside the harness.
set -eu
name=$(basename "$1")
name=${name%.*}
folders=$(find "$TREE" -name .git -prune -o -type d -printf '-idirafter %p ')

# Prints the sources that have no main and no harness of their own, where `find` is told to look.
sources() {
  find "$@" \( -name '*.c' -o -name '*.cc' -o -name '*.cpp' -o -name '*.cxx' \) \
    -exec grep -LE '\b(main|LLVMFuzzerTestOneInput) *\(' {} + || :
}

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
  for source in $(sources "$TREE"); do
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
    $system -lm -lpthread -ldl -o "$OUT/$name"
}

system=
link 2>/dev/null && exit
set -f
for library in $(find "$OUT" "$TREE" \( -name link.txt -o -name build.ninja -o -name Makefile \) -exec \
  grep -ohE '(^|[[:space:]=])(-fopenmp|-l[A-Za-z0-9_+.-]+|/usr/lib[^[:space:]]*/lib[A-Za-z0-9_+.-]*\.so)\b' {} + |
  tr -d '[:blank:]=' | grep -vE '^-l[a-z]*san$' | sort -u); do
  echo 'int main() { return 0; }' | ${CXX:-c++} ${CXXFLAGS-} -x c++ - -x none "$library" -o "$OUT/$name" 2>/dev/null &&
    system="$system $library"
done
set +f
[ -z "$system" ] || ! link 2>/dev/null || exit 0
beside=$OUT/$name.beside
rm -f "$beside"
: >"$beside.log"
for source in $(sources "$(dirname "$TREE/$1")" -maxdepth 1); do
  object="$OUT"/beside$(echo "$source" | tr -c 'A-Za-z0-9\n' -)
  compile "$source" "$object" 2>>"$beside.log" && ar rc "$beside" "$object"
done
[ -e "$beside" ] || beside=
link $beside || {
  cat "$OUT/$name.beside.log" >&2
  exit 1
}
