#!/bin/sh
# build.sh TREE OUT: the classes in TREE/target, the harness in OUT. Offline.
set -eu
"$(dirname "$0")/maven.sh" --offline -f "$1/pom.xml" -DskipTests package
mkdir -p "$1/target/lib" "$2/fuzz"
class=$2/fuzz/UnzipFuzzer.class
if [ ! -f "$class" ] || [ -n "$(find "$1/fuzz/UnzipFuzzer.java" -newer "$class")" ]; then
  javac -nowarn -cp "$1/target/classes:$1/target/lib/*:$1/target/jazzer/*" -d "$2/fuzz" "$1/fuzz/UnzipFuzzer.java"
fi
