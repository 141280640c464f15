"""Every key of an agent file, in one table: the loader's check of unknown keys and the JSON Schema come from it."""

from __future__ import annotations

from mm.config.schema import BUILTIN_NAMES, PLANNED_NAMES
from mm.config.shapes import (
    ANY,
    BOOLEAN,
    COUNT,
    NUMBER,
    SECONDS,
    SIZE,
    TEXT,
    TEXT_MAP,
    TEXTS,
    Key,
    Section,
    list_of,
    map_of,
    section,
)

PROVIDERS = ("local", "ollama", "llamacpp", "lmstudio", "openai", "openrouter", "scripted")
PARAMETER_TYPES = ("string", "integer", "number", "boolean", "array", "object")

ROOT = Section(
    "agent",
    "the agent file",
    (
        Key("name", "Name of the agent.", TEXT),
        Key(
            "model",
            "`provider:model`, or a mapping.",
            {"anyOf": [{"type": "string", "pattern": f"^({'|'.join(PROVIDERS)}):."}, section("model")]},
        ),
        Key(
            "instructions",
            "What the model is told, before anything else.",
            TEXT,
            misspellings=("instruction", "system", "system_prompt", "systemPrompt", "prompt"),
        ),
        Key("instructions_files", "Files that are appended to the instructions, if they are there.", TEXTS),
        Key(
            "builtins",
            "Which built-in tools are on; `[]` for none.",
            {"type": "array", "items": {"enum": list(BUILTIN_NAMES)}},
            misspellings=("builtin", "builtin_tools", "toolsets"),
        ),
        Key("yolo", "Run without asking, except where a rule asks.", BOOLEAN, misspellings=("auto_approve",)),
        Key("permissions", "Tool names by rule: deny beats ask beats allow beats yolo.", section("permissions")),
        Key("env_pass", "Secret variables that tools, hooks and MCP servers may see.", TEXTS),
        Key("hooks", "Commands that look at calls.", section("hooks")),
        Key("skills", "Folders with skills.", TEXTS, misspellings=("skill", "skills_dir")),
        Key(
            "mcpServers",
            "MCP servers by name.",
            map_of(section("mcpServer")),
            misspellings=("mcp_servers", "mcp", "mcpservers", "servers"),
        ),
        Key("tools", "Programs and wasm modules that the model may call.", list_of(section("tool"))),
        Key(
            "output_limit",
            "Characters of a tool's output that the model is given.",
            {"type": "integer", "minimum": 1_000, "maximum": 1_000_000},
        ),
        Key(
            "max_rounds",
            "Requests to the model in one turn.",
            {"type": "integer", "minimum": 1, "maximum": 1_000},
            misspellings=("max_iterations", "max_turns", "maxTurns", "max_steps"),
        ),
    ),
    advice={
        "env": "A tool's `env` stands in its entry; secrets for all go into `env_pass`.",
        "api_key": "It belongs into `model:`, as `api_key: ${VARIABLE}`.",
        "temperature": "It belongs into `model:`, as `model: {name: …, temperature: …}`.",
    },
)

MODEL = Section(
    "model",
    "`model`",
    (
        Key("provider", "Who serves the model.", {"enum": list(PROVIDERS)}),
        Key(
            "name",
            "Name of the model, with or without `provider:` before it.",
            TEXT,
            required=True,
            misspellings=("model", "model_name", "id"),
        ),
        Key("base_url", "Where the server listens.", TEXT, misspellings=("url", "api_base", "endpoint", "host")),
        Key("api_key", "`${VARIABLE}` that holds the key.", TEXT, misspellings=("key", "apiKey", "token")),
        Key(
            "temperature",
            "0 is the most predictable.",
            {"type": "number", "minimum": 0, "maximum": 2},
            misspellings=("temp",),
        ),
        Key(
            "max_tokens",
            "Tokens of one reply.",
            {"type": "integer", "minimum": 1},
            misspellings=("max_output_tokens", "maxTokens", "num_predict"),
        ),
        Key(
            "context",
            "Tokens that fit into one request.",
            {"type": "integer", "minimum": 512},
            misspellings=("context_size", "context_window", "num_ctx", "n_ctx"),
        ),
        Key("headers", "Headers sent with each request.", TEXT_MAP),
        Key("extra", "Fields merged into each request.", {"type": "object"}, misspellings=("options", "extra_body")),
    ),
    advice={"top_p": "Put it into `extra: {top_p: …}`.", "seed": "Put it into `extra: {seed: …}`."},
)

