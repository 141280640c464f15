#!/bin/sh
# status.sh [--] SERVICE: stands for the script that asks whether a service is up.
set -eu
if [ "${1-}" = -- ]; then shift; fi
log=${OPS_LOG:-$(dirname "$0")/ops.log}
echo "status $*" >> "$log"
echo "$1 is up, for 12 days."
