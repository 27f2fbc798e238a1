#!/bin/sh
# check-examples.sh [EXAMPLE..]: fetches and builds each example by plain shell, and checks that its PoVs crash, its tests
# pass and its harmless inputs are harmless. It works in a temporary folder, which it removes.
set -eu
cd "$(dirname "$0")/../examples"
[ $# -gt 0 ] || set -- */
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cargo_home=${CARGO_HOME:-$HOME/.cargo}
rustup_home=${RUSTUP_HOME:-$HOME/.rustup}

# A value of task.toml: `"text"`, `'text'`; all of them, one a line.
values() { sed -n "s/^$1 = \\(.\\)\\(.*\\)\\1\$/\\2/p" "$TASK/task.toml"; }
command_of() { values "$1" | head -n 1; }
builds() { sed -n "/^\\[builds\\.address\\]/,/^\$/s/^\\([A-Z]*\\) = \\(\".*\"\\)\$/export \\1=\\2/p" "$TASK/task.toml"; }
crashed() { grep -qE 'runtime error|Sanitizer|Java Exception' "$scratch/log"; }
run() { (cd "$TREE" && sh -eu -c "$1") >"$scratch/log" 2>&1; }
fail() {
  tail -n 20 "$scratch/log"
  echo "$name: $*" >&2
  exit 1
}

for name in "$@"; do
  name=${name%/}
  [ -f "$name/task.toml" ] || continue
  TASK=$PWD/$name
  TREE=$scratch/$name/tree OUT=$scratch/$name/out WORK=$scratch/$name/work HOME=$scratch/$name/home
  export TASK TREE OUT WORK HOME CARGO_HOME="$cargo_home" RUSTUP_HOME="$rustup_home"
  mkdir -p "$TREE" "$OUT" "$WORK" "$HOME"
  run "$(command_of fetch)" || fail "cannot be fetched"
  prepare=$(command_of prepare)
  [ -z "$prepare" ] || run "$prepare" || fail "cannot be prepared"
  (eval "$(builds)" && run "$(command_of build)") || fail "does not build"
  pov=$(command_of pov)
  for file in $(values file); do
    export POV="$TASK/$file"
    ! run "$pov" || fail "$file does not crash"
    crashed || fail "$file fails, but not by a crash"
  done
  for file in "$TASK"/corpus/*; do
    export POV="$file"
    run "$pov" || ! crashed || fail "$(basename "$file") is not harmless"
  done
  run "$(command_of test)" || fail "tests fail"
  echo "$name: ok"
  rm -rf "${scratch:?}/$name"
done