PERMISSIONS = Section(
    "permissions",
    "`permissions`",
    (
        Key("allow", "Run without asking.", TEXTS, misspellings=("allowed", "allowedTools")),
        Key("ask", "Ask, even under yolo.", TEXTS),
        Key("deny", "Never run.", TEXTS, misspellings=("denied", "disallowedTools", "block")),
    ),
)

HOOKS = Section(
    "hooks",
    "`hooks`",
    (
        Key("preToolCall", "Before a call, in this order.", list_of(section("hook")), aliases=("PreToolUse",)),
        Key("postToolCall", "After a call that ran.", list_of(section("hook")), aliases=("PostToolUse",)),
    ),
)

HOOK = Section(
    "hook",
    "a hook",
    (
        Key("matcher", "Regular expression for the whole tool name; `*` or nothing means all.", TEXT),
        Key("command", "The program and its arguments.", TEXTS, required=True, misspellings=("run", "cmd")),
        Key("timeout", "Seconds, or `90s`, `2m`.", SECONDS),
        Key("on_error", "What a broken hook means for the call.", {"enum": ["block", "allow"]}),
    ),
    advice={
        "hooks": "Write `{matcher: …, command: [program, argument]}` directly in the list.",
        "type": "Remove it: every hook is a command.",
    },
)

SERVER = Section(
    "mcpServer",
    "an MCP server",
    (
        Key("command", "Program of a stdio server.", TEXT),
        Key("args", "Its arguments.", TEXTS, misspellings=("arguments",)),
        Key("env", "Variables added to its environment.", TEXT_MAP),
        Key("cwd", "Folder it starts in.", TEXT, misspellings=("working_dir", "workdir")),
        Key("url", "Address of a streamable HTTP server.", TEXT, misspellings=("serverUrl", "httpUrl")),
        Key("headers", "Headers sent with each request.", TEXT_MAP),
        Key(
            "type",
            "How it is spoken to.",
            {"enum": ["stdio", "http", "streamable-http", "streamableHttp"]},
            aliases=("transport",),
        ),
        Key("disabled", "Leave it out.", BOOLEAN),
        Key("enabled", "`false` leaves it out.", BOOLEAN),
        Key("enabled_tools", "Only these of its tools.", TEXTS, aliases=("enabledTools", "includeTools")),
        Key("disabled_tools", "None of these.", TEXTS, aliases=("disabledTools", "excludeTools")),
        Key("timeout", "Seconds a call may take.", SECONDS),
        Key("start_timeout", "Seconds it may take to start.", SECONDS, misspellings=("startup_timeout",)),
    ),
    advice={
        "alwaysAllow": "Name its tools in `permissions: {allow: [mcp__server__tool]}`.",
        "autoApprove": "Name its tools in `permissions: {allow: [mcp__server__tool]}`.",
        "trust": "Name its tools in `permissions: {allow: [mcp__server__tool]}`.",
    },
    one_of=("command", "url"),
)

