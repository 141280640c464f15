#!/bin/sh
# The main job: a small model on this machine calls a script, then a sandboxed module.
#   sh examples/demo.sh MM MODEL
set -eu
mm=$1
model=$2
here=$(dirname "$0")
log=$(mktemp)
export OPS_LOG="$log"
trap 'rm -f "$log"' EXIT

mkdir -p "$here/notes/modules"
cp "$here/../wasm-modules/word_count/word_count.wasm" "$here/notes/modules/"

ask() {
    echo
    echo "\$ mm -p \"$1\" -a $2 --allow $3 -m $4"
    "$mm" -p "$1" -a "$2" --allow "$3" -m "$4"
}

if "$mm" model pull "$model"; then
    status=local:$model
    words=local:$model
else
    echo
    echo "The weights of $model could not be fetched (the reason is above), so no real model answers here."
    echo "The same two runs follow with SCRIPTED replies; tools, sandbox and consent are the real ones."
    status=scripted:$here/ops/script.yaml
    words=scripted:$here/notes/script.yaml
fi

ask "What is the status of the billing service?" "$here/ops/agent.yaml" status "$status"
ask "Count the words of the note trip.md." "$here/notes/agent.yaml" word_count "$words"

echo
echo "What the script wrote down: $(cat "$log")"
