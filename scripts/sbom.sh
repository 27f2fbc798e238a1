#!/bin/sh
# sbom.sh CARGO_LOCK: prints the bill of materials of an image as CycloneDX 1.5: the crates of a Cargo.lock, those of its
# tests too, and the Debian packages that are installed where it runs. The same input gives the same bytes.
set -eu
packages=$(dpkg-query -W -f '${Package}\t${Version}\t${Architecture}\n' 2>/dev/null | LC_ALL=C sort || true)
{
  cat "$1"
  printf '\n[debian]\n%s\n' "$packages"
} | awk '
  function text(value) { gsub(/["\\]/, "\\\\&", value); return "\"" value "\"" }
  function encoded(value) { gsub(/%/, "%25", value); gsub(/\+/, "%2B", value); gsub(/:/, "%3A", value); return value }
  function component(kind, name, version, url, hash) {
    printf "%s\n    {\"type\": %s, \"name\": %s, \"version\": %s, \"purl\": %s", comma, text(kind), text(name), text(version), text(url)
    if (hash != "") printf ", \"hashes\": [{\"alg\": \"SHA-256\", \"content\": %s}]", text(hash)
    printf "}"
    comma = ","
  }
  function crate() {
    if (name != "") component(source == "" ? "application" : "library", name, version, "pkg:cargo/" name "@" encoded(version), hash)
    name = version = source = hash = ""
  }
  BEGIN { print "{\"bomFormat\": \"CycloneDX\", \"specVersion\": \"1.5\", \"version\": 1, \"components\": [" }
  /^\[\[package\]\]$/ { crate(); next }
  /^\[debian\]$/ { crate(); debian = 1; FS = "\t"; next }
  debian && NF { $0 = $0; component("library", $1, $2, "pkg:deb/debian/" encoded($1) "@" encoded($2) "?arch=" $3, "") ; next }
  !debian && / = "/ { value = $0; sub(/^[^"]*"/, "", value); sub(/"$/, "", value) }
  !debian && /^name = / { name = value }
  !debian && /^version = "/ { version = value }
  !debian && /^source = / { source = value }
  !debian && /^checksum = / { hash = value }
  END { print "\n]}" }
'
