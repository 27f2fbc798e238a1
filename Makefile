# `make demo` repairs a real bug, `make check` is quick and offline, `make test` checks everything. `demo` and `test`
# install what they need first (scripts/setup.sh).
MAKEFLAGS += --no-print-directory
CARGO ?= cargo
HOUSE = --package patchwright-tests --test it -- house::

.PHONY: demo check test deny soak bench judge-bench fmt setup examples image dist install clean

# A development build without the daemon: it is ready in half the time, and a repair waits for the model and the build, not
# for us.
DEMO = --package patchwright --no-default-features

demo:
	@scripts/setup.sh demo
	$(CARGO) run --locked $(DEMO) -- run examples/bzip2-selectors

# The property tests draw the same cases each time, so that a pass is a pass everywhere; `make soak` draws new ones.
check test: export PROPTEST_RNG_SEED = 20

# Unit tests wait for programs and time limits more than they compute: four of them fit on two cores.
check: export RUST_TEST_THREADS ?= $(shell expr 2 \* $$(nproc))

# Unit tests that build programs with real toolchains and take minutes each: `make check` leaves them out (cargo counts
# them as filtered out), `make test` runs them.
MINUTES = cheat_tests toolchain_tests doubt_tests

# For every change: formatting, lints, unit tests, house rules. Needs no network and installs nothing.
check:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked --offline -- -D warnings
	$(CARGO) clippy $(DEMO) --locked --offline -- -D warnings
	$(CARGO) test --workspace --lib --bins --locked --offline -- $(MINUTES:%=--skip %)
	$(CARGO) test --locked --offline $(HOUSE)

test: setup
	$(CARGO) fmt --all --check
	@scripts/check-dependencies.sh
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	$(CARGO) clippy $(DEMO) --locked -- -D warnings
	@scripts/run-tests.sh
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked

# Licences, banned crates, sources and security advisories of the dependencies (deny.toml).
deny:
	@scripts/check-dependencies.sh

# The same tests with the full counts: hundreds of kills, ten minutes of fuzzing for each reader, peers that are large to
# install (LiteLLM), and the container image.
soak: setup
	PATCHWRIGHT_SOAK=1 PROPTEST_CASES=20000 $(CARGO) test --workspace --locked --profile bench
	PATCHWRIGHT_SOAK=1 $(CARGO) test --workspace --locked --profile bench --test it -- --ignored
	$(CARGO) test --package patchwright-patcher --locked --profile bench --features soak --test soak
	$(CARGO) test --package patchwright-tests --locked --profile bench --test fuzz -- --seconds 600
	@scripts/check-image.sh

bench: setup
	$(CARGO) bench --package patchwright-retrieval --locked --bench index -- $$(scripts/bench-trees.sh target/bench-trees)

# Judges known patches, right and wrong, and reports which are refused and by which rung. Takes an hour; CASES="a b"
# takes some of them. SET=DIR takes the cases of a folder of one's own, CASE/task.toml with
# CASE/patches/{right,wrong}-N.diff each, and continues where an earlier call stopped; SECONDS=N begins no patch after
# that time, SAMPLE=N takes N right and N wrong patches of each case, and OPTIONS="--model=NAME" are options of
# `patchwright judge`.
judge-bench: setup
ifdef SET
	$(CARGO) bench --package patchwright-tests --locked --bench judge --profile dev -- $(abspath $(SET)) $(CASES) $(if $(SECONDS),--seconds=$(SECONDS)) $(if $(SAMPLE),--sample=$(SAMPLE)) $(OPTIONS)
else
	PATCHWRIGHT_JUDGE="$(or $(CASES),all)" $(CARGO) test --package patchwright-tests --locked --test it -- judged:: --nocapture
endif

# Fetches, builds, crashes and tests every example by plain shell: no model, no sandbox.
examples: setup
	@scripts/check-examples.sh

image:
	@scripts/check-image.sh

# What a release consists of: the program, its licences, an SBOM and checksums, in target/dist.
dist:
	@scripts/make-release.sh

# The release build with its manual pages and completions, below PREFIX (and DESTDIR).
PREFIX ?= /usr/local
install:
	$(CARGO) build --release --locked --package patchwright
	install -D -m 755 target/release/patchwright $(DESTDIR)$(PREFIX)/bin/patchwright
	target/release/patchwright man $(DESTDIR)$(PREFIX)/share/man/man1
	install -d $(DESTDIR)$(PREFIX)/share/bash-completion/completions $(DESTDIR)$(PREFIX)/share/zsh/site-functions $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
	target/release/patchwright completions bash >$(DESTDIR)$(PREFIX)/share/bash-completion/completions/patchwright
	target/release/patchwright completions zsh >$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_patchwright
	target/release/patchwright completions fish >$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/patchwright.fish

fmt:
	$(CARGO) fmt --all

setup:
	@scripts/setup.sh test

clean:
	$(CARGO) clean
