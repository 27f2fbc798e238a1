#!/bin/sh
# make-release.sh: builds a release of the committed state into target/dist: an archive with the program and its licences,
# an SBOM (CycloneDX), and SHA-256 checksums of both. docs/releasing.md lists the steps around it. The program is linked
# statically, for TARGET (by default this machine's), and has to start where there is nothing but itself.
set -eu
cd "$(dirname "$0")/.."
sbom_version=0.5.9 # of cargo-cyclonedx

fail() {
  echo "make-release: error: $*" >&2
  exit 1
}

[ -z "$(git status --porcelain)" ] || fail "the work tree has changes that are not committed"
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
target=${TARGET:-$(rustc -vV | sed -n 's/^host: //p')}
profile=${PROFILE:-release} # a faster one tries this script
name=patchwright-$version-$target
cargo_home=${CARGO_HOME:-$HOME/.cargo}
dist=target/dist
# The same commit gives the same bytes: no path and no time of this machine.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
RUSTFLAGS="${RUSTFLAGS:-} -C target-feature=+crt-static --remap-path-prefix=$PWD=/patchwright --remap-path-prefix=$cargo_home=/cargo"
export SOURCE_DATE_EPOCH RUSTFLAGS

# licences: prints the licence texts of every crate that is linked in.
licences() {
  cargo tree --locked --package patchwright --edges normal --prefix none --format '{p}' |
    awk '!/\(\// { sub("^v", "", $2); print $1 "-" $2 }' | sort -u | while read -r crate; do
    for file in "$cargo_home"/registry/src/*/"$crate"/*; do
      case ${file##*/} in
      LICEN[CS]E* | COPYING* | NOTICE* | UNLICENSE*)
        [ -f "$file" ] || continue
        printf '==== %s: %s\n\n' "$crate" "${file##*/}"
        cat "$file"
        echo
        ;;
      esac
    done
  done
}

# sbom: writes the SBOM of the program. The tool writes one beside each package that has a program.
sbom() {
  cargo cyclonedx --version >/dev/null 2>&1 ||
    CARGO_PROFILE_DEV_DEBUG=0 RUSTFLAGS="" cargo install --quiet --locked --debug cargo-cyclonedx@"$sbom_version"
  cargo cyclonedx --quiet --format json --spec-version 1.5 --describe binaries
  sed "s|file://$PWD|file:///patchwright|g" ./*/patchwright_bin.cdx.json >"$dist/$name.cdx.json"
  rm -f ./*/*_bin.cdx.json
}

# starts_alone PROGRAM: starts it in an empty folder as the root of the file system, where bubblewrap is.
starts_alone() {
  if ! command -v bwrap >/dev/null; then
    echo "##### SKIPPED: bubblewrap is missing: that $1 starts alone was NOT tried" >&2
    return 0
  fi
  bwrap --unshare-all --ro-bind "$1" /patchwright /patchwright --version
}

rm -rf "$dist"
mkdir -p "$dist/$name"
cargo build --profile "$profile" --locked --package patchwright --target "$target"
built=${CARGO_TARGET_DIR:-target}/$target/$([ "$profile" = dev ] && echo debug || echo "$profile")/patchwright
starts_alone "$built" || fail "the program does not start without the libraries of this machine"
cp "$built" README.md CHANGELOG.md SECURITY.md LICENSE-MIT LICENSE-APACHE "$dist/$name/"
cp -r skills "$dist/$name/"
licences >"$dist/$name/THIRD-PARTY-LICENSES.txt"
sbom
tar -C "$dist" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -cf - "$name" |
  gzip -n -9 >"$dist/$name.tar.gz"
rm -rf "${dist:?}/$name"
(cd "$dist" && sha256sum "$name.tar.gz" "$name.cdx.json" >SHA256SUMS)
ls -l "$dist"
