#!/bin/sh
# status.sh [--] SERVICE: stands for the script that asks whether a service is up.
set -eu
if [ "${1-}" = -- ]; then shift; fi
if [ $# -ne 1 ]; then echo "usage: status.sh SERVICE" >&2; exit 2; fi
log=${OPS_LOG:-$(dirname "$0")/ops.log}
echo "status $*" >> "$log"
echo "$1 is up, for 12 days."
