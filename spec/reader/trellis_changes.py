"""What chapter 12 damages: changes of samples, and what a reader must do with each."""

import json
import struct

from trellis_edit import Edit
from trellis_file import BLOCK, COMMIT, DELTA, FULL, GROUP, LINK, PAD, entries, hashed, unpack

COMMIT_FRAME = 30256  # the last one of cities-v1
FREE_UNIT = 192  # units 192 to 204 of cities-v1 are pending; 64 to 191 were a segment
HIGH = 1 << 48
SAME, TORN, BOXES = "cities-v1.City.json", "torn-v1.City.json", "strange-v1.Box.json"


def word(offset, form, *values):
    """A change of an image at an offset from its start."""
    def change(image):
        struct.pack_into("<" + form, image, offset, *values)
    return change


def page(number, offset, form, *values):
    """A commit that changes a field of a page."""
    return lambda e: e.image(number, word(offset, form, *values))


def frames(make):
    """A group with these frames and a COMMIT."""
    return lambda e: e.group(*make(e), e.commit())


# Records: page 4 of cities-v1 holds Oslo, Lima and Ærøskøbing

def record(offset, form, *values, index=2):
    """A commit that changes bytes of a record."""
    def change(e):
        rows = e.rows(4)
        key, value, away = rows[index]
        value = bytearray(value)
        struct.pack_into("<" + form, value, offset, *values)
        rows[index] = key, bytes(value), away
        e.leaf(4, rows)
    return change


def cut_record(e):
    """The last slot of Lima is not there; no value of the record needs a byte after it."""
    found = e.rows(4)
    key, value, away = found[1]
    found[1] = key, value[:16] + bytes(8) + value[24:40], away
    e.leaf(4, found)


def other_hierarchy(e):
    """The first box is a record of Nothing, which has no superentity, with the slots of Nothing."""
    from trellis_reader import Layout
    laid = Layout(dict(entries(e.pages, e.pages.catalog))[b"layout"])
    leaf = e.first_leaf(e.tree("tree/records/Box"))
    found = e.rows(leaf)
    head = struct.pack("<HHHH", laid.tags["Nothing"], 1, laid.counts["Nothing"][-1], 0)
    found[0] = found[0][0], head + bytes(8 * laid.counts["Nothing"][-1]), 0
    e.leaf(leaf, found, *e.fences(leaf))


def number(value):
    return value.to_bytes(8, "big")


def long_key(e):
    rows = e.rows(4)
    rows[2] = rows[2][0] + b"\0", *rows[2][1:]
    e.leaf(4, rows)


def zero_number(e):
    found = e.rows(4)
    found[0] = number(0), *found[0][1:]
    e.leaf(4, found)


def as_blob(root, slot):
    """A heap value of the first record: its bytes are in a blob, which is a right one, and what
    names the blob is in their place, or at the record's end if it is longer."""
    def change(e):
        leaf, own = e.first_leaf(e.tree(f"tree/records/{root}")), e.pages.page_count
        found = e.rows(leaf)
        key, value, away = found[0]
        at, length = unpack("II", value, 16 + 8 * slot)
        to, made = at if length >= 16 else len(value), bytearray(value)
        made[to:to + 16] = struct.pack("<QQ", own, length)
        struct.pack_into("<II", made, 16 + 8 * slot, to, 16 | 1 << 31)
        found[0] = key, bytes(made), away
        image = struct.pack("<BBHIQ", 3, 1, 0, length, 0) + value[at:at + length]
        e.group(e.full(own, image.ljust(e.pages.size, b"\0")),
                e.delta(leaf, e.images.node(0, found, *e.fences(leaf), 0)), e.commit())
    return change


# Nodes: page 4 as it is has its slots at byte 24 and its heap from byte 817 on

def slots(change):
    """A commit that changes the leaf of the records: bytes of the image, offsets of its cells."""
    def changing(image):
        change(image, [unpack("H", image, 28 + 8 * i)[0] for i in range(3)])
    return lambda e: e.image(4, changing)


def swapped(image, cells):
    image[24:32], image[32:40] = image[32:40], image[24:32]


def overlapping(image, cells):
    """The heap is 8 bytes longer, of which the garbage is 4; Lima's value reaches 4 bytes into
    Oslo's cell."""
    size = unpack("H", image, cells[1])[0]
    struct.pack_into("<HH", image, 10, unpack("H", image, 10)[0] + 8, 4)
    struct.pack_into("<H", image, cells[1], size + 4)


def outside(image, cells):
    """Oslo's cell ends after the page: its value claims two bytes more."""
    struct.pack_into("<H", image, cells[0], unpack("H", image, cells[0])[0] + 2)


def long_value(e):
    rows = e.rows(4)
    rows[1] = rows[1][0], rows[1][1].ljust(228, b"\0"), 0
    e.leaf(4, rows)


def long_catalog_key(e):
    e.leaf(1, e.rows(1) + [(b"z" * 150, b"", 0)])


