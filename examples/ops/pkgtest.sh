#!/bin/sh
# pkgtest.sh [--] PACKAGE: stands for the script that runs a package's tests.
set -eu
if [ "${1-}" = -- ]; then shift; fi
log=${OPS_LOG:-$(dirname "$0")/ops.log}
echo "pkgtest $*" >> "$log"
echo "$1: 42 tests passed, 0 failed."
