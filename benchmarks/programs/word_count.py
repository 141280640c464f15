import json
import sys
from pathlib import Path

text = Path("notes", json.load(sys.stdin)["name"]).read_bytes()
lines, words = text.count(b"\n"), len(text.split())
print(f"{lines} lines, {words} words, {len(text)} bytes")
