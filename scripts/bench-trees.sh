#!/bin/sh
# bench-trees.sh DEST: fetches the trees for the benchmark of the index, once: OpenSSL, more than a million lines of C from
# three crates together, gRPC (C and C++) as published for Python, a large Java library, and ast-grep for comparison.
# Prints the trees, one a line.
# bench-trees.sh DEST definitions: fetches the trees of the benchmark `definitions` instead.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
dest=$(cd "$1" && pwd)

crates() {
  [ -d "$dest/million" ] && return
  scratch=$(mktemp -d "$dest/fetch.XXXXXX")
  mkdir "$scratch/src" && : >"$scratch/src/lib.rs"
  cat >"$scratch/Cargo.toml" <<'TOML'
[package]
name = "fetch"
version = "0.0.0"
[workspace]
[dependencies]
openssl-src = "=300.0.9"
aws-lc-sys = "=0.47.0"
libsqlite3-sys = "=0.37.0"
TOML
  (cd "$scratch" && cargo vendor --quiet vendor >/dev/null)
  rm -rf "$dest/openssl"
  cp -R "$scratch/vendor/openssl-src/openssl" "$dest/openssl"
  mkdir "$scratch/million"
  cp -R "$scratch/vendor/openssl-src/openssl" "$scratch/vendor/aws-lc-sys/aws-lc" "$scratch/million/"
  cp -R "$scratch/vendor/libsqlite3-sys/sqlite3" "$scratch/million/sqlite3"
  mv "$scratch/million" "$dest/million"
  rm -rf "$scratch"
}

java() {
  [ -d "$dest/java" ] && return
  scratch=$(mktemp -d "$dest/fetch.XXXXXX")
  "$root/examples/jsoup-adoption/maven.sh" org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy \
    -Dartifact=org.hibernate.orm:hibernate-core:6.6.1.Final:jar:sources -DoutputDirectory="$scratch" >&2
  mkdir "$scratch/java"
  (cd "$scratch/java" && jar xf ../*-sources.jar)
  mv "$scratch/java" "$dest/java"
  rm -rf "$scratch"
}

tools() {
  [ -x "$dest/tools/bin/ast-grep" ] && return
  python3 -m venv "$dest/tools" && "$dest/tools/bin/pip" install --quiet ast-grep-cli >&2
}

grpc() {
  [ -d "$dest/grpc" ] && return
  scratch=$(mktemp -d "$dest/fetch.XXXXXX")
  "$dest/tools/bin/pip" download --quiet --no-deps --no-binary grpcio --dest "$scratch" grpcio==1.76.0 >&2
  tar -C "$scratch" -xzf "$scratch/grpcio-1.76.0.tar.gz"
  mv "$scratch/grpcio-1.76.0" "$dest/grpc"
  rm -rf "$scratch"
}

definitions() {
  grep -v '^#' "$root/retrieval/benches/definitions/trees.txt" | while read -r name kind package version; do
    if [ ! -d "$dest/$name" ]; then
      "$root/retrieval/benches/quality/fetch.sh" "$kind" "$package" "$version" "$dest/fetch" </dev/null >&2 &&
        mv "$dest/fetch" "$dest/$name" || rm -rf "$dest/fetch"
    fi
    if [ -d "$dest/$name" ]; then echo "$dest/$name"; fi
  done
}

if [ "${2:-}" = definitions ]; then
  definitions
  exit
fi
crates
java || echo "no Java tree: Maven and the network are needed" >&2
tools || echo "no ast-grep to compare with: Python and the network are needed" >&2
grpc || echo "no gRPC tree: Python and the network are needed" >&2
for tree in openssl million grpc java; do
  if [ -d "$dest/$tree" ]; then echo "$dest/$tree"; fi
done
