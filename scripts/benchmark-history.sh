#!/bin/sh
# benchmark-history.sh [FILE]: runs the quick benchmarks and appends one line for each figure to FILE
# (docs/benchmark-history.csv): date, commit, load before the run, name, value, unit.
#
# Figures of different machines do not compare. Run it on a machine with nothing else running.
set -eu
cd "$(dirname "$0")/.."
file=${1:-docs/benchmark-history.csv}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
[ -s "$file" ] || echo "date,commit,load,name,value,unit" >"$file"

commit=$(git rev-parse --short HEAD)
[ -z "$(git status --porcelain)" ] || commit="$commit+"
load=$(cut -d ' ' -f 1 /proc/loadavg)

keep() { # keep NAME UNIT EXPRESSION: appends what sed's EXPRESSION prints of the log
  value=$(sed -n "$3" "$log" | head -n 1)
  if [ -z "$value" ]; then
    echo "benchmark-history: no figure for $1; the benchmark printed:" >&2
    cat "$log" >&2
    exit 1
  fi
  echo "$(date +%F),$commit,$load,$1,$value,$2" | tee -a "$file"
}

cargo bench --quiet --package patchwright-tests --locked --bench steps --profile dev >"$log"
keep "step of the loop, median" ms 's/^.*steps: \([0-9.]*\) ms a step (median).*$/\1/p'

# shellcheck disable=SC2046 # a list of folders
cargo bench --quiet --package patchwright-retrieval --locked --bench index -- --cold $(scripts/bench-trees.sh target/bench-trees | tr ' ' '\n' | grep openssl) >"$log"
keep "index of OpenSSL, cold" s 's/^ *cold *\([0-9.]*\) s.*$/\1/p'

lines=$(git ls-files '*.rs' | grep '/src/' | grep -v '^tests/' | xargs cat | grep -cvE '^[[:space:]]*(//.*)?$')
echo "$lines" >"$log"
keep "lines of Rust below src, unit tests included" lines 's/^\(.*\)$/\1/p'
