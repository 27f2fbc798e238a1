#!/bin/bash
# Compiles the target as OSS-Fuzz does and hands over what the runner needs.
set -eu
compile
libCRS submit-build-output "$OUT" build
libCRS submit-build-output "$SRC" src
