#!/bin/sh
# invoice.sh [--] CUSTOMER AMOUNT CURRENCY: stands for the script that sends an invoice.
set -eu
if [ "${1-}" = -- ]; then shift; fi
if [ $# -ne 3 ]; then echo "usage: invoice.sh CUSTOMER AMOUNT CURRENCY" >&2; exit 2; fi
amount=$(printf %s "$2" | sed -E 's/(\.[0-9]*[1-9])0+$/\1/; s/\.0*$//') # 89.90 and 89.9 are the same amount
echo "invoice $1 $amount $3" >> "${OPS_LOG:?}"
echo "Sent $1 an invoice for $amount $3."