def branch(level=1, upper=number(2), lower=number(2), first=8, key=number(2), cut=1, low=0):
    """Records in two leaves, pages 8 and 9, below page 4, each part of which may be a lie."""
    def change(e):
        rows, made = e.rows(4), e.images
        root = made.node(level, [(key, struct.pack("<Q", 9), 0)], b"", b"", first)
        e.group(e.full(8, made.node(low, rows[:cut], b"", upper, 10 if low else 0)),
                e.full(9, made.node(0, rows[cut:], lower, b"", 0)),
                e.delta(4, root), e.commit())
    return change


def unreferenced(image):
    """FULL of a page that nothing leads to."""
    return frames(lambda e: [e.full(9, image(e) if callable(image) else image)])


def blob_page(kind=3, flags=1, zero=0, payload=8, following=0):
    return struct.pack("<BBHIQ", kind, flags, zero, payload, following).ljust(1024, b"\0")


def own_child(e):
    root = e.images.node(1, [(number(2), struct.pack("<Q", 4), 0)], b"", b"", 8)
    e.group(e.full(8, e.images.node(0, e.rows(4)[:1], b"", number(2), 0)), e.delta(4, root),
            e.commit())


def prefix(e):
    """The fences share 7 bytes; the node omits 6."""
    row = e.rows(4)[1]
    short = [(row[0][6:], *row[1:])]
    made = bytearray(e.images.node(0, short, b"", b"", 0))
    lower, upper = number(2), number(3)
    image = bytearray(e.images.size)
    heap = unpack("H", made, 10)[0]
    image[:24], image[24:40], image[40:48] = made[:24], lower + upper, made[24:32]
    image[-heap:] = made[-heap:]
    struct.pack_into("<HHH", image, 4, 6, 8, 8)
    rows = e.rows(4)
    root = e.images.node(1, [(number(2), struct.pack("<Q", 9), 0),
                             (number(3), struct.pack("<Q", 10), 0)], b"", b"", 8)
    e.group(e.full(8, e.images.node(0, rows[:1], b"", number(2), 0)), e.full(9, bytes(image)),
            e.full(10, e.images.node(0, rows[2:], number(3), b"", 0)), e.delta(4, root), e.commit())


# The log

def other_log(e):
    e.put(BLOCK + 160, "Q", 1)
    e.superblock(1, 16, "Q", 4)


def shared_segment(e):
    first = e.pages.segments[1]
    e.put(e.last(LINK) + 24, "Q", first[1])
    e.frame(e.last(LINK), 16, "Q", first[0])


def long_frames(e):
    """Fields and frames with more than they need, and reserved bits."""
    kind, content, flags = e.commit()
    e.group((PAD, bytes(range(16)), 0xFE), (kind, content + b"\x55" * 16, 0x80))


def quiet_group(e):
    """A LINK whose GROUP calls no commit durable, after a commit that is lost."""
    at = e.last(LINK) - 56
    e.put(at + 40, "Q", 0)
    e.put(at + 48, "Q", hashed(bytes(e.data[at + 8:at + 48])))
    e.chain(at)
    e.flip(e.last_before(COMMIT, at) + 20)


def twice(e):
    """Lima's name: a blob of two chunks, which are one page."""
    full = (1 << 20) - 16
    chunk = struct.pack("<BBHIQ", 5, 0, 0, full, 0) + bytes(full)
    names = struct.pack("<BBHIQQQ", 4, 1, 0, 16, 0, 9, 9).ljust(1024, b"\0")
    rows = e.rows(4)
    key, value, away = rows[1]
    value = bytearray(value) + bytes(12)
    struct.pack_into("<II", value, 16, 48, 16 | 1 << 31)
    struct.pack_into("<QQ", value, 48, 8, 2 * full)
    rows[1] = key, bytes(value), away
    e.group(e.name(9, *e.place(64, 9, chunk)), e.full(8, names),
            e.delta(4, e.images.node(0, rows, b"", b"", 0)), e.commit())


# Extents

def uncompressed(e):
    """The schema's page as it is, but for one letter of a class name."""
    image = e.pages.page(3)
    own, unit, count = e.place(FREE_UNIT, 3, image, packs=False)
    at = FREE_UNIT * e.pages.unit + 48 + image.index(b'"className":"City"') + 13
    e.data[at] = ord("c")
    e.lead(3, own, unit, count)


def moved(e):
    own, unit, count = e.entry(3)
    at, to, size = unit * e.pages.unit, FREE_UNIT * e.pages.unit, count * e.pages.unit
    e.data[to:to + size] = e.data[at:at + size]
    e.lead(3, own, FREE_UNIT, count)


def named_otherwise(e):
    own, unit, count = e.entry(3)
    e.lead(3, own ^ 1, unit, count)


def in_superblock(e):
    """The schema's extent is where slot 0, the older one, has reserved bytes."""
    unit = 1024 // e.pages.unit
    e.lead(3, *e.place(unit, 3, e.pages.page(3)))
    e.superblock(0, 0, "")


def chunk_below(e):
    """Page 8, to which nothing leads, is a chunk of 2048 bytes in the map."""
    chunk = struct.pack("<BBHIQ", 5, 0, 0, 2032, 0).ljust(2048, b"\0")
    e.lead(8, *e.place(FREE_UNIT, 8, chunk))
    e.group(e.delta(8, blob_page(), base=b""), e.commit())


