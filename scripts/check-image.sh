#!/bin/sh
# check-image.sh [EXAMPLE]...: builds the images of the Dockerfile, reads their bill of materials, and repairs the examples in
# the full one, as root and as its user: each has to end as it does outside.
#
# Needs Podman or Docker; without one it is skipped, loudly. Where the base image cannot be pulled, root makes it from Debian
# packages with debootstrap. The program is built outside the image, so that no Rust image is needed; BINARY=FILE takes another.
set -eu
cd "$(dirname "$0")/.."
base=debian:bookworm-slim
[ $# -gt 0 ] || set -- bzip2-selectors lua-getlocal
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

skip() {
  echo "##### SKIPPED: the image was NOT built and NOT run: $*" >&2
  exit 0
}
fail() {
  echo "check-image: error: $*" >&2
  exit 1
}

engine=""
for candidate in podman docker; do
  if command -v "$candidate" >/dev/null && "$candidate" info >/dev/null 2>&1; then
    engine=$candidate
    break
  fi
done
[ -n "$engine" ] || skip "neither Podman nor Docker works here"

# Podman needs another runtime and no isolation while building where control groups are hybrid or nested.
build_options="" run_options="" open_proc=""
if [ "$engine" = podman ]; then
  build_options="--isolation chroot --network host"
  run_options="--ulimit nofile=4096:4096 --ulimit nproc=4096:4096 --network host"
  open_proc="--security-opt unmask=ALL"
  ! command -v runc >/dev/null || run_options="--runtime runc $run_options"
else
  open_proc="--security-opt systempaths=unconfined"
fi

# A proxy of this network may have its own certificate.
[ ! -f /etc/ssl/certs/ca-certificates.crt ] || run_options="$run_options -v /etc/ssl/certs:/etc/ssl/certs:ro"

if ! "$engine" image inspect "$base" >/dev/null 2>&1 && ! "$engine" pull -q "$base" >"$scratch/pull.log" 2>&1; then
  base=localhost/debian:bookworm-slim
  if ! "$engine" image inspect "$base" >/dev/null 2>&1; then
    if ! command -v debootstrap >/dev/null || [ "$(id -u)" != 0 ]; then
      skip "$base cannot be pulled, and only root with debootstrap can make it: $(tail -n 1 "$scratch/pull.log")"
    fi
    echo "check-image: making $base with debootstrap"
    debootstrap --variant=minbase bookworm "$scratch/root" >"$scratch/debootstrap.log" 2>&1 ||
      skip "debootstrap failed: $(tail -n 1 "$scratch/debootstrap.log")"
    # As in Debian's own slim images: no documentation, neither now nor of packages that come later.
    printf 'path-exclude /usr/share/%s/*\n' doc info locale man >"$scratch/root/etc/dpkg/dpkg.cfg.d/slim"
    for folder in share/doc share/info share/locale share/man; do
      find "$scratch/root/usr/$folder" -mindepth 1 -delete 2>/dev/null || true
    done
    rm -rf "$scratch/root/var/lib/apt/lists" "$scratch/root/var/cache/apt" "$scratch/root/var/log"/*
    tar -C "$scratch/root" -c . | "$engine" import - "$base" >/dev/null
    rm -rf "$scratch/root"
  fi
fi

if [ -z "${BINARY-}" ]; then
  cargo build --quiet --locked --package patchwright
  BINARY=target/debug/patchwright
fi
mkdir -p "$scratch/context/dist" "$scratch/context/scripts"
cp scripts/repair-crashes.sh scripts/sbom.sh "$scratch/context/scripts/"
cp Dockerfile Cargo.lock "$scratch/context/"
cp "$BINARY" "$scratch/context/dist/patchwright"

# build TAG [OPTION]..: builds one of the images.
build() {
  tag=$1
  shift
  echo "check-image: building $tag with $engine on $base"
  # shellcheck disable=SC2086 # lists of words
  "$engine" build $build_options --build-arg BASE="$base" --build-arg RUST="$base" "$@" -t "$tag" "$scratch/context" \
    >"$scratch/build.log" 2>&1 || {
    tail -n 30 "$scratch/build.log"
    fail "$tag does not build"
  }
  echo "check-image: $tag has $("$engine" image inspect --format '{{.Size}}' "$tag" | head -n 1) bytes"
}

# within WORD..: runs a command in the full image, in a container without privileges.
within() {
  # shellcheck disable=SC2086
  "$engine" run --rm $run_options "$@"
}

build patchwright:check-slim --target slim
build patchwright:check

# The bill names our crates and the packages of the image, those of the last stage too.
within --entrypoint cat patchwright:check /usr/share/patchwright/sbom.cdx.json >"$scratch/sbom.json"
for part in '"CycloneDX"' '"pkg:cargo/patchwright@' '"pkg:deb/debian/bubblewrap@' '"pkg:deb/debian/gcc@'; do
  grep -qF "$part" "$scratch/sbom.json" || fail "the bill of materials has no $part"
done

# A container as engines make it by default: bubblewrap may not mount /proc there, and `check` has to say what is left open.
within patchwright:check check >"$scratch/check.log" 2>&1 || true
grep -qi 'leaves open\|left open' "$scratch/check.log" || {
  cat "$scratch/check.log"
  fail "patchwright check does not say what is left open"
}
grep -i -A 2 'leaves open\|left open' "$scratch/check.log" | head -n 6

# Each example ends in the image as it does outside.
for example in "$@"; do
  outside=0
  "$BINARY" --state "$scratch/state" run "examples/$example" --out "$scratch/out-$example" \
    >"$scratch/outside.log" 2>&1 || outside=$?
  for user in patchwright root; do
    status=0
    # shellcheck disable=SC2086
    within $open_proc --user "$user" -v "$PWD/examples/$example:/task:ro" patchwright:check run /task >"$scratch/run.log" 2>&1 || status=$?
    echo "check-image: $example as $user: exit code $status, outside $outside"
    if [ "$status" != "$outside" ]; then
      tail -n 20 "$scratch/run.log"
      fail "$example ended in the image as $user with exit code $status, outside with $outside"
    fi
  done
done

# The compose file, where something reads it.
for reader in "docker compose" podman-compose; do
  # shellcheck disable=SC2086
  if $reader version >/dev/null 2>&1; then
    PATCHWRIGHT_MODEL__NAME=m POSTGRES_PASSWORD=p $reader -f compose.yaml config >"$scratch/compose.log" 2>&1 || {
      cat "$scratch/compose.log"
      fail "$reader refuses compose.yaml"
    }
    echo "check-image: $reader accepts compose.yaml"
  fi
done
echo "check-image: ok"