TOOL = Section(
    "tool",
    "a tool entry",
    (
        Key(
            "name",
            "What the model calls it.",
            {
                "type": "string",
                "pattern": "^[A-Za-z0-9_-]{1,64}$",
                "not": {"enum": [*BUILTIN_NAMES, *PLANNED_NAMES]},
            },
            required=True,
        ),
        Key("description", "What the model reads.", TEXT, misspellings=("desc", "help")),
        Key(
            "parameters",
            "Name → type, description, …; or a whole JSON Schema with `type: object`.",
            section("parameters"),
            misspellings=("args", "arguments", "params", "input_schema", "inputSchema", "inputs"),
        ),
        Key(
            "command",
            "The program and its arguments; `{{x}}` stands for a value.",
            {"type": "array", "minItems": 1, "items": section("entry")},
            misspellings=("cmd", "argv", "run", "exec", "shell"),
        ),
        Key("wasm", "A WASI module.", TEXT, misspellings=("module", "wasm_module")),
        Key(
            "stdin",
            "`json`, or a template; command only.",
            {"type": "string", "minLength": 1},
            misspellings=("input",),
        ),
        Key("env", "Variables added to its environment; command only.", TEXT_MAP, misspellings=("environment",)),
        Key("cwd", "Folder it runs in; command only.", TEXT, misspellings=("working_dir", "workdir", "dir")),
        Key("timeout", "Seconds, or `90s`, `2m`.", SECONDS, misspellings=("timeout_seconds", "timeout_ms")),
        Key("read", "Folders it may read, `folder` or `folder:name`; wasm only.", TEXTS),
        Key("write", "Folders it may read and write; wasm only.", TEXTS),
        Key("memory", "Bytes, or `64MiB`; wasm only.", SIZE),
        Key("final", "A successful call ends the turn with its output.", BOOLEAN),
        Key("repeat", "The same call may run again at once.", BOOLEAN),
        Key("readonly", "Has no effect on the world.", BOOLEAN, misspellings=("read_only", "readOnly")),
    ),
    advice={"env_pass": "It stands at the top of the file; in an entry write `env: {NAME: ${NAME}}`."},
    one_of=("command", "wasm"),
)

FLAG = Section(
    "flag",
    "a flag",
    (
        Key("flag", "The entry that is there if the parameter is true.", TEXT, required=True),
        Key("when", "A boolean parameter.", TEXT, required=True, misspellings=("if",)),
    ),
)

PARAMETER = Section(
    "parameter",
    "a parameter",
    (
        Key("type", "`string` if it is not said.", {"enum": list(PARAMETER_TYPES)}),
        Key("description", "What the model reads.", TEXT, misspellings=("desc", "help")),
        Key("required", "True, unless a default is given.", BOOLEAN),
        Key("default", "Said to the model, not filled in: left out, the program's own default holds.", ANY),
        Key("enum", "All allowed values.", {"type": "array", "minItems": 1}, misspellings=("choices", "values")),
        Key("minimum", "Smallest number.", NUMBER, misspellings=("min",)),
        Key("maximum", "Largest number.", NUMBER, misspellings=("max",)),
        Key("exclusiveMinimum", "The number is larger.", NUMBER),
        Key("exclusiveMaximum", "The number is smaller.", NUMBER),
        Key("multipleOf", "The number is a multiple.", {"type": "number", "exclusiveMinimum": 0}),
        Key("minLength", "Fewest characters.", COUNT, misspellings=("min_length",)),
        Key("maxLength", "Most characters.", COUNT, misspellings=("max_length",)),
        Key("pattern", "Regular expression found in the text.", TEXT, misspellings=("regex",)),
        Key("format", "Said to the model, such as `date`.", TEXT),
        Key("items", "What the list holds.", section("parameter"), misspellings=("item",)),
        Key("minItems", "Fewest items.", COUNT),
        Key("maxItems", "Most items.", COUNT),
        Key("uniqueItems", "No item twice.", BOOLEAN),
        Key("properties", "Fields of the object.", map_of(section("parameter")), misspellings=("fields",)),
        Key(
            "additionalProperties",
            "Whether other fields are allowed, or what they hold.",
            {"anyOf": [BOOLEAN, section("parameter")]},
        ),
        Key("allow_dash", "Its value may start with `-` in an entry of its own.", BOOLEAN),
    ),
)

SECTIONS = (MODEL, PERMISSIONS, HOOKS, HOOK, SERVER, TOOL, FLAG, PARAMETER)

KEY_NAMES = frozenset(
    name for each in (ROOT, *SECTIONS) for key in each.keys for name in (key.name, *key.aliases, *key.misspellings)
)
"""Everything that may stand before a colon and be meant as a key of mm."""
