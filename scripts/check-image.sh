#!/bin/sh
# check-image.sh: builds the image of the Dockerfile and repairs the first example in it.
#
# Needs Podman or Docker; without one it is skipped, loudly. Where the base image cannot be pulled, root makes it from Debian
# packages with debootstrap. The program is built outside the image, so that no Rust image is needed.
set -eu
cd "$(dirname "$0")/.."
base=debian:bookworm-slim
example=examples/bzip2-selectors
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
build_options="" run_options=""
if [ "$engine" = podman ]; then
  build_options="--isolation chroot --network host"
  run_options="--ulimit nofile=4096:4096 --ulimit nproc=4096:4096 --security-opt unmask=ALL --network host"
  ! command -v runc >/dev/null || run_options="--runtime runc $run_options"
else
  run_options="--security-opt systempaths=unconfined"
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
    tar -C "$scratch/root" -c . | "$engine" import - "$base" >/dev/null
    rm -rf "$scratch/root"
  fi
fi

cargo build --quiet --locked --package patchwright
mkdir -p "$scratch/context/dist" "$scratch/context/scripts"
cp scripts/repair-crashes.sh "$scratch/context/scripts/"
cp Dockerfile "$scratch/context/"
cp target/debug/patchwright "$scratch/context/dist/patchwright"

echo "check-image: building with $engine on $base"
# shellcheck disable=SC2086 # lists of words
"$engine" build $build_options --build-arg BASE="$base" --build-arg RUST="$base" -t patchwright:check "$scratch/context" \
  >"$scratch/build.log" 2>&1 || {
  tail -n 30 "$scratch/build.log"
  fail "the image does not build"
}

echo "check-image: repairing $example in it"
status=0
# shellcheck disable=SC2086
"$engine" run --rm $run_options -v "$PWD/$example:/task:ro" patchwright:check run /task >"$scratch/run.log" 2>&1 || status=$?
tail -n 20 "$scratch/run.log"
# 0: verified. 6: plausible, when a rung cannot be climbed in the image.
case $status in
0 | 6) echo "check-image: ok (exit code $status)" ;;
*) fail "patchwright run /task ended with exit code $status in the image" ;;
esac
