#!/bin/sh
# reserve.sh [--projector] [--] ROOM DAY PEOPLE: stands for the script that reserves a meeting room.
set -eu
usage() { echo "usage: reserve.sh [--projector] ROOM DAY PEOPLE" >&2; exit 2; }
projector= given=
for argument in "$@"; do
  case $argument in
    --) ;;
    --projector) projector=" projector" ;;
    -*) usage ;;
    *) given="$given $argument" ;;
  esac
done
set -- $given
[ $# -eq 3 ] || usage
echo "reserve $1 $2 $3$projector" >> "${OPS_LOG:?}"
echo "Reserved the room $1 on $2 for $3 people."
