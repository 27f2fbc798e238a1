#!/bin/sh
# check-dependencies.sh: checks the dependency graph by deny.toml: licences, banned crates, sources, security advisories.
#
# Advisories need RustSec's database, which Git fetches from GitHub. Where it cannot be fetched, a copy that was fetched
# earlier is used; without a copy the advisories are skipped, and this says so loudly.
set -eu
cd "$(dirname "$0")/.."
log=$(mktemp)
trap 'rm -f "$log"' EXIT

cargo deny --locked check bans licenses sources

if cargo deny --locked fetch db >"$log" 2>&1; then
  cargo deny --frozen check advisories
elif ls "${CARGO_HOME:-$HOME/.cargo}"/advisory-dbs/*/.git >/dev/null 2>&1; then
  echo "##### The advisory database cannot be fetched; using the copy of this machine" >&2
  cargo deny --frozen check advisories
else
  reason=$(grep -m 1 -E '^(fatal|error):' "$log" || tail -n 1 "$log")
  echo "##### SKIPPED: security advisories were NOT checked: $reason" >&2
fi
