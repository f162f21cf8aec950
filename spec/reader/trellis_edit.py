"""Changes of a sample, whose hashes can be made right again: what `trellis_damage.py` is made of."""

import pathlib
import struct

import lz4.block

from trellis_file import (BLOCK, COMMIT, DELTA, EXTENT, FREE, FULL, GROUP, LINK, PAD, SECTOR, Node,
                          Pages, blob, entries, hashed, unpack)
from trellis_writer import Images

SAMPLES = pathlib.Path(__file__).resolve().parent.parent / "samples"


class Edit:
    def __init__(self, sample):
        self.before = (SAMPLES / f"{sample}.trellis").read_bytes()
        self.data, self.pages = bytearray(self.before), Pages(self.before)
        self.images = Images(self.pages.size)

    def put(self, offset, form, *values):
        struct.pack_into("<" + form, self.data, offset, *values)

    def flip(self, offset):
        self.data[offset] ^= 0x55

    # Superblocks

    def superblock(self, slot, offset, form, *values):
        """Changes a field of a superblock, whose hash is right all the same."""
        start = slot * BLOCK
        self.put(start + offset, form, *values)
        self.put(start + 4088, "Q", hashed(bytes(self.data[start:start + 4088])))

    def superblocks(self, offset, form, *values):
        for slot in (0, 1):
            self.superblock(slot, offset, form, *values)

    # Extents and the map, which has one node in the samples that are changed here

    def entry(self, page):
        """The map's address of a page: hash, unit, unitCount."""
        own, place = unpack("QQ", self.pages.address(page))
        return own, place & (1 << 48) - 1, place >> 48

    def extent_at(self, page):
        return self.entry(page)[1] * self.pages.unit

    def seal(self, unit):
        """Makes the hash of an extent right, and returns it."""
        at = unit * self.pages.unit
        stored = struct.unpack_from("<I", self.data, at + 32)[0]
        own = hashed(bytes(self.data[at + 8:at + 48 + stored]), self.pages.seed(unit))
        self.put(at, "Q", own)
        return own

    def place(self, unit, page, image, kind=1, packs=True):
        """Writes an extent, and returns its address."""
        payload = lz4.block.compress(image, store_size=False) if packs else image
        at, own = unit * self.pages.unit, self.pages.top.generation
        self.data[at:at + 48 + len(payload)] = struct.pack(
            "<QQQQIIHHI", 0, page, own, 0, len(payload), len(image), int(packs), kind, 0) + payload
        count = (48 + len(payload) + self.pages.unit - 1) // self.pages.unit
        return self.seal(unit), unit, count

    def lead(self, page, own, unit, count):
        """Changes the map's entry of a page; the map's hash is right all the same."""
        root = self.pages.top.map_root
        node = bytearray(self.pages.extent(root, 0, 2))
        struct.pack_into("<QQ", node, 16 * page, own, unit | count << 48)
        first, units = unpack("Q", root, 8)[0] & (1 << 48) - 1, root[14]
        at, payload = first * self.pages.unit, lz4.block.compress(bytes(node), store_size=False)
        assert 48 + len(payload) <= units * self.pages.unit
        self.put(at + 32, "I", len(payload))
        room = units * self.pages.unit - 48
        self.data[at + 48:at + 48 + room] = payload.ljust(room, b"\0")
        self.superblock(self.pages.top.generation & 1, 104, "Q", self.seal(first))

    def header(self, page, offset, form, *values):
        """Changes a field of the extent of a page, with every hash right."""
        _, unit, count = self.entry(page)
        self.put(unit * self.pages.unit + offset, form, *values)
        self.lead(page, self.seal(unit), unit, count)

    # Frames of the log as it is

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

    def last(self, kind, page=None):
        """The last frame of a kind, of a page if one is named."""
        return [at for at, _, found in self.pages.frames if found == kind
                and page in (None, unpack("Q", self.before, at + 16)[0])][-1]

    def last_before(self, kind, end):
        return [at for at, _, found in self.pages.frames if found == kind and at < end][-1]

    # A group more at the log's end

    def group(self, *frames):
        """Writes frames (type, content, flags) as a group with every hash right."""
        start, size, _ = self.pages.frames[-1]
        links = [at for at, _, kind in self.pages.frames if kind == LINK]
        self.at, self.own = start + size, unpack("Q", self.before, start)[0]
        salt = self.before[links[-1] + 40:links[-1] + 56] if links else \
            struct.pack("<QQ", *self.pages.top.head[3:])
        assert self.at % SECTOR == 0
        head = struct.pack("<IBBH", 56, GROUP, 0, 0) + salt + \
            struct.pack("<QQ", 1, self.pages.commit)
        self.add(GROUP, head[8:] + struct.pack("<Q", hashed(head)))
        for kind, content, flags in frames:
            self.add(kind, content, flags)
        room = -self.at % SECTOR
        self.add(PAD, bytes(room + (SECTOR if 0 < room < 16 else 0) - 16))

    def add(self, kind, content, flags=0):
        content += bytes(-len(content) % 8)
        rest = struct.pack("<IBBH", 16 + len(content), kind, flags, 0) + content
        self.own = hashed(rest, self.own)
        self.data[self.at:self.at + 8 + len(rest)] = struct.pack("<Q", self.own) + rest
        self.at += 8 + len(rest)
        assert len(self.data) == len(self.before)

    def commit(self, more=1, pages=None, root=None):
        return COMMIT, struct.pack(
            "<QQQQ", self.pages.commit + more, self.pages.page_count + 4 if pages is None else pages,
            self.pages.catalog if root is None else root, 0), 0

    def full(self, page, image):
        payload = lz4.block.compress(image, store_size=False)
        return FULL, struct.pack(
            "<QQII", page, hashed(image, page), len(image), len(payload)) + payload, 1

    def delta(self, page, image, base=None, packs=True):
        base = self.pages.page(page) if base is None else base
        payload = lz4.block.compress(image, store_size=False, dict=base) if packs else image
        return DELTA, struct.pack(
            "<QQII", page, hashed(image, page), len(image), len(payload)) + payload, int(packs)

    def free(self, *pages, count=None):
        return FREE, struct.pack(
            f"<II{len(pages)}Q", len(pages) if count is None else count, 0, *pages), 0

    def name(self, page, own, unit, count):
        return EXTENT, struct.pack("<QQQ", page, own, unit | count << 48), 0

    def image(self, page, change):
        """A commit that changes bytes of a page."""
        image = bytearray(self.pages.page(page))
        change(image)
        self.group(self.delta(page, bytes(image)), self.commit())

    # Trees and records

    def rows(self, page):
        """The rows of a leaf: (key, value, flag of a blob)."""
        return [(key, value, away << 15) for key, value, away in Node(self.pages, page).rows]

    def fences(self, page):
        node = Node(self.pages, page)
        return node.lower, node.upper

    def first_leaf(self, page):
        node = Node(self.pages, page)
        return page if node.leaf else self.first_leaf(node.children[0])

    def leaf(self, page, rows, lower=b"", upper=b""):
        """A commit that makes a page a leaf with other rows."""
        self.group(self.delta(page, self.images.node(0, rows, lower, upper, 0)), self.commit())

    def tree(self, name):
        """The root page of a tree."""
        return unpack("Q", dict(entries(self.pages, self.pages.catalog))[name.encode()])[0]

    def schema(self):
        """First page and size of the blob that holds the schema."""
        number = self.pages.catalog
        while True:
            node = Node(self.pages, number)
            if node.leaf:
                return unpack("QQ", next(row[1] for row in node.rows if row[0] == b"schema"))
            number = node.children[sum(row[0] <= b"schema" for row in node.rows)]

    def text(self, old, new):
        """A commit that changes the schema's text, which keeps its length."""
        page, size = self.schema()
        text = blob(self.pages, page, size)
        at = text.index(old)
        made, room = text.replace(old, new, 1), self.pages.size - 16
        assert len(made) == len(text), at
        frames = []
        for start in range(0, size, room):
            image = self.pages.page(page)
            part = made[start:start + room]
            if image[16:16 + len(part)] != part:
                changed = image[:16] + part + image[16 + len(part):]
                frames.append(self.delta(page, changed))
            page = unpack("Q", image, 8)[0]
        self.group(*frames, self.commit())

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
