"""Source files are read, added to at positions of their syntax tree, and given back byte for byte otherwise.

Invariant: only insertions. Encoding, byte order mark, line ends, comments and formatting of what was there stay.
"""

import ast
import difflib
import io
import re
import tokenize
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

#: In a rehearsal: what is read in place of files.
PLANNED: dict[Path, bytes] = {}
_LINE_END = re.compile(r"\r\n|\r|\n")


class Unreadable(Exception):
    """Say in one sentence why a file cannot be read as Python."""


@dataclass
class Source:
    """One file, and what is to be inserted into it. A file that is not there yet is empty."""

    path: Path
    text: str = ""
    encoding: str = "utf-8"
    is_new: bool = False
    _insertions: list[tuple[int, str]] = field(default_factory=list)

    @classmethod
    def read(cls, path: Path) -> "Source":
        """Read a file as Python does. Raises Unreadable."""
        raw = raw_of(path)
        try:
            encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
            text = raw.decode(encoding)
        except (SyntaxError, UnicodeDecodeError, LookupError) as error:
            raise Unreadable(f"{path}: its bytes are not in the encoding that it declares (UTF-8 if none).") from error
        source = cls(path, text, encoding)
        _ = source.tree
        return source

    @classmethod
    def new(cls, path: Path, text: str) -> "Source":
        """Describe a file that is to be made."""
        source = cls(path, is_new=True)
        source.insert(0, text)
        return source

    @cached_property
    def tree(self) -> ast.Module:
        """Return the syntax tree. Raises Unreadable."""
        try:
            return ast.parse(self.text, self.path)
        except SyntaxError as error:
            raise Unreadable(f"{self.path}, line {error.lineno}: {error.msg}.") from error
        except ValueError as error:  # a NUL
            raise Unreadable(f"{self.path}: {error}.") from error

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(found.end() for found in _LINE_END.finditer(self.text))]

    @property
    def newline(self) -> str:
        """Return how the lines of this file end."""
        found = _LINE_END.search(self.text)
        return found.group() if found else "\n"

    def offset(self, line: int, column: int) -> int:
        """Return the offset in the text of a position as ``ast`` gives it: lines from 1, columns in bytes of UTF-8."""
        start = self._line_starts[line - 1]
        bom = 1 if line == 1 and self.text.startswith("\ufeff") else 0
        return start + bom + len(self.text[start + bom :].encode()[:column].decode())

    def start_of(self, node: ast.expr | ast.stmt | ast.alias) -> int:
        """Return where a node begins."""
        return self.offset(node.lineno, node.col_offset)

    def end_of(self, node: ast.expr | ast.stmt | ast.alias) -> int:
        """Return where a node ends."""
        return self.offset(node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)

    def line_start(self, offset: int) -> int:
        """Return where the line begins that an offset is in."""
        return max(start for start in self._line_starts if start <= offset)

    def next_line(self, offset: int) -> int:
        """Return where the line after an offset begins, or the end of the text."""
        return next((start for start in self._line_starts if start > offset), len(self.text))

    def indent_at(self, offset: int) -> str:
        """Return what a line begins with, if that is blank up to an offset."""
        before = self.text[self.line_start(offset) : offset]
        return before if before.isspace() else ""

    def insert(self, offset: int, text: str) -> None:
        """Note an insertion. What is inserted at one place stands there in the order of the calls."""
        self._insertions.append((offset, text))

    def insert_lines(self, offset: int, text: str) -> None:
        """Note an insertion of whole lines, in front of the line that begins at an offset."""
        is_cut_off = offset == len(self.text) and self.text and not self.text.endswith(("\n", "\r"))
        already = any(at == offset for at, _ in self._insertions)
        self.insert(offset, f"{chr(10) if is_cut_off and not already else ''}{text}")

    @property
    def is_changed(self) -> bool:
        """Tell whether there is anything to write."""
        return bool(self._insertions)

    @property
    def result(self) -> str:
        """Return the text with all insertions."""
        pieces, last = [], 0
        for offset, text in sorted(self._insertions, key=lambda insertion: insertion[0]):
            pieces += [self.text[last:offset], text.replace("\n", self.newline)]
            last = offset
        return "".join([*pieces, self.text[last:]])

    @property
    def result_bytes(self) -> bytes:
        """Return what to write. With a byte order mark where there was one."""
        return self.result.encode(self.encoding)

    def diff(self, root: Path) -> list[str]:
        """Return the lines of a unified diff."""
        name = self.path.relative_to(root) if self.path.is_relative_to(root) else self.path
        before, after = (_LINE_END.sub("\n", text).splitlines(keepends=True) for text in (self.text, self.result))
        old = "/dev/null" if self.is_new else f"a/{name}"
        return [line.rstrip("\n") for line in difflib.unified_diff(before, after, old, f"b/{name}")]


def raw_of(path: Path) -> bytes:
    """Return the bytes of a file. Raises Unreadable."""
    try:
        return PLANNED[path] if path in PLANNED else path.read_bytes()
    except OSError as error:
        raise Unreadable(f"{path}: {error.strerror}.") from error


def parsed(path: Path) -> ast.Module | None:
    """Return the tree of a file, or None where it is no Python that can be read."""
    try:
        return Source.read(path).tree
    except Unreadable:
        return None
