"""One call on its way through the journey."""

from __future__ import annotations

from dataclasses import dataclass, replace

from mm.dispatch.json_text import to_json
from mm.dispatch.loops import Identity
from mm.dispatch.shape import Told
from mm.messages import ToolCall
from mm.tools.spec import ApprovedCall, Output, Tool


@dataclass(slots=True, eq=False)
class OpenCall:
    """A call and what is known about it so far. The steps fill it in; `output` is set once it is answered."""

    call: ToolCall
    order: int  # its place in the reply
    tool: Tool | None = None
    identity: Identity | None = None
    approved: ApprovedCall | None = None
    output: Output | None = None
    told: Told | None = None  # what came of the output in the end
    notes: tuple[str, ...] = ()  # what the reply tells the model beside the output
    as_before: bool = False  # not run, since it was answered already: counts with its earlier result
    started: float = 0.0
    seconds: float = 0.0
    _approved_call: ToolCall | None = None

    def approve(self, approved: ApprovedCall) -> None:
        """From here on it may run, and is written down with these very arguments."""
        self.approved = approved
        arguments = to_json(dict(approved.arguments))
        self._approved_call = replace(self.call, name=approved.tool.name, arguments=arguments)

    def as_written_down(self) -> ToolCall:
        """What is kept of it: as it was approved; if it was not, as the model wrote it, under the name of its tool."""
        if self._approved_call is not None:
            return self._approved_call
        return replace(self.call, name=self.tool.name) if self.tool else self.call

    @property
    def name(self) -> str:
        """The tool's name; as the model wrote it where no tool was found."""
        return self.tool.name if self.tool else self.call.name

    def identify(self) -> Identity:
        """What makes it the same call as another: what it says as written, where nothing better is known."""
        return self.identity or Identity(self.call.name, self.call.arguments)
