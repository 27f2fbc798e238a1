#!/bin/sh
# fetch.sh KIND NAME VERSION DEST: a published source tree, by the package manager's own client.
#   cargo NAME VERSION        a crate
#   wheel NAME VERSION        a Python package as it is installed
#   sdist NAME VERSION        a Python package's source distribution
#   git OWNER/NAME COMMIT     a commit of a public repository
#   here NAME -            a folder beside this file
#   maven GROUP:NAME VERSION  the sources of a Java library, below src/main/java
set -eu
kind=$1 name=$2 version=$3
mkdir -p "$4"
dest=$(cd "$4" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() {
  echo "fetch.sh: $kind $name $version cannot be fetched: $*" >&2
  exit 1
}

crate() {
  for kept in "${CARGO_HOME:-$HOME/.cargo}"/registry/cache/*/"$name-$version.crate"; do
    [ -f "$kept" ] && cp "$kept" "$scratch/it.crate" && return
  done
  return 1
}

case $kind in
cargo)
  if ! crate; then
    mkdir "$scratch/src" && : >"$scratch/src/lib.rs"
    printf '[package]\nname = "fetch"\nversion = "0.0.0"\n[dependencies]\n%s = "=%s"\n[workspace]\n' "$name" "$version" \
      >"$scratch/Cargo.toml"
    cargo fetch --quiet --manifest-path "$scratch/Cargo.toml" || fail "see above"
    crate || fail "it is not in cargo's cache"
  fi
  tar -xzf "$scratch/it.crate" -C "$dest" --strip-components=1
  ;;
wheel)
  pip download -q --disable-pip-version-check --no-deps --only-binary :all: -d "$scratch" "$name==$version" || fail "see above"
  unzip -q "$scratch"/*.whl -d "$dest"
  ;;
sdist)
  pip download -q --disable-pip-version-check --no-deps --no-binary :all: -d "$scratch" "$name==$version" || fail "see above"
  tar -xzf "$scratch"/*.tar.gz -C "$dest" --strip-components=1
  ;;
maven)
  mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy -Dartifact="$name:$version:jar:sources" \
    -DoutputDirectory="$scratch" >"$scratch/log" 2>&1 || fail "$(tail -n 3 "$scratch/log")"
  mkdir -p "$dest/src/main/java"
  (cd "$dest/src/main/java" && unzip -q "$scratch"/*-sources.jar && rm -rf META-INF)
  ;;
git)
  git init -q "$scratch/it"
  cd "$scratch/it"
  git fetch -q --depth 1 "https://github.com/$name" "$version" || fail "see above"
  git archive FETCH_HEAD | tar -xf - -C "$dest"
  ;;
here) cp -R "$(dirname "$0")/$name/." "$dest/" ;;
*) fail "no such kind" ;;
esac
