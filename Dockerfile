# Two images of Patchwright:
#
#   slim      the program alone: serves the daemon, judges replies, runs tasks whose commands run in an image of their own
#   (default) the same with the compilers, debuggers and build tools that tasks in C, C++ and Java need
#
#   podman build -t patchwright .                     docker build -t patchwright .
#   podman build -t patchwright:slim --target slim .
#   podman run --rm --security-opt unmask=ALL -v "$PWD:/task" -e OPENAI_API_KEY patchwright run /task
#   podman run --rm -p 8080:8080 patchwright serve
#
# `unmask=ALL` (Docker: systempaths=unconfined) lets bubblewrap mount a fresh /proc; without it commands see the names of
# the container's processes, or Patchwright falls back to Landlock and says so. No privilege is needed: docs/containers.md.
#
# Debian's own Rust is too old, so the first stage is a Rust image. Where no registry can be reached, put a binary that
# was built outside into dist/patchwright and give both arguments the same base: scripts/check-image.sh does that.
ARG BASE=debian:bookworm-slim
ARG RUST=rust:1-bookworm

FROM ${RUST} AS build
WORKDIR /src
COPY . .
# The registry and the target folder outlive the build, so that a change of our code compiles our code alone.
RUN --mount=type=cache,target=/usr/local/cargo/registry --mount=type=cache,target=/src/target \
    if [ -x dist/patchwright ]; then \
      install -D dist/patchwright /out/patchwright; \
    else \
      cargo build --release --locked --package patchwright && install -D target/release/patchwright /out/patchwright; \
    fi

# What both images add to the system: the program with what belongs to it.
FROM scratch AS program
COPY --from=build /out/patchwright /usr/local/bin/patchwright
COPY scripts/repair-crashes.sh /usr/local/bin/repair-crashes
COPY Cargo.lock scripts/sbom.sh /usr/share/patchwright/

FROM ${BASE} AS system
LABEL org.opencontainers.image.title="Patchwright" \
      org.opencontainers.image.description="Repairs crashes on its own and proves the patches" \
      org.opencontainers.image.licenses="MIT OR Apache-2.0" \
      org.opencontainers.image.documentation="docs/containers.md"
RUN apt-get update -qq \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends bubblewrap ca-certificates \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt /var/log/apt /var/log/dpkg.log \
 && useradd --create-home --home-dir /var/lib/patchwright --uid 1000 patchwright
# Other machines reach the daemon, so it wants a token: the first lies in this file.
ENV HOME=/var/lib/patchwright \
    PATCHWRIGHT_HTTP__LISTEN=0.0.0.0:8080 \
    PATCHWRIGHT_HTTP__FIRST_TOKEN=/var/lib/patchwright/first-token
WORKDIR /var/lib/patchwright
VOLUME /var/lib/patchwright
EXPOSE 8080
# A container that runs something else than the daemon has nothing to be asked.
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
  CMD ["bash", "-c", "tr '\\0' ' ' </proc/1/cmdline | grep -q ' serve' || exit 0; exec 3<>/dev/tcp/127.0.0.1/8080; printf 'GET /healthz HTTP/1.0\\r\\nHost: localhost\\r\\n\\r\\n' >&3; grep -q '200 OK' <&3"]
ENTRYPOINT ["patchwright"]
CMD ["--help"]

# The tools come before the program, so that a change of our code installs none of them again.
FROM system AS tools
# A slim base has no folders of manuals, without which the JDK cannot be configured.
RUN mkdir -p /usr/share/man/man1 \
 && apt-get update -qq \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
      autoconf automake ccache clang cmake curl g++ gcc gdb git libc6-dev libclang-rt-14-dev libtool llvm make maven meson \
      ninja-build openjdk-17-jdk-headless patch perl pkg-config python3 unzip valgrind libc6-dbg xz-utils \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt /var/log/apt /var/log/dpkg.log

FROM system AS slim
COPY --from=program / /
# The bill of materials: crates and Debian packages, as CycloneDX.
RUN sh /usr/share/patchwright/sbom.sh /usr/share/patchwright/Cargo.lock >/usr/share/patchwright/sbom.cdx.json
USER patchwright

FROM tools AS full
COPY --from=program / /
RUN sh /usr/share/patchwright/sbom.sh /usr/share/patchwright/Cargo.lock >/usr/share/patchwright/sbom.cdx.json
USER patchwright
