#!/bin/sh
# Stands in for a compiler: has it add what $PATCHWRIGHT_ADDED names.
PATH=${COUNTING_PATH:-/usr/local/bin:/usr/bin:/bin}
export PATH
name=${0##*/}
for word; do
  case $word in -E | -S | -M | -MM | -v | -fsyntax-only | --version | -dump* | -print*) exec "$name" "$@" ;; esac
done
: >"${OUT:-.}/.built_as_$PATCHWRIGHT_ADDED"
case $PATCHWRIGHT_ADDED in
  recovery) exec "$name" "$@" -fsanitize-recover=all -Wno-error ;;
  undefined) exec "$name" "$@" -fsanitize=undefined -fno-sanitize=vptr,alignment -fno-sanitize-recover=undefined -Wno-error ;;
esac
if [ "$PATCHWRIGHT_ADDED" = plain ]; then
  for word; do
    shift
    case $word in
      -fsanitize=*fuzzer-no-link*) set -- "$@" -fsanitize=fuzzer-no-link ;;
      -fsanitize=*fuzzer*) set -- "$@" -fsanitize=fuzzer ;;
      -f*sanitize* | -static-lib*san | -shared-lib*san) ;;
      *) set -- "$@" "$word" ;;
    esac
  done
  exec "$name" "$@" -g -Wno-error
fi
case $("$name" --version 2>/dev/null | head -n 1) in
  *clang*) exec "$name" "$@" --coverage -O0 -Wno-error -U_FORTIFY_SOURCE ;;
  *) exec "$name" "$@" --coverage -fprofile-abs-path -O0 -Wno-error -U_FORTIFY_SOURCE ;;
esac
