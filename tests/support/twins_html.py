"""A plain twin of the kernel that reads pages, by regular expressions and lists of tokens."""

from __future__ import annotations

import html
import re

INLINE = {
    *("a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em"),
    *("font", "i", "ins", "kbd", "label", "mark", "nobr", "q", "rb", "rp", "rt", "ruby", "s"),
    *("samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr"),
}
SILENT = {"script", "style", "template", "noscript", "iframe", "svg"}
STAYS_IN_HEAD = SILENT | {"html", "head", "title", "meta", "link", "base", "basefont", "bgsound"}
WITHOUT_TAGS = {"script", "style", "iframe", "title", "textarea"}

WHITE = r"\t\n\f\r "
VALUE = rf"""(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z)|[^{WHITE}>"'][^{WHITE}>]*+)"""
ITEM = rf"(?:[{WHITE}/]++|[^{WHITE}/>][^{WHITE}/>=]*+(?:[{WHITE}]*+=[{WHITE}]*+{VALUE}?+)?+)"
TAG = re.compile(rf"<(/?)([A-Za-z][^{WHITE}/>]*+)({ITEM}*+)>")
COMMENT = re.compile(r"<!--(?:-?>|.*?(?:--!?>|\Z))", re.DOTALL)
DECLARATION = re.compile(r"<(?:[!?]|/(?=.))[^>]*(?:>|\Z)", re.DOTALL)


def token(page: str, at: int) -> tuple[str, str, int]:
    """Give the kind of what stands at a place, its text or name, and where the next begins."""
    if tag := TAG.match(page, at):
        items = re.findall(ITEM, tag[3])
        closed = items and items[-1][0] in "/\t\n\f\r " and items[-1][-1] == "/"
        kind = "end" if tag[1] else "closed" if closed else "start"
        return kind, tag[2].translate({c: c + 32 for c in range(65, 91)}), tag.end()
    if re.match(r"</?[A-Za-z]", page[at : at + 3]):
        return "broken off", "", len(page)
    if comment := COMMENT.match(page, at) or DECLARATION.match(page, at):
        return "comment", "", comment.end()
    end = page.find("<", at + 1)
    end = len(page) if end < 0 else end
    return "text", page[at:end], end


class Page:
    """What is read, as pieces of text and ends of lines."""

    def __init__(self) -> None:
        self.pieces: list[str] = [""]
        self.silent: list[str] = []
        self.in_head = self.in_title = False
        self.preformatted = 0

    def last(self) -> str:
        return next((piece[-1] for piece in reversed(self.pieces) if piece), "\n")

    def line(self) -> None:
        while self.last() in " \t":
            place = max(n for n, piece in enumerate(self.pieces) if piece)
            self.pieces[place] = self.pieces[place][:-1]
        if self.last() != "\n":
            self.pieces.append("\n")
        self.pieces.append("")

    def text(self, text: str) -> None:
        if self.silent or (self.in_head and not self.in_title):
            return
        for character in text.replace("\0", ""):
            if self.preformatted and character in "\r\n":
                self.line()
            elif character not in " \t\n\r\f" or (self.last() != "\n" and self.preformatted):
                self.pieces[-1] += character
            elif self.last() not in "\n ":
                self.pieces[-1] += " "

    def start(self, name: str, closed: bool) -> None:
        self.in_head = name == "head" or (self.in_head and name in STAYS_IN_HEAD)
        self.in_title = name == "title"
        self.preformatted += name == "pre"
        if name in SILENT and not closed:
            self.silent.append(name)

    def end(self, name: str) -> None:
        self.in_head = self.in_head and name != "head"
        self.in_title = self.in_title and name != "title"
        if name == "pre":
            self.preformatted = max(0, self.preformatted - 1)
        if name in self.silent:
            last = len(self.silent) - 1 - self.silent[::-1].index(name)
            del self.silent[last:]


def gathered(page: str) -> Page:
    found, at = Page(), 0
    while at < len(page):
        kind, name, at = token(page, at)
        if kind in ("start", "closed", "end") and name not in INLINE:
            found.line()
        else:
            found.pieces += [""] * (kind != "text")
        if kind == "text":
            found.text(name)
        elif kind == "end":
            found.end(name)
        elif kind in ("start", "closed"):
            in_drawing = "svg" in found.silent
            found.start(name, kind == "closed")
            if name in WITHOUT_TAGS and kind == "start" and not in_drawing:
                end = re.compile(rf"(?ai)</{name}[{WHITE}/>]").search(page, at)
                if end is None and name in SILENT:
                    break
                if end is not None:
                    found.text(page[at : end.start()])
                    at = end.start()
    return found


def unescaped(piece: str) -> str:
    """Replace character references; numbers that no character has stand for none."""
    piece = re.sub(r"&#0*([0-9]{11,});?", "\ufffd", piece)
    piece = re.sub(r"&#[xX]0*([0-9a-fA-F]{11,});?", "\ufffd", piece)
    references = r"&(?:#[0-9]+|#[xX][0-9a-fA-F]+|[A-Za-z][A-Za-z0-9]{0,31});?"
    return re.sub(references, lambda one: re.sub(r"[\t\n\f\r]", " ", html.unescape(one[0])), piece)


def page_text(page: str) -> str:
    """Give what a reader reads of a page."""
    return "".join(map(unescaped, gathered(page).pieces)).strip()
