#!/bin/sh
# pov.sh TREE OUT INPUT: one input, or a folder of them, through Jazzer, without instrumentation (it starts in 1 s, not 5).
# What Jazzer prints of addresses, times and paths is left out, so that two runs of one input print the same.
set -eu
scratch=$(mktemp -d "${WORK:-/tmp}/pov.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
tree=$1 out=$2 input=$3
set -- "$input"
[ ! -d "$input" ] || set -- "$input"/*
status=0
java -Xmx1g -Xshare:auto -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Djava.io.tmpdir="$scratch" -Duser.home="$HOME" \
  -cp "$tree/target/jazzer/*:$out/fuzz:$tree/target/classes:$tree/target/lib/*" com.code_intelligence.jazzer.Jazzer \
  --target_class=EntryNameFuzzer --hooks=false --reproducer_path="$scratch" -artifact_prefix="$scratch/" -seed=1 -timeout=10 \
  -rss_limit_mb=4096 "$@" >"$scratch/log" 2>&1 || status=$?
sed -e '/^INFO: found LLVMFuzzerCustomMutator/d' -e '/^Executed .* ms$/d' -e '/^reproducer_path=/d' "$scratch/log"
exit $status
