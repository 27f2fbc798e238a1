#!/bin/sh
# build.sh TREE OUT: the project's classes in TREE/target, the harness in OUT. Offline.
set -eu
task=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$2/fuzz"
"$task/maven.sh" --offline -f "$1/pom.xml" test-compile
class=$2/fuzz/HtmlFuzzer.class
if [ ! -f "$class" ] || [ -n "$(find "$task/fuzz/HtmlFuzzer.java" -newer "$class")" ]; then
  javac -nowarn -cp "$1/target/classes" -d "$2/fuzz" "$task/fuzz/HtmlFuzzer.java"
fi
