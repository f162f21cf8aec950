#!/usr/bin/env python3
"""The damaged stores of chapter 12, as changes of samples.

    trellis_damage.py NAMES               their names, one a line
    trellis_damage.py FILE NAME           writes one of them
    trellis_damage.py EXPECTED NAME       the error or the file of objects, and the entity
    trellis_damage.py CHECK               tries each with the reader of this folder
    trellis_damage.py LIST                writes ../samples/damage.json anew
    trellis_damage.py TABLE               prints the rows of the table of 12.5

`damage.json` is enough to make them in any language: for each name the sample, the entity, the bytes
that replace others (offset and hexadecimal digits), the length where the file is cut off, and either
`error`, a code of chapter 12, or `objects`, the file with what `dump` must print.
"""

import contextlib
import io
import json
import pathlib
import sys

from trellis_changes import DAMAGE
from trellis_edit import SAMPLES, Edit
from trellis_file import Damaged

LIST = SAMPLES / "damage.json"
CHAPTER = SAMPLES.parent / "12-conformance.md"
ENTITY = {"cities-v1": "City", "strange-v1": "Box", "chunks-v1": "Box", "kinds-v1": "Thing"}


def listed():
    made = []
    for name, (sample, change, result, section, words) in DAMAGE.items():
        edit = Edit(sample)
        entry = {"name": name, "damage": words, "section": section, "sample": sample,
                 "entity": ENTITY[sample]}
        if isinstance(change, int):
            entry["length"] = change
        else:
            change(edit)
            entry["bytes"] = edit.changes()
        entry["objects" if result.endswith(".json") else "error"] = result
        made.append(entry)
    return made


def row(entry):
    """The row of an entry in the table of 12.5."""
    what = f"report {entry['error']}" if "error" in entry else f"print `{entry['objects']}`"
    return f"| {entry['name']} | {entry['section']} | {entry['damage']} | {what} |"


def damaged(entry):
    data = bytearray((SAMPLES / f"{entry['sample']}.trellis").read_bytes())
    for offset, digits in entry.get("bytes", {}).items():
        made = bytes.fromhex(digits)
        data[int(offset):int(offset) + len(made)] = made
    return bytes(data[:entry.get("length", len(data))])


def outcome(path, entity):
    """The error's code, or what the reader prints."""
    from trellis_reader import Store, dump
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            whole = dump(Store(path), entity)
    except Damaged as error:
        return error.code
    return out.getvalue() if whole else "corrupt"


def check(entries, folder):
    wrong, chapter = 0, CHAPTER.read_text(encoding="utf-8").split("\n")
    for entry in entries:
        path = pathlib.Path(folder) / "damaged.trellis"
        path.write_bytes(damaged(entry))
        found = outcome(path, entry["entity"])
        if "objects" in entry:
            good = found == (SAMPLES / entry["objects"]).read_text(encoding="utf-8")
        else:
            good = found == entry["error"]
        if not good:
            wrong += 1
            print(f"{entry['name']}: {found[:200]}")
        elif row(entry) not in chapter:
            wrong += 1
            print(f"{entry['name']}: its row is not in 12.5")
    print(f"{len(entries) - wrong} of {len(entries)} damaged stores are as chapter 12 says")
    return wrong


def main(arguments):
    if arguments == ["LIST"]:
        lines = ",\n".join(json.dumps(entry) for entry in listed())
        LIST.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
        return 0
    entries = json.loads(LIST.read_text(encoding="utf-8"))
    if arguments == ["NAMES"]:
        print("\n".join(entry["name"] for entry in entries))
        return 0
    if arguments == ["TABLE"]:
        print("\n".join(row(entry) for entry in entries))
        return 0
    if arguments == ["CHECK"]:
        import tempfile
        with tempfile.TemporaryDirectory() as folder:
            return 1 if check(entries, folder) else 0
    entry = next((e for e in entries if arguments[1:] == [e["name"]]), None)
    if entry is None:
        print(__doc__.strip(), file=sys.stderr)
        return 64
    if arguments[0] == "EXPECTED":
        print(entry.get("error") or entry["objects"], entry["entity"])
    else:
        pathlib.Path(arguments[0]).write_bytes(damaged(entry))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
