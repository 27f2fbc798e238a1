#!/bin/sh
# run-tests.sh: runs every test of the workspace and prints the ten slowest at the end.
#
# The times come from the test harness, which tells them only where unstable options are allowed. They are allowed while
# tests run, not while anything is compiled.
set -eu
cd "$(dirname "$0")/.."
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# The program is built together with the tests, so that both share their dependencies; a test that runs it alone builds it
# by itself.
cargo build --workspace --lib --bins --tests --locked
PATCHWRIGHT_UNDER_TEST=$(realpath "${CARGO_TARGET_DIR:-target}")/debug/patchwright
export PATCHWRIGHT_UNDER_TEST

# Tests make many small files, which a disk takes longer for than memory. Memory serves where nothing else is asked for,
# enough of it is free, and programs may run there.
probe=$(mktemp /dev/shm/patchwright-XXXXXX 2>/dev/null) || probe=
room=$(df --output=avail --block-size=G /dev/shm 2>/dev/null | tr -dc 0-9) || room=
free=$(sed -n 's/^MemAvailable: *\([0-9]*\).*/\1/p' /proc/meminfo)
if [ -z "${TMPDIR-}" ] && [ "${room:-0}" -ge 8 ] && [ "$free" -ge 16000000 ] &&
  cp /bin/true "$probe" && chmod u+x "$probe" && "$probe"; then
  export TMPDIR=/dev/shm
fi
[ -z "$probe" ] || rm "$probe"

triple=$(rustc -vV | sed -n 's/^host: //p' | tr 'a-z-' 'A-Z_')
status=0
{
  env "CARGO_TARGET_${triple}_RUNNER=env RUSTC_BOOTSTRAP=1" \
    cargo test --workspace --lib --bins --tests --locked --no-fail-fast -- -Zunstable-options --report-time 2>&1 ||
    echo "tests failed: cargo test ended with $?"
  cargo test --workspace --doc --locked 2>&1 || echo "tests failed: cargo test --doc ended with $?"
} | tee "$log"
grep -q '^tests failed: ' "$log" && status=1

echo
echo "the slowest tests:"
sed -n 's/^test \(.*\) \.\.\. .* <\([0-9.]*\)s>$/\2 s  \1/p' "$log" | sort -rn | head -n 10
exit "$status"
