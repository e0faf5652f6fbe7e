"""Draws the sequence diagrams of the pages: the part of mermaid's language that tools/pages writes, as SVG.

mermaid itself would need a browser and 150 MB of packages for a few diagrams with arrows and notes.
"""

from __future__ import annotations

import html
import re
import textwrap
from dataclasses import dataclass, field

LANE = 190  # between two lifelines
MARGIN = 140  # beside the first and the last
LINE = 17  # of text
WIDEST = 48  # characters of a line of text

PARTICIPANT = re.compile(r"participant (\w+)")
MESSAGE = re.compile(r"(\w+)(-{1,2})>>(\w+): ?(.*)")
NOTE = re.compile(r"Note over (\w+)(?:,(\w+))?: (.*)")


class NotDrawn(Exception):
    """A line of a diagram that this program does not support."""


@dataclass
class Drawing:
    """A diagram under construction, from top to bottom."""

    actors: list[str] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    height: int = 50

    def across(self, actor: str) -> int:
        """Where the lifeline of an actor is."""
        if actor not in self.actors:
            raise NotDrawn(f"there is no participant {actor}")
        return MARGIN + LANE * self.actors.index(actor)

    def write(self, text: str, middle: int) -> None:
        """Writes a text, and moves below it."""
        for line in textwrap.wrap(text, WIDEST):
            self.height += LINE
            self.parts.append(f'<text x="{middle}" y="{self.height}">{html.escape(line)}</text>')

    def message(self, sender: str, is_answer: bool, receiver: str, text: str) -> None:
        """An arrow below its text."""
        begin, end = self.across(sender), self.across(receiver)
        self.height += 8
        self.write(text, (begin + end) // 2)
        self.height += 8
        dashes = ' stroke-dasharray="5 4"' if is_answer else ""
        tip = end - 8 if end > begin else end + 8
        self.parts.append(f'<path d="M{begin} {self.height}H{tip}"{dashes}/>')
        self.parts.append(f'<path class="tip" d="M{end} {self.height}L{tip} {self.height - 4}v8z"/>')

    def note(self, first: str, last: str, text: str) -> None:
        """A text in a box over one lifeline, or over all."""
        begin, end = self.across(first), self.across(last)
        lines = len(textwrap.wrap(text, WIDEST)) or 1
        half = 5 + min(WIDEST, len(text)) * 4
        begin, end = (begin - half, end + half) if begin == end else (begin - 80, end + 80)
        self.height += 10
        self.parts.append(
            f'<rect x="{begin}" y="{self.height}" width="{end - begin}" height="{lines * LINE + 8}" rx="4"/>'
        )
        self.write(text, (begin + end) // 2)
        self.height += 8


def draw(source: str) -> str:
    """The SVG of a diagram. It has no empty lines, so that it can be part of a Markdown page."""
    drawing = Drawing()
    for line in filter(None, map(str.strip, source.splitlines())):
        if line == "sequenceDiagram":
            continue
        if found := PARTICIPANT.fullmatch(line):
            drawing.actors.append(found[1])
        elif found := MESSAGE.fullmatch(line):
            drawing.message(found[1], found[2] == "--", found[3], found[4])
        elif found := NOTE.fullmatch(line):
            drawing.note(found[1], found[2] or found[1], found[3])
        else:
            raise NotDrawn(f"this line of a diagram is not understood: {line}")
    width, height = 2 * MARGIN + LANE * (len(drawing.actors) - 1), drawing.height + 20
    lifelines = [
        f'<text class="actor" x="{drawing.across(actor)}" y="22">{html.escape(actor)}</text>'
        f'<path class="life" d="M{drawing.across(actor)} 32V{height}"/>'
        for actor in drawing.actors
    ]
    return "\n".join(
        [
            f'<svg class="sequence" viewBox="0 0 {width} {height}" role="img" aria-label="Sequence diagram">',
            *lifelines,
            *drawing.parts,
            "</svg>",
        ]
    )
