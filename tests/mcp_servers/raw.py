"""A server that speaks the protocol by hand, so that it can also break it. argv holds one JSON object: what to do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

PLAN: dict[str, Any] = json.loads(sys.argv[1])
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}}


def say(message: Any) -> None:
    sys.stdout.write((message if isinstance(message, str) else json.dumps(message)) + "\n")
    sys.stdout.flush()


def answer(request: dict[str, Any]) -> None:
    method, number = request["method"], request.get("id")
    if "log" in PLAN:
        with Path(PLAN["log"]).open("a") as log:
            log.write(json.dumps(request) + "\n")
    if number is None:
        return
    if method in PLAN.get("errors", {}):
        say({"jsonrpc": "2.0", "id": number, "error": PLAN["errors"][method]})
        return
    if method == "initialize":
        result: Any = {
            "protocolVersion": PLAN.get("version", request["params"]["protocolVersion"]),
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "raw", "version": "1"},
        }
    elif method == "tools/list":
        result = PLAN.get("listing") or {"tools": tools()}
    elif method == "tools/call":
        result = call(request["params"]["name"], request["params"].get("arguments"))
    else:
        say({"jsonrpc": "2.0", "id": number, "error": {"code": -32601, "message": "Method not found"}})
        return
    say({"jsonrpc": "2.0", "id": number, "result": result})


def tools() -> list[dict[str, Any]]:
    named = PLAN.get("tools", {"say": TEXT})
    if "changed" in PLAN and Path(PLAN["changed"]).exists():
        return [{"name": name, "description": "Now something else.", "inputSchema": {}} for name in named]
    return [{"name": name, "description": f"Does {name}.", "inputSchema": schema} for name, schema in named.items()]


def call(name: str, given: Any) -> Any:
    if name in PLAN.get("results", {}):
        return PLAN["results"][name]
    if name == "die":
        sys.stderr.write("about to die\n")
        sys.stderr.flush()
        os.kill(os.getpid(), 9)
    if name == "hang":
        Path(PLAN["fifo"]).write_text("hangs")  # blocks until the test reads
        time.sleep(600)
    if name == "chatter":
        say("between request and reply")
        say('{"a": 1}')
        say("")
        say("x" * 5_000_000)
    if name == "change":
        Path(PLAN["changed"]).touch()
        say({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
    if name == "ask":
        say({"jsonrpc": "2.0", "id": "s1", "method": "roots/list"})
        say(
            {
                "jsonrpc": "2.0",
                "id": "s2",
                "method": "sampling/createMessage",
                "params": {"messages": [], "maxTokens": 1},
            }
        )
        return {"content": [{"type": "text", "text": sys.stdin.readline() + sys.stdin.readline()}]}
    if name == "environment":
        return {"content": [{"type": "text", "text": json.dumps({**os.environ, "cwd": str(Path.cwd())})}]}
    return {"content": [{"type": "text", "text": f"{name}: {json.dumps(given)}"}]}


def main() -> None:
    if "child" in PLAN:
        child = subprocess.Popen(["sleep", "600"])
        Path(PLAN["child"]).write_text(f"{os.getpid()} {child.pid}")
    sys.stderr.write(PLAN.get("stderr", ""))
    sys.stderr.flush()
    for line in PLAN.get("banner", []):
        say(line)
    if "exit" in PLAN:
        sys.exit(PLAN["exit"])
    if PLAN.get("silent"):
        time.sleep(600)
    for line in sys.stdin:
        answer(json.loads(line))


main()
