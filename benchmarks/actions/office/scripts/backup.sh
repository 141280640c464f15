#!/bin/sh
# backup.sh [--keep=DAYS] [--] DATABASE: stands for the script that backs up a database.
set -eu
usage() { echo "usage: backup.sh [--keep=DAYS] DATABASE" >&2; exit 2; }
database= keep=
while [ $# -gt 0 ]; do
  case $1 in
    --) ;;
    --keep=*) keep=" keep=${1#--keep=}" ;;
    --keep) [ $# -gt 1 ] || usage; keep=" keep=$2"; shift ;;
    -*) usage ;;
    *) [ -z "$database" ] || usage; database=$1 ;;
  esac
  shift
done
[ -n "$database" ] || usage
echo "backup $database$keep" >> "${OPS_LOG:?}"
echo "Backed up $database."
