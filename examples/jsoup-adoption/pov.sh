#!/bin/sh
# pov.sh TREE OUT INPUT: one input, or a folder of them, through Jazzer, without instrumentation (it starts in 1 s, not 5).
set -eu
scratch=$(mktemp -d "${WORK:-/tmp}/pov.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
tree=$1 out=$2 input=$3
set -- "$input"
[ ! -d "$input" ] || set -- "$input"/*
java -Xmx1g -Xshare:auto -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Djava.io.tmpdir="$scratch" -Duser.home="$HOME" \
  -cp "$HOME/jazzer/*:$out/fuzz:$tree/target/classes" com.code_intelligence.jazzer.Jazzer --target_class=HtmlFuzzer --hooks=false \
  --reproducer_path="$scratch" -artifact_prefix="$scratch/" -seed=1 -timeout=10 -rss_limit_mb=4096 "$@"
