# An image in which `patchwright run /task` works: the binary, and the compilers, debuggers and build tools that tasks in
# C, C++ and Java need.
#
#   podman build -t patchwright .
#   podman run --rm --security-opt unmask=ALL -v ./examples/bzip2-selectors:/task:ro patchwright run /task
#
# `unmask=ALL` (Docker: systempaths=unconfined) lets bubblewrap mount a fresh /proc; without it commands see the names of
# the container's processes, or Patchwright falls back to Landlock and says so. No privilege is needed: docs/sandbox.md.
#
# Debian's own Rust is too old, so the first stage is a Rust image. Where no registry can be reached, put a binary that
# was built outside into dist/patchwright and give both arguments the same base: scripts/check-image.sh does that.
ARG BASE=debian:bookworm-slim
ARG RUST=rust:1-bookworm

FROM ${RUST} AS build
WORKDIR /src
COPY . .
RUN if [ -x dist/patchwright ]; then \
      install -D dist/patchwright /out/patchwright; \
    else \
      cargo build --release --locked --package patchwright && install -D target/release/patchwright /out/patchwright; \
    fi

FROM ${BASE}
RUN apt-get update -qq \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
      bubblewrap ca-certificates clang cmake curl g++ gcc gdb git libc6-dev libclang-rt-14-dev llvm make maven \
      openjdk-17-jdk-headless pkg-config \
 && rm -rf /var/lib/apt/lists/*
RUN useradd --create-home --home-dir /var/lib/patchwright --uid 1000 patchwright
COPY --from=build /out/patchwright /usr/local/bin/patchwright
USER patchwright
ENV HOME=/var/lib/patchwright
WORKDIR /var/lib/patchwright
VOLUME /var/lib/patchwright
ENTRYPOINT ["patchwright"]
CMD ["--help"]
