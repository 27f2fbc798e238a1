# Sets up what the base images of OSS-Fuzz expect, in folders that a command may write to: the root of its container is
# read-only, and what is below $HOME lasts from the build to the tests. The commands of task.toml read this file.
SRC=$HOME/src WORK=$HOME/work
# `compile` puts a copy of libFuzzer there.
LIB_FUZZING_ENGINE_DEPRECATED=$WORK/libFuzzingEngine.a
if [ ! -e "$HOME"/bin/sysctl ]; then
  mkdir -p "$SRC" "$WORK" "$HOME"/bin
  for entry in /src/* /src/.[!.]*; do
    case $entry in
    "$TREE") ;;
    # The other fuzzing engines of the base image. A build for libFuzzer does not write to them.
    /src/aflplusplus | /src/honggfuzz) ln -s "$entry" "$SRC"/ ;;
    *) [ ! -e "$entry" ] || cp -R "$entry" "$SRC"/ ;;
    esac
  done
  place=$SRC/${TREE#/src/}
  mkdir -p "$(dirname "$place")"
  rm -rf "$place"
  ln -s "$TREE" "$place"
  # Some revisions of `compile` lower the kernel's address randomization, for which there is no privilege here.
  printf '#!/bin/sh\n' >"$HOME"/bin/sysctl
  chmod +x "$HOME"/bin/sysctl
fi
PATH=$HOME/bin:$PATH
export SRC WORK LIB_FUZZING_ENGINE_DEPRECATED PATH
