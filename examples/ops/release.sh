#!/bin/sh
# release.sh [--] VERSION CHANNEL: stands for the script that publishes a release.
set -eu
if [ "${1-}" = -- ]; then shift; fi
if [ $# -ne 2 ]; then echo "usage: release.sh VERSION CHANNEL" >&2; exit 2; fi
log=${OPS_LOG:-$(dirname "$0")/ops.log}
echo "release $*" >> "$log"
echo "Released $1 on the channel $2."