def longer_page(e):
    e.lead(3, *e.place(FREE_UNIT, 3, e.pages.page(3) + bytes(16)))


def led(unit, count):
    return lambda e: e.lead(3, e.entry(3)[0], unit, count)


# The catalog: page 1 of cities-v1

def rows(change):
    """A commit that changes the rows of the catalog."""
    def changing(e):
        found = {key: (value, away) for key, value, away in e.rows(1)}
        change(found)
        e.leaf(1, [(key, *found[key]) for key in sorted(found)])
    return changing


def renamed(old, new):
    def change(found):
        found[new] = found.pop(old)
    return rows(change)


def valued(key, edit):
    """A commit that changes the value of a key."""
    def change(found):
        found[key] = edit(found[key][0]) if key in found else edit(b""), 0
    return rows(change)


def layout(offset, form, *values):
    def edit(value):
        value = bytearray(value)
        struct.pack_into("<" + form, value, offset, *values)
        return bytes(value)
    return valued(b"layout", edit)


def strange_keys(e):
    found = sorted(e.rows(1) + [(b"other", b"1", 0), (b"tree/other", struct.pack("<Q", 8), 0)])
    e.group(e.full(8, e.images.node(0, [], b"", b"", 0)),
            e.delta(1, e.images.node(0, found, b"", b"", 0)), e.commit())


def laid_out(tag=1, counts=(4,), retired=(), people=None, twin=None, more=b"", entities=1):
    """Another layout of the cities; an initial value of people and of twin may be given."""
    made = struct.pack("<HHHHHHH", 1, entities, tag, 4, len(counts), 4, len(retired)) + b"City"
    made += struct.pack(f"<{len(counts)}H", *counts)
    for slot, (name, initial) in enumerate(
            [(b"name", None), (b"people", people), (b"area", None), (b"twin", twin)]):
        size = 65535 if initial is None else len(initial)
        made += struct.pack("<HHH", slot, len(name), size) + name + (initial or b"")
    for slot, kind in retired:
        made += struct.pack("<HH", slot, kind)
    return valued(b"layout", lambda value: made + more)


def gone(tag, *counts):
    return struct.pack(f"<HHHHH{len(counts)}H", tag, 0, len(counts), 0, 0, *counts)


def modelled(change):
    """A commit with another schema, whose text has another length."""
    def changing(e):
        image = e.pages.page(3)
        document = json.loads(image[16:16 + unpack("I", image, 4)[0]])
        city = document["schema"]["entities"][0]
        change(document["schema"], city)
        made = json.dumps(document, separators=(",", ":"), sort_keys=True).encode()
        assert len(made) <= e.pages.size - 16
        found = e.rows(1)
        at = next(i for i, row in enumerate(found) if row[0] == b"schema")
        found[at] = b"schema", struct.pack("<QQ", 3, len(made)), 1 << 15
        e.group(e.delta(1, e.images.node(0, found, b"", b"", 0)),
                e.delta(3, (image[:4] + struct.pack("<IQ", len(made), 0) + made).ljust(
                    e.pages.size, b"\0")), e.commit())
    return changing


def slashed(e):
    """The name of the to-one in the schema, the layout and the tree's name."""
    found = {key: (value, away) for key, value, away in e.rows(1)}
    found[b"tree/links/City/t/in"] = found.pop(b"tree/links/City/twin")
    value, away = found[b"layout"]
    found[b"layout"] = value.replace(b"twin", b"t/in"), away
    text = e.pages.page(3).replace(b'"twin"', b'"t/in"')
    e.group(e.delta(1, e.images.node(0, [(k, *found[k]) for k in sorted(found)], b"", b"", 0)),
            e.delta(3, text), e.commit())


def text(old, new):
    return lambda e: e.text(old, new)


def second_inverse(e):
    """`parent` of Wide names `downs` too, whose inverse is `up`; spaces make room."""
    old = b'"parent", "destinationEntityName": "Wide", "kind": "toOne", "deleteRule": "nullify", ' \
        b'"minCount": 0, "maxCount": 0}], "attributes": [{"name": "w27", "type": "int64", ' \
        b'"isOptional": true, "isCoded": false}, {"name": "w64", "type": "int64", '
    new = old.replace(b" ", b"").replace(b",", b',"inverseName":"downs",', 1)
    e.text(old, new.ljust(len(old)))


# Links in strange-v1, of boxes if no other entity is named

def links(name, change, entity="Box"):
    """A commit that changes the first row of a tree of links: its key and its value."""
    def changing(e):
        number = e.first_leaf(e.tree(f"tree/links/{entity}/{name}"))
        found = e.rows(number)
        found[0] = *change(*found[0][:2]), 0
        e.leaf(number, found, *e.fences(number))
    return changing


