"""The process that computes an embedded model, started by `mm.models.local` as a script: imports no part of mm.

Reads one line of JSON (what to load, the key) from stdin, writes one line of JSON (the address, or an error) to
stdout, and lives until stdin is closed: whatever ends its parent, also kill -9, ends it too.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import Any

import xllamacpp


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answer = os.dup(1)
    os.dup2(2, 1)  # llama.cpp prints here and there; the answer has a descriptor of its own
    wanted = json.loads(sys.stdin.readline())
    try:
        server = start(wanted)
    except (RuntimeError, ValueError) as error:
        os.write(answer, json.dumps({"error": str(error)}).encode() + b"\n")
        os._exit(1)
    os.write(answer, json.dumps({"address": server.listening_address}).encode() + b"\n")
    sys.stdin.read()
    os._exit(0)  # nothing here is worth saving, and a model that computes does not end by asking


def start(wanted: dict[str, Any]) -> Any:
    """Load the model and serve it on loopback, on a port that the system picks."""
    params = xllamacpp.CommonParams()
    params.model.path = wanted["path"]
    params.model_alias = {wanted["name"]}
    params.api_keys = [wanted["key"]]
    params.port = 0
    params.n_ctx = wanted["context"]
    params.n_parallel = 1
    params.n_batch = params.n_ubatch = 256  # a dropped request is noticed between two batches
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = wanted["threads"]
    params.cache_ram_mib = 512
    params.warmup = False
    params.ui = False
    params.endpoint_slots = False
    params.verbosity = 1
    params.sampling.temp = 0.0
    params.force_pure_content_parser = wanted.get("plain", False)
    return xllamacpp.Server(params)


if __name__ == "__main__":
    main()
