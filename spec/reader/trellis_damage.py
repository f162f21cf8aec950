#!/usr/bin/env python3
"""The damaged stores of chapter 12, as changes of samples.

    trellis_damage.py NAMES               their names, one a line
    trellis_damage.py FILE NAME           writes one of them
    trellis_damage.py EXPECTED NAME       the error, or the file of objects, that it must lead to
    trellis_damage.py CHECK               tries each with the reader of this folder
    trellis_damage.py LIST                writes ../samples/damage.json anew

`damage.json` is enough to make them in any language: for each name the sample, the bytes that
replace others (offset and hexadecimal digits), the length where the file is cut off, and either
`error`, a code of chapter 12, or `objects`, the file with what `dump` must print.
"""

import contextlib
import io
import json
import pathlib
import struct
import sys

import lz4.block

from trellis_file import BLOCK, DELTA, FULL, LINK, Damaged, Pages, hashed, unpack

SAMPLES = pathlib.Path(__file__).resolve().parent.parent / "samples"
LIST = SAMPLES / "damage.json"
ENTITY = {"cities-v1": "City", "strange-v1": "Box"}


class Edit:
    """Changes of a sample, whose hashes can be made right again."""

    def __init__(self, sample):
        self.before = (SAMPLES / f"{sample}.trellis").read_bytes()
        self.data, self.pages = bytearray(self.before), Pages(self.before)

    def put(self, offset, form, *values):
        struct.pack_into("<" + form, self.data, offset, *values)

    def flip(self, offset):
        self.data[offset] ^= 0x55

    def superblock(self, slot, offset, form, *values):
        """Changes a field of a superblock, whose hash is right all the same."""
        start = slot * BLOCK
        self.put(start + offset, form, *values)
        self.put(start + 4088, "Q", hashed(bytes(self.data[start:start + 4088])))

    def frame(self, at, offset, form, *values):
        """Changes a field of a frame; the chain of hashes is right all the same."""
        self.put(at + offset, form, *values)
        self.chain(at)

    def chain(self, at):
        index = next(i for i, (start, _, _) in enumerate(self.pages.frames) if start == at)
        own = unpack("Q", self.before, self.pages.frames[index - 1][0])[0]
        for start, size, kind in self.pages.frames[index:]:
            own = hashed(bytes(self.data[start + 8:start + size]), own)
            self.put(start, "Q", own)
            if kind == LINK:
                break

    def image(self, at, edit):
        """Changes the image that the last DELTA of a page makes, with every hash right."""
        page, room = unpack("Q", self.before, at + 16)[0], unpack("I", self.before, at + 8)[0] - 40
        base = self.base(page, at)
        image = bytearray(self.pages.page(page))
        edit(image)
        payload = lz4.block.compress(bytes(image), store_size=False, dict=base)
        assert len(payload) <= room
        self.put(at + 24, "Q", hashed(bytes(image), page))
        self.put(at + 36, "I", len(payload))
        self.data[at + 40:at + 40 + room] = payload.ljust(room, b"\0")
        self.chain(at)

    def base(self, page, end):
        """The page before a frame."""
        earlier = Pages(self.before)
        image = earlier.version({}, page)
        for at, _, kind in earlier.frames:
            if at < end and kind in (FULL, DELTA) and unpack("Q", self.before, at + 16)[0] == page:
                size, stored = unpack("II", self.before, at + 32)
                known = {"dict": image} if kind == DELTA else {}
                image = lz4.block.decompress(
                    self.before[at + 40:at + 40 + stored], uncompressed_size=size, **known)
        return image

    def last(self, kind, page=None):
        """The last frame of a kind, of a page if one is named."""
        return [at for at, _, found in self.pages.frames if found == kind
                and page in (None, unpack("Q", self.before, at + 16)[0])][-1]

    def record(self, edit):
        """Changes the last record of the cities (page 4): its start in the image is given."""
        def changing(image):
            slots = (24 + sum(unpack("HH", image, 6)) + 7) // 8 * 8
            count = unpack("H", image, 2)[0]
            cell, size = unpack("HH", image, slots + 8 * (count - 1) + 4)
            edit(image, cell + 2 + size)
        self.image(self.last(DELTA, 4), changing)

    def changes(self):
        """Runs of bytes that differ: offset and hexadecimal digits."""
        found, at = {}, 0
        while at < len(self.data):
            if self.data[at] == self.before[at]:
                at += 1
                continue
            end = at + 1
            while end < len(self.data) and self.data[end:end + 8] != self.before[end:end + 8]:
                end += 1
            found[str(at)] = self.data[at:end].hex().upper()
            at = end
        return found


COMMIT_FRAME = 30256  # the last one of cities-v1


def word(offset, form, *values):
    """A change of a record or of an image at an offset from its start."""
    def change(image, start=0):
        struct.pack_into("<" + form, image, start + offset, *values)
    return change


