#!/usr/bin/env python3
"""Compares the hex of chapter 11 with the sample that it walks through."""

import pathlib
import re
import sys

from trellis_file import Pages, hashed

SPEC = pathlib.Path(__file__).resolve().parent.parent


def tables(text):
    """(title, rows of cells) for each table after a line `Walk: title`."""
    lines = text.split("\n")
    for index, line in enumerate(lines):
        if line.startswith("Walk: "):
            rows = []
            for row in lines[index + 2:]:
                if not row.startswith("|"):
                    break
                rows.append([cell.strip() for cell in row.split("|")[1:-1]])
            yield line[6:], rows[2:]


def value(pages, expression):
    """The hash that an expression names: H("", 0) or S of hexadecimal numbers."""
    if expression == 'H("", 0)':
        return hashed(b"")
    first, *salt = re.fullmatch(r"S\((.*)\)", expression)[1].split(", ")
    return pages.seed(int(first), *(int(word, 16) for word in salt))


def main():
    data = (SPEC / "samples" / "cities-v1.trellis").read_bytes()
    pages = Pages(data)
    sources = {"file": data, "map node": pages.extent(pages.top.map_root, 0, 2)}
    wrong = compared = 0
    for title, rows in tables((SPEC / "11-walk.md").read_text(encoding="utf-8")):
        if title not in sources and title != "hashes":
            sources[title] = pages.page(int(title.removeprefix("page ")))
        for first, second, *_ in rows:
            if title == "hashes":
                found, said = f"{value(pages, first):016X}", second
            else:
                made, start = bytes.fromhex(second), int(first)
                found = sources[title][start:start + len(made)].hex(" ").upper()
                said = second
            compared += 1
            if found != said:
                wrong += 1
                print(f"{title}, {first}: the sample has {found}")
    print(f"{compared - wrong} of {compared} rows of the walk are the sample's")
    return 1 if wrong or compared < 70 else 0


if __name__ == "__main__":
    sys.exit(main())
