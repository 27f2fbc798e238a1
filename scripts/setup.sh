#!/bin/sh
# setup.sh demo|test: installs what `make demo` or `make test` needs and this machine lacks.
#
# Each tool is tried. Missing ones are installed with apt when this runs as root on Debian or Ubuntu; otherwise the exact
# command to type is printed and the script fails. When nothing is missing, the network is not used.
set -eu
LC_ALL=C
export LC_ALL
cd "$(dirname "$0")/.."
deny_version=0.20.2 # of cargo-deny, where none is installed

purpose=${1:-}
case $purpose in
demo | test) ;;
*)
  echo "usage: setup.sh demo|test" >&2
  exit 2
  ;;
esac

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
missing=""  # the missing tools, for people
packages="" # the packages that apt installs

say() { echo "setup: $*"; }
fail() {
  echo "setup: error: $*" >&2
  exit 1
}

need() { # need NAME PACKAGES TRY..: when the command TRY fails, NAME is missing and PACKAGES contain it
  name=$1 brings=$2
  shift 2
  if "$@" >"$scratch/log" 2>&1; then
    say "ok: $name"
  else
    say "missing: $name"
    missing="$missing$name, "
    packages="$packages $brings"
  fi
}

sanitizes() { # sanitizes COMPILER LANGUAGE FLAGS..: compiles, links and runs a program under a sanitizer
  compiler=$1 language=$2
  shift 2
  case " $* " in
  *fuzzer*) echo 'extern "C" int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { return 0; }' ;;
  *) echo 'int main(void) { return 0; }' ;;
  esac >"$scratch/try.$language"
  "$compiler" "$@" -o "$scratch/try" "$scratch/try.$language" && ASAN_OPTIONS=detect_leaks=0 "$scratch/try" -runs=1
}
mails() { [ -x "$(git --exec-path)/git-send-email" ] && perl -MMail::Address -e 1; }
browser() { command -v chromium && command -v chromedriver; }
# crun, Podman's own choice, refuses control groups of the older kind; runc takes both.
containers() { command -v podman && { [ -f /sys/fs/cgroup/cgroup.controllers ] || command -v runc; }; }
postgresql() { ls /usr/lib/postgresql/*/bin/initdb; }
java_17() { command -v jar && javac -version 2>&1 | awk '{ split($2, v, "."); exit !(v[1] >= 17) }'; }

check() {
  missing="" packages=""
  need "make" "make" command -v make
  need "gcc with sanitizers" "gcc libc6-dev" sanitizes gcc c -fsanitize=address,undefined
  need "g++ with sanitizers" "g++ libc6-dev" sanitizes g++ cc -fsanitize=address,undefined
  need "bubblewrap" "bubblewrap" command -v bwrap
  need "gdb" "gdb" command -v gdb
  need "curl" "curl ca-certificates" command -v curl
  [ "$purpose" = test ] || return 0
  need "git" "git" command -v git
  need "git send-email" "git-email libmailtools-perl" mails
  need "gh" "gh" command -v gh
  need "clang with sanitizers and libFuzzer" "clang llvm $(clang_runtime)" sanitizes clang++ cc -fsanitize=fuzzer,address
  need "Valgrind" "valgrind libc6-dbg" valgrind --quiet true
  need "llvm-symbolizer" "llvm" command -v llvm-symbolizer
  need "a JDK, 17 or later" "$(jdk)" java_17
  need "CMake" "cmake" command -v cmake
  need "Ninja" "ninja-build" command -v ninja
  need "Autoconf" "autoconf" command -v autoreconf
  need "Automake" "automake" command -v automake
  need "Maven" "maven" command -v mvn
  need "Podman and its runtime" "podman runc" containers
  need "PostgreSQL's server" "postgresql" postgresql
  need "Chromium and its driver" "chromium chromium-driver" browser
  need "npm" "npm" command -v npm
  need "systemd-analyze" "systemd" command -v systemd-analyze
}

# Newer releases have clang's runtime libraries in a separate package.
clang_runtime() {
  version=$(apt-cache depends clang 2>/dev/null | sed -n 's/.*Depends: clang-\([0-9][0-9]*\).*/\1/p' | head -n 1)
  if [ -n "$version" ] && [ -n "$(apt-cache madison "libclang-rt-$version-dev" 2>/dev/null)" ]; then
    echo "libclang-rt-$version-dev"
  fi
}

# Releases have either JDK 17 or a default that is newer.
jdk() {
  if [ -n "$(apt-cache madison openjdk-17-jdk-headless 2>/dev/null)" ]; then
    echo openjdk-17-jdk-headless
  else
    echo default-jdk-headless
  fi
}

rust() {
  command -v cargo >/dev/null || fail "cargo is missing; install Rust from https://rustup.rs and start again"
  version=$(rustc --version 2>"$scratch/log" | awk '{ print $2 }')
  [ -n "$version" ] || {
    cat "$scratch/log" >&2
    fail "rustc does not start. rust-toolchain.toml names a toolchain: 'rustup toolchain install' installs it, and RUSTUP_TOOLCHAIN=stable uses your own"
  }
  least=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
  printf '%s\n%s\n' "$least" "$version" | sort -C -V ||
    fail "rustc $version is too old; $least or later is needed: rustup update"
  say "ok: Rust $version"
  [ "$purpose" = test ] || return 0
  for component in rustfmt clippy; do
    case $component in clippy) try=cargo-clippy ;; *) try=$component ;; esac
    "$try" --version >/dev/null 2>&1 && continue
    command -v rustup >/dev/null || fail "$component is missing; install it with your Rust toolchain"
    say "installing $component"
    rustup component add "$component" || fail "rustup component add $component failed"
  done
  cargo_deny
}

# Built without optimisation: that takes 80 s of processor time, and it runs for seconds.
cargo_deny() {
  if cargo deny --version >/dev/null 2>&1; then
    say "ok: cargo-deny"
    return 0
  fi
  say "installing cargo-deny"
  CARGO_PROFILE_DEV_DEBUG=0 cargo install --quiet --locked --debug cargo-deny@"$deny_version" ||
    fail "cargo install cargo-deny@$deny_version failed"
  cargo deny --version >/dev/null 2>&1 || fail "cargo-deny was installed to a folder that is not in PATH: ~/.cargo/bin"
}

install() {
  # shellcheck disable=SC2086 # a list of words
  packages=$(printf '%s\n' $packages | sort -u | tr '\n' ' ')
  command -v apt-get >/dev/null ||
    fail "missing: ${missing%, }. apt-get is not here; install these by hand (Debian's names: $packages) and start again"
  if [ "$(id -u)" != 0 ]; then
    echo "setup: error: missing: ${missing%, }. Type this, then start again:" >&2
    echo "  sudo apt-get update && sudo apt-get install -y --no-install-recommends $packages" >&2
    exit 1
  fi
  say "installing with apt: $packages"
  # shellcheck disable=SC2086 # a list of words
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages >"$scratch/apt.log" 2>&1 || {
    cat "$scratch/apt.log" >&2
    fail "apt-get install failed; see its output above"
  }
}

update() { # updates the package lists before they are used
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 0
  say "updating apt's package lists"
  apt-get update -qq >"$scratch/apt.log" 2>&1 || {
    cat "$scratch/apt.log" >&2
    fail "apt-get update failed; see its output above"
  }
}

rust
check
[ -n "$missing" ] || exit 0
update
check >/dev/null # again: now apt knows the names of its packages
install
check
[ -z "$missing" ] || fail "still missing after the installation: ${missing%, }"