# name: (sample, what it changes, what a reader must do, what is damaged)
SAME, TORN = "cities-v1.City.json", "torn-v1.City.json"
DAMAGE = {
    "newer-version": ("cities-v1", lambda e: e.superblock(1, 8, "I", 2), "newerFormat",
                      "slot 1 has formatVersion 2"),
    "newer-feature": ("cities-v1", lambda e: e.superblock(0, 64, "Q", 1), "newerFormat",
                      "slot 0, the older one, has a bit of featuresIncompatible"),
    "no-magic": ("cities-v1", lambda e: (e.flip(0), e.flip(BLOCK)), "notAStore",
                 "both superblocks begin with other bytes"),
    "no-superblock": ("cities-v1", lambda e: (e.flip(100), e.flip(BLOCK + 100)), "corrupt",
                      "both superblocks fail their hashes"),
    "other-superblock": ("cities-v1", lambda e: e.flip(100), SAME, "slot 0 fails its hash"),
    "newest-superblock": ("cities-v1", lambda e: e.flip(BLOCK + 100), SAME,
                          "slot 1, the current one, fails its hash"),
    "wrong-slot": ("cities-v1", lambda e: e.superblock(1, 16, "Q", 4), SAME,
                   "slot 1 has generation 4, which belongs into slot 0"),
    "two-stores": ("cities-v1", lambda e: e.superblock(0, 24, "Q", 1), "corrupt",
                   "the superblocks have different UUIDs"),
    "too-many-sessions": ("cities-v1", lambda e: [e.superblock(s, 216, "I", 241) for s in (0, 1)],
                          "corrupt", "both superblocks have sessionCount 241"),
    "cut-in-superblock": ("cities-v1", 3000, "truncated", "the file ends inside slot 0"),
    "cut-in-content": ("cities-v1", 20000, "truncated", "requiredLength of both is greater"),
    "map": ("cities-v1", lambda e: e.flip(27904 + 50), "corrupt", "the map's node fails its hash"),
    "catalog": ("cities-v1", lambda e: e.flip(26240 + 60), "corrupt",
                "the extent of the catalog's page fails its hash"),
    "lost-commit": ("cities-v1", lambda e: e.flip(28800), "corrupt",
                    "a frame of commit 3 fails its hash, which a later group calls durable"),
    "torn-group": ("cities-v1", lambda e: e.flip(COMMIT_FRAME + 20), TORN,
                   "the last COMMIT fails its hash"),
    "delta-without-flag": ("cities-v1", lambda e: e.frame(e.last(DELTA, 7), 13, "B", 0), "corrupt",
                           "a DELTA without the bit for LZ4, with the right hash"),
    "page-zero": ("cities-v1", lambda e: e.frame(e.last(DELTA, 7), 16, "Q", 0), "corrupt",
                  "a frame of page 0, with the right hash"),
    "image-hash": ("cities-v1", lambda e: e.frame(e.last(DELTA, 7), 24, "Q", 0), "corrupt",
                   "a frame whose image has another hash"),
    "commit-skipped": ("cities-v1", lambda e: e.frame(COMMIT_FRAME, 16, "Q", 5), "corrupt",
                       "commit 5 follows commit 3"),
    "commit-without-pages": ("cities-v1", lambda e: e.frame(COMMIT_FRAME, 24, "Q", 0), "corrupt",
                             "a COMMIT with pageCount 0"),
    "node": ("cities-v1", lambda e: e.image(e.last(DELTA, 4), word(14, "H", 1)), "corrupt",
             "the leaf of the records has 1 in a field that must be 0"),
    "node-level": ("cities-v1", lambda e: e.image(e.last(DELTA, 4), word(1, "B", 1)), "corrupt",
                   "a leaf of level 1"),
    "record-tag": ("cities-v1", lambda e: e.record(word(0, "H", 9)), "corrupt",
                   "the last record is of no entity"),
    "record-slots": ("cities-v1", lambda e: e.record(word(4, "H", 3)), "corrupt",
                     "the last record has a count of slots that no layout has"),
    "record-heap": ("cities-v1", lambda e: e.record(word(20, "I", 4000)), "corrupt",
                    "a value of the last record ends outside it"),
    "link-number": ("strange-v1", lambda e: e.frame(e.last(LINK), 32, "Q", 1), "corrupt",
                    "a LINK to a segment that is not the next"),
    "link-lost": ("strange-v1", lambda e: e.flip(e.last(LINK) + 20), "corrupt",
                  "the last LINK fails its hash, and the segment that it leads to has a group"),
    "link-offset": ("strange-v1", lambda e: e.frame(e.last(LINK), 16, "Q", 4096), "corrupt",
                    "a LINK into the superblocks"),
}


def listed():
    made = []
    for name, (sample, change, result, words) in DAMAGE.items():
        edit, entry = Edit(sample), {"name": name, "damage": words, "sample": sample}
        if isinstance(change, int):
            entry["length"] = change
        else:
            change(edit)
            entry["bytes"] = edit.changes()
        entry["objects" if result.endswith(".json") else "error"] = result
        made.append(entry)
    return made


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
    wrong = 0
    for entry in entries:
        path = pathlib.Path(folder) / "damaged.trellis"
        path.write_bytes(damaged(entry))
        found = outcome(path, ENTITY[entry["sample"]])
        if "objects" in entry:
            good = found == (SAMPLES / entry["objects"]).read_text(encoding="utf-8")
        else:
            good = found == entry["error"]
        if not good:
            wrong += 1
            print(f"{entry['name']}: {found[:200]}")
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
    if arguments == ["CHECK"]:
        import tempfile
        with tempfile.TemporaryDirectory() as folder:
            return 1 if check(entries, folder) else 0
    entry = next((e for e in entries if arguments[1:] == [e["name"]]), None)
    if entry is None:
        print(__doc__.strip(), file=sys.stderr)
        return 64
    if arguments[0] == "EXPECTED":
        print(entry.get("error") or entry["objects"], ENTITY[entry["sample"]])
    else:
        pathlib.Path(arguments[0]).write_bytes(damaged(entry))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