# name: (sample, what it changes, what a reader must do, the section that it tests, what is damaged)
DAMAGE = {
    "newer-version": ("cities-v1", lambda e: e.superblock(1, 8, "I", 2), "newerFormat", "1.1",
                      "slot 1 has formatVersion 2"),
    "newer-feature": ("cities-v1", lambda e: e.superblock(0, 64, "Q", 1), "newerFormat", "1.1",
                      "slot 0, the older one, has a bit of featuresIncompatible"),
    "no-magic": ("cities-v1", lambda e: (e.flip(0), e.flip(BLOCK)), "notAStore", "1.1",
                 "both superblocks begin with other bytes"),
    "no-superblock": ("cities-v1", lambda e: (e.flip(100), e.flip(BLOCK + 100)), "corrupt", "1.1",
                      "both superblocks fail their hashes"),
    "other-superblock": ("cities-v1", lambda e: e.flip(100), SAME, "1.2", "slot 0 fails its hash"),
    "newest-superblock": ("cities-v1", lambda e: e.flip(BLOCK + 100), SAME, "1.2",
                          "slot 1, the current one, fails its hash"),
    "wrong-slot": ("cities-v1", lambda e: e.superblock(1, 16, "Q", 4), SAME, "1.1",
                   "slot 1 has generation 4, which belongs into slot 0"),
    "wrong-slot-other-log": ("cities-v1", other_log, SAME, "1.1",
                             "slot 1 has generation 4 and another salt of the log's first segment"),
    "two-stores": ("cities-v1", lambda e: e.superblock(0, 24, "Q", 1), "corrupt", "1.2",
                   "the superblocks have different UUIDs"),
    "page-size": ("cities-v1", lambda e: e.superblocks(12, "I", 1000), "corrupt", "1.1",
                  "both superblocks have pageSize 1000"),
    "map-depth": ("cities-v1", lambda e: e.superblocks(44, "I", 13), "corrupt", "1.1",
                  "both superblocks have mapDepth 13"),
    "page-count": ("cities-v1", lambda e: e.superblocks(88, "Q", 0), "corrupt", "1.1",
                   "both superblocks have pageCount 0"),
    "generation-range": ("cities-v1", lambda e: [
        e.superblock(slot, 16, "Q", (1 << 61) + 2 + slot) for slot in (0, 1)], "corrupt", "1.1",
        "the generations are 2^61 + 2 and 2^61 + 3"),
    "head-offset": ("cities-v1", lambda e: e.superblocks(136, "Q", BLOCK), "corrupt", "1.1",
                    "both superblocks have headOffset 4096"),
    "required-length": ("cities-v1", lambda e: e.superblocks(176, "Q", len(e.data) + 1),
                        "truncated", "1.1",
                        "requiredLength of both is one more than the file's length"),
    "required-length-range": ("cities-v1", lambda e: e.superblocks(176, "Q", 1 << 62), "corrupt",
                              "1.1", "requiredLength of both is 2^62"),
    "too-many-sessions": ("cities-v1", lambda e: e.superblocks(216, "I", 241), "corrupt", "1.1",
                          "both superblocks have sessionCount 241"),
    "session-base": ("cities-v1", lambda e: e.superblocks(216, "IIQQ", 1, 0, 9, 1), "corrupt",
                     "1.4", "both superblocks list a session with a base after commitNumber"),
    "features": ("cities-v1", lambda e: e.superblock(1, 48, "QQ", 1, 1), SAME, "9",
                 "slot 1 has a bit of featuresCompatible and one of featuresReadOnly"),
    "cut-in-superblock": ("cities-v1", 3000, "truncated", "1.2", "the file ends inside slot 0"),
    "cut-in-content": ("cities-v1", 20000, "truncated", "1.2", "requiredLength of both is greater"),

    "map": ("cities-v1", lambda e: e.flip(27904 + 50), "corrupt", "2.2",
            "the map's node fails its hash"),
    "catalog": ("cities-v1", lambda e: e.flip(26240 + 60), "corrupt", "2.2",
                "the extent of the catalog's page fails its hash"),
    "extent-uncompressed": ("cities-v1", uncompressed, "corrupt", "2.2",
                            "the extent of the schema's page is not compressed and fails its hash"),
    "extent-commit": ("cities-v1", lambda e: e.flip(e.extent_at(3) + 24), "corrupt", "2.2",
                      "the extent's field commit has another value than was hashed"),
    "extent-hash": ("cities-v1", lambda e: e.flip(e.extent_at(3)), "corrupt", "2.2",
                    "the extent's own field hash has another value than the address"),
    "extent-address": ("cities-v1", named_otherwise, "corrupt", "2.1",
                       "the address has another hash than the extent"),
    "extent-moved": ("cities-v1", moved, "corrupt", "2.2",
                     "the extent is at another unit than the one that its hash is of"),
    "extent-page": ("cities-v1", lambda e: e.header(3, 8, "Q", 9), "corrupt", "2.2",
                    "the extent has the page ID 9"),
    "extent-kind": ("cities-v1", lambda e: e.header(3, 42, "H", 2), "corrupt", "2.2",
                    "the extent has kind 2"),
    "extent-length": ("cities-v1", longer_page, "corrupt", "2.2",
                      "the extent's image has 1040 bytes, P is 1024"),
    "extent-beyond": ("cities-v1", led(4096, 4), "truncated", "2.1",
                      "the map's address of a page is after the file's end"),
    "extent-unit": ("cities-v1", led(1 << 46, 4), "corrupt", "2.1",
                    "the map's address of a page has unit 2^46"),
    "extent-in-superblocks": ("cities-v1", in_superblock, "corrupt", "2.1",
                              "the map's address of a page is inside slot 0, where the extent is"),
    "extent-without-units": ("cities-v1", led(210, 0), "corrupt", "2.1",
                             "the map's address of a page has unitCount 0"),
    "extent-too-long": ("cities-v1", led(210, 65535), "corrupt", "2.1",
                        "the map's address of a page has unitCount 65,535"),
    "page-absent": ("cities-v1", lambda e: e.lead(3, 0, 0, 0), "corrupt", "3.5",
                    "the map has no address of the schema's page"),
    "map-entry-zero": ("cities-v1", lambda e: e.lead(0, 1, 1, 1), SAME, "2.3",
                       "entry 0 of the map is not zero"),

    "lost-commit": ("cities-v1", lambda e: e.flip(28800), "corrupt", "3.6",
                    "a frame of commit 3 fails its hash, which a later group calls durable"),
    "torn-group": ("cities-v1", lambda e: e.flip(COMMIT_FRAME + 20), TORN, "3.6",
                   "the last COMMIT fails its hash"),
    "lost-pad": ("cities-v1", lambda e: e.flip(29248), "corrupt", "3.6",
                 "the PAD after commit 3 fails its hash; groupDurableCommit of the later group is 3"),
    "torn-at-group": ("cities-v1", lambda e: e.flip(29696), TORN, "3.6",
                      "the last GROUP fails its hash; its groupDurableCommit is that of the state"),
    "delta-without-flag": ("cities-v1", lambda e: e.frame(e.last(DELTA, 7), 13, "B", 0), "corrupt",
                           "3.1", "a DELTA without the bit for LZ4, with the right hash"),
    "delta-of-image": ("cities-v1", frames(lambda e: [e.delta(7, e.pages.page(7), packs=False)]),
                       "corrupt", "3.1",
                       "a DELTA without the bit for LZ4, whose payload is the image"),
    "delta-after-free": ("cities-v1", frames(lambda e: [e.free(7), e.delta(7, e.pages.page(7))]),
                         "corrupt", "3.1", "a DELTA of a page that the same commit freed before"),
    "delta-of-nothing": ("cities-v1", frames(
        lambda e: [e.delta(9, e.pages.page(7), base=b"")]), "corrupt", "3.1",
        "a DELTA of a page without a version, which needs no byte of one"),
    "delta-of-chunk": ("cities-v1", chunk_below, "corrupt", "3.1",
                       "a DELTA that needs no byte of the version before, "
                       "which is a chunk of 2048 bytes in the map"),
    "free-of-nothing": ("cities-v1", frames(lambda e: [e.free(9)]), SAME, "3.1",
                        "FREE of a page without a version"),
    "free-count": ("cities-v1", frames(lambda e: [e.free(9, count=2)]), "corrupt", "3.1",
                   "FREE with freeCount 2 and one ID"),
    "free-zero": ("cities-v1", frames(lambda e: [e.free(0)]), "corrupt", "3.1", "FREE of page 0"),
    "page-zero": ("cities-v1", lambda e: e.frame(e.last(DELTA, 7), 16, "Q", 0), "corrupt", "3.1",
                  "a frame of page 0, with the right hash"),
    "page-beyond": ("cities-v1", frames(lambda e: [e.full(HIGH, e.pages.page(7))]), "corrupt",
                    "3.1", "FULL of page 2^48"),
    "image-hash": ("cities-v1", lambda e: e.frame(e.last(DELTA, 7), 24, "Q", 0), "corrupt", "3.1",
                   "a frame whose image has another hash"),
    "image-length": ("cities-v1", frames(lambda e: [e.full(9, e.pages.page(7)[:512])]), "corrupt",
                     "3.1", "FULL with an image of 512 bytes"),
    "image-kind": ("cities-v1", frames(lambda e: [e.full(9, b"\x09" + bytes(1023))]), "corrupt",
                   "3.1", "FULL with an image of kind 9, of a page that nothing leads to"),
    "list-of-zero": ("cities-v1", frames(
        lambda e: [e.full(9, struct.pack("<BBHIQQ", 4, 1, 0, 8, 0, 0).ljust(1024, b"\0"))]),
        "corrupt", "3.1", "FULL with a list that names page 0, of a page that nothing leads to"),
    "overflow-flags": ("cities-v1", unreferenced(blob_page(flags=2)), "corrupt", "3.1",
                       "FULL with an overflow page of flags 2 that nothing leads to"),
    "overflow-zero": ("cities-v1", unreferenced(blob_page(zero=1)), "corrupt", "3.1",
                      "FULL with an overflow page that has 1 in a field that must be 0"),
    "overflow-payload": ("cities-v1", unreferenced(blob_page(payload=1009)), "corrupt", "3.1",
                         "FULL with an overflow page of payloadSize 1009"),
    "overflow-next": ("cities-v1", unreferenced(blob_page(following=9)), "corrupt", "3.1",
                      "FULL with an overflow page that names itself as next"),
    "overflow-beyond": ("cities-v1", unreferenced(blob_page(following=HIGH)), "corrupt", "3.1",
                        "FULL with an overflow page whose next is page 2^48"),
    "chunk-payload": ("cities-v1", unreferenced(blob_page(kind=5, flags=0)), "corrupt", "3.1",
                      "FULL with a chunk of payloadSize 8"),
    "fence-order": ("cities-v1", unreferenced(
        lambda e: e.images.node(0, [], number(2), number(1), 0)), "corrupt", "4.1",
        "FULL with a leaf whose lower fence is above its upper fence"),
    "fence-size": ("cities-v1", unreferenced(
        lambda e: e.images.node(0, [], b"a" * 150, b"b", 0)), "corrupt", "4.1",
        "FULL with a leaf whose lower fence has 150 bytes, K is 149"),
    "extent-frame-beyond": ("cities-v1", frames(lambda e: [e.name(9, 0, 4096, 4)]), "corrupt",
                            "3.1", "EXTENT whose extent is after the file's end"),
    "extent-frame-superblock": ("cities-v1", frames(lambda e: [e.name(9, 0, 1, 1)]), "corrupt",
                                "3.1", "EXTENT whose extent is inside slot 0"),
    "commit-skipped": ("cities-v1", lambda e: e.frame(COMMIT_FRAME, 16, "Q", 5), "corrupt", "3.1",
                       "commit 5 follows commit 3"),
    "commit-without-pages": ("cities-v1", lambda e: e.frame(COMMIT_FRAME, 24, "Q", 0), "corrupt",
                             "3.1", "a COMMIT with pageCount 0"),
    "commit-short": ("cities-v1", lambda e: e.group((COMMIT, e.commit()[1][:24], 0)), "corrupt",
                     "3.1", "a COMMIT of 40 bytes"),
    "commit-without-catalog": ("cities-v1", lambda e: e.group(e.commit(root=0)), "corrupt", "7",
                               "the newest COMMIT has catalogRoot 0"),
    "after-commit": ("cities-v1", lambda e: e.group(e.full(HIGH, e.pages.page(7))), "corrupt",
                     "3.1", "FULL of page 2^48 in a group without COMMIT"),
    "long-frames": ("cities-v1", long_frames, SAME, "3.1",
                    "a COMMIT and a PAD with reserved bits and more bytes than they need"),
    "link-number": ("strange-v1", lambda e: e.frame(e.last(LINK), 32, "Q", 1), "corrupt", "3.1",
                    "a LINK to a segment that is not the next"),
    "link-lost": ("strange-v1", lambda e: e.flip(e.last(LINK) + 20), "corrupt", "3.6",
                  "the last LINK fails its hash, and the segment that it leads to has a group"),
    "link-after-lost": ("strange-v1", quiet_group, "corrupt", "3.6",
                        "a COMMIT fails its hash; a later group has a LINK and calls nothing durable"),
    "link-offset": ("strange-v1", lambda e: e.frame(e.last(LINK), 16, "Q", 4096), "corrupt", "3.1",
                    "a LINK into the superblocks"),
    "link-length": ("strange-v1", lambda e: e.frame(e.last(LINK), 24, "Q", 512), "corrupt", "3.1",
                    "a LINK to a segment of 512 bytes"),
    "link-overlap": ("strange-v1", shared_segment, "corrupt", "3.1",
                     "a LINK to a segment that the log has already"),
    "link-beyond": ("strange-v1", lambda e: e.frame(e.last(LINK), 16, "Q", 1 << 20), "corrupt",
                    "3.1", "a LINK to a segment after the file's end"),

    "node": ("cities-v1", page(4, 14, "H", 1), "corrupt", "4.1",
             "the leaf of the records has 1 in a field that must be 0"),
    "node-level": ("cities-v1", page(4, 1, "B", 1), "corrupt", "4.1", "a leaf of level 1"),
    "leaf-child": ("cities-v1", page(4, 16, "Q", 9), "corrupt", "4.1", "a leaf with a first child"),
    "node-gap": ("cities-v1", page(4, 100, "B", 1), "corrupt", "4.1",
                 "a byte between slots and cells is 1"),
    "node-garbage": ("cities-v1", page(4, 12, "H", 1), "corrupt", "4.1",
                     "garbageSize is 1 in a leaf without garbage"),
    "slot-head": ("cities-v1", page(4, 32, "I", 1), "corrupt", "4.1",
                  "the head of a slot is not the beginning of its key"),
    "key-order": ("cities-v1", slots(swapped), "corrupt", "4.1",
                  "the first two slots of the records are exchanged"),
    "key-size": ("cities-v1", long_catalog_key, "corrupt", "4.1",
                 "the catalog has a key of 150 bytes, K is 149"),
    "value-size": ("cities-v1", long_value, "corrupt", "4.1",
                   "a record of 228 bytes in its leaf, V is 224"),
    "cell-overlap": ("cities-v1", slots(overlapping), "corrupt", "4.1",
                     "the value of a cell reaches into the next cell"),
    "cell-outside": ("cities-v1", slots(outside), "corrupt", "4.1",
                     "the value of a cell ends after the page"),
    "root-fence": ("cities-v1", lambda e: e.leaf(4, e.rows(4), upper=number(4)), "corrupt", "4.1",
                   "the root of the records has an upper fence"),
    "branch": ("cities-v1", branch(), SAME, "4.1", "nothing: the records are in two leaves"),
    "branch-own-child": ("cities-v1", own_child, "corrupt", "4.1", "a branch names itself as child"),
    "child-level": ("cities-v1", branch(level=2), "corrupt", "4.1",
                    "the children of a branch of level 2 are leaves"),
    "child-fence": ("cities-v1", branch(upper=b""), "corrupt", "4.1",
                    "the first child has no upper fence, its parent has a slot after it"),
    "child-twice": ("cities-v1", branch(first=9), "corrupt", "4.1",
                    "a branch names one child twice"),
    "key-above-fence": ("cities-v1", branch(cut=2), "corrupt", "4.1",
                        "the first leaf has the key that is its upper fence"),
    "prefix": ("cities-v1", prefix, "corrupt", "4.1",
               "prefixSize of a leaf is 6, its fences share 7 bytes"),

    "blob-payload": ("cities-v1", page(3, 4, "I", 518), "corrupt", "4.3",
                     "payloadSize of the schema's page is one more than the blob's size"),
    "blob-next": ("cities-v1", page(3, 8, "Q", 5), "corrupt", "4.3",
                  "the last page of a blob names a next one"),
    "blob-flags": ("cities-v1", page(3, 1, "B", 0), "corrupt", "4.3",
                   "the first page of a blob has flags 0"),
    "reference-zero": ("cities-v1", lambda e: e.leaf(1, e.rows(1) + [
        (b"zz", struct.pack("<QQ", 0, 5), 1 << 15)]), "corrupt", "4.1",
        "a key that is not listed refers to a blob whose first page is 0"),
    "blob-page-twice": ("cities-v1", twice, "corrupt", "4.3",
                        "the list of a blob of two chunks names one chunk twice"),

    "record-tag": ("cities-v1", record(0, "H", 9), "corrupt", "5.1",
                   "the last record is of no entity"),
    "record-version": ("cities-v1", record(2, "H", 2), "corrupt", "5.1",
                       "the last record has layoutVersion 2"),
    "record-slots": ("cities-v1", record(4, "H", 3), "corrupt", "5.1",
                     "the last record has a count of slots that no layout has"),
    "record-heap": ("cities-v1", record(20, "I", 4000), "corrupt", "5.2",
                    "a value of the last record ends outside it"),
    "record-nil": ("cities-v1", record(32, "II", 4000, 1, index=1), "corrupt", "5.2",
                   "the slot of a decimal that is nil leads outside its record"),
    "record-blob": ("cities-v1", record(20, "I", 13 | 1 << 31), "corrupt", "5.2",
                    "a reference to a blob has 13 bytes"),
    "record-value-blob-decimal": ("cities-v1", as_blob("City", 2), "corrupt", "5.2",
                                  "the slot of a decimal has the bit of a blob, which holds its bytes"),
    "record-value-blob-uuid": ("kinds-v1", as_blob("Thing", 15), "corrupt", "5.2",
                               "the slot of a uuid has the bit of a blob, which holds its bytes"),
    "record-cut": ("cities-v1", cut_record, "corrupt", "5.1",
                   "a record ends before its last slot"),
    "record-hierarchy": ("strange-v1", other_hierarchy, "corrupt", "5.1",
                         "a record among the boxes is of an entity of another hierarchy"),
    "record-key": ("cities-v1", long_key, "corrupt", "5", "the key of a record has 9 bytes"),
    "record-number-zero": ("cities-v1", zero_number, "corrupt", "5",
                           "the first record has the number 0"),
    "link-key": ("strange-v1", links("near", lambda k, v: (k + b"\0", v)), "corrupt", "6.5",
                 "the key of a link has 17 bytes"),
    "link-value": ("strange-v1", links("near", lambda k, v: (k, b"\0")), "corrupt", "6.5",
                   "a link of a to-many without order has a value"),
    "link-target": ("strange-v1", links("order", lambda k, v: (k, v[1:])), "corrupt", "6.5",
                    "the value of an ordered link has 7 bytes"),

    "missing-layout": ("cities-v1", renamed(b"layout", b"layouu"), "corrupt", "7.1",
                       "the catalog has no layout"),
    "missing-tree": ("cities-v1", renamed(b"tree/links/City/twin", b"tree/links/City/twim"),
                     "corrupt", "7.1", "the catalog has no tree of a relationship"),
    "tree-zero": ("cities-v1", valued(b"tree/records/City", lambda v: bytes(8)), "corrupt", "7.1",
                  "the root page of a tree is 0"),
    "tree-short": ("cities-v1", valued(b"tree/records/City", lambda v: v[:4]), "corrupt", "7.1",
                   "the root page of a tree has 4 bytes"),
    "unknown-keys": ("cities-v1", strange_keys, SAME, "7.1",
        "the catalog has a key that is not listed and a tree that the schema does not ask for"),
    "schema-version": ("cities-v1", text(b'"formatVersion":1', b'"formatVersion":2'), "newerFormat",
                       "7.3", "the schema has formatVersion 2"),
    "schema-member": ("cities-v1", text(b'"isCoded"', b'"isCodee"'), "corrupt", "7.3",
                      "an attribute lacks a member"),
    "schema-member-type": ("cities-v1", text(b'"isOptional":false', b'"isOptional":10000'),
                           "corrupt", "7.3", "isOptional is a number"),
    "schema-type": ("cities-v1", text(b'"int64"', b'"int65"'), "corrupt", "7.3",
                    "an attribute has a type that there is not"),
    "schema-destination": ("cities-v1", text(b'"destinationEntityName":"City"',
                                             b'"destinationEntityName":"Citz"'), "corrupt", "7.3",
                           "the destination of a relationship does not exist"),
    "schema-column": ("cities-v1", text(b'[["people"]]', b'[["peopls"]]'), "corrupt", "7.3",
                      "a column of an index does not exist"),
    "schema-columns": ("cities-v1", modelled(lambda s, c: c["indexes"].append(["name"] * 9)),
                       "corrupt", "7.3", "an index has 9 columns"),
    "schema-no-column": ("cities-v1", modelled(lambda s, c: c["indexes"].append([])), "corrupt",
                         "7.3", "an index has no column"),
    "schema-kind": ("cities-v1", text(b'"toOne"', b'"toTwo"'), "corrupt", "7.3",
                    "a relationship has a kind that there is not"),
    "schema-rule": ("cities-v1", text(b'"nullify"', b'"nullifx"'), "corrupt", "7.3",
                    "a relationship has a delete rule that there is not"),
    "schema-superentity": ("cities-v1", modelled(lambda s, c: c.update(superentityName="Town")),
                           "corrupt", "7.3", "a superentity does not exist"),
    "schema-circle": ("cities-v1", modelled(lambda s, c: c.update(superentityName="City")),
                      "corrupt", "7.3", "an entity is its own superentity"),
    "schema-property-twice": ("cities-v1", modelled(
        lambda s, c: c["attributes"].append(c["attributes"][0])), "corrupt", "7.3",
        "an entity has two attributes of one name"),
    "schema-slash": ("cities-v1", slashed, "corrupt", "7.1",
                     "a relationship's name has a slash, in the schema, the layout and its tree"),
    "inverse-missing": ("strange-v1", text(b'"inverseName": "upper"', b'"inverseName": "uppes"'),
                        "corrupt", "7.4", "a relationship names an inverse that there is not"),
    "inverse-of-two": ("strange-v1", second_inverse, "corrupt", "7.4",
                       "two relationships name one as their inverse"),
    "inverse-elsewhere": ("strange-v1", text(b'"inverseName": "nearOf"', b'"inverseName": "things"'),
                          "corrupt", "7.4",
                          "a relationship names an inverse that leads to other objects"),
    "layout-form": ("cities-v1", layout(0, "H", 2), "newerFormat", "7.5", "the layout has form 2"),
    "layout-tag": ("cities-v1", layout(4, "H", 0), "corrupt", "7.5", "an entity has tag 0"),
    "layout-tags": ("cities-v1", laid_out(entities=2, more=gone(1)), "corrupt", "7.5",
                    "an entity that is gone has the tag of the one before"),
    "layout-gone": ("cities-v1", laid_out(entities=2, more=gone(9)), SAME, "7.5",
                    "nothing: an entity that is gone has tag 9"),
    "layout-gone-counts": ("cities-v1", laid_out(entities=2, more=gone(9, 4)), "corrupt", "7.5",
                           "an entity that is gone has a slot count"),
    "layout-slot": ("cities-v1", layout(42, "H", 1), "corrupt", "7.5",
                    "two properties have one slot"),
    "layout-count": ("cities-v1", layout(18, "H", 3), "corrupt", "7.5",
                     "the last slot count is 3, a property has slot 3"),
    "layout-counts": ("cities-v1", laid_out(counts=(4, 4)), "corrupt", "7.5",
                      "an entity has the slot count 4 twice"),
    "layout-counts-max": ("cities-v1", laid_out(counts=(4, 4001)), "corrupt", "7.5",
                          "an entity has the slot count 4001"),
    "layout-retired": ("cities-v1", laid_out(counts=(4, 5), retired=[(4, 13)]), SAME, "7.5",
                       "nothing: slot 4 is retired"),
    "layout-retired-slot": ("cities-v1", laid_out(retired=[(3, 13)]), "corrupt", "7.5",
                            "a slot that a property has is retired"),
    "layout-retired-beyond": ("cities-v1", laid_out(retired=[(4, 13)]), "corrupt", "7.5",
                              "a slot after the last is retired"),
    "layout-retired-type": ("cities-v1", laid_out(counts=(4, 5), retired=[(4, 18)]), "corrupt",
                            "7.5", "the type of a retired slot is 18"),
    "layout-initial": ("cities-v1", laid_out(people=bytes(7)), "corrupt", "7.5",
                       "the initial value of an int64 has 7 bytes"),
    "layout-initial-link": ("cities-v1", laid_out(twin=bytes(8)), "corrupt", "7.5",
                            "a to-one link has an initial value"),
    "layout-rest": ("cities-v1", valued(b"layout", lambda v: v + b"\0"), "corrupt", "7.5",
                    "a byte follows the last entity"),
}
