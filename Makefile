# `make demo` repairs a real bug; `make test` checks everything. Both set up what they need first (scripts/setup.sh).
MAKEFLAGS += --no-print-directory
CARGO ?= cargo

.PHONY: demo test soak bench judge-bench fmt setup examples image clean

# A development build: it is ready in half the time, and a repair waits for the model and the build, not for us.
demo:
	@scripts/setup.sh demo
	$(CARGO) run --locked --package patchwright -- run examples/bzip2-selectors

# The property tests draw the same cases each time, so that a pass is a pass everywhere; `make soak` draws new ones.
test: export PROPTEST_RNG_SEED = 20
test: setup
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	$(CARGO) test --workspace --locked
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked
	@scripts/check-image.sh

# The same tests with the full counts: hundreds of kills, long fuzzing.
soak: setup
	PATCHWRIGHT_SOAK=1 PROPTEST_CASES=20000 $(CARGO) test --workspace --locked --release
	$(CARGO) test --package patchwright-patcher --locked --release --features soak --test soak

bench: setup
	$(CARGO) bench --package patchwright-retrieval --locked --bench index -- $$(scripts/bench-trees.sh target/bench-trees)

# Known patches, right and wrong, before the ladder: which are refused, and by which rung. Takes an hour; CASES="a b" takes some.
judge-bench: setup
	PATCHWRIGHT_JUDGE="$(or $(CASES),all)" $(CARGO) test --package patchwright-tests --locked --test it -- judged:: --nocapture

# Every example by hand: fetched, built, crashed, tested. No model, no sandbox.
examples: setup
	@scripts/check-examples.sh

image:
	@scripts/check-image.sh

fmt:
	$(CARGO) fmt --all

setup:
	@scripts/setup.sh test

clean:
	$(CARGO) clean
