#!/usr/bin/env python3
"""A writer of small Trellis stores, written from the specification alone.

    trellis_writer.py FILE SEED           a store of random objects
    trellis_writer.py FILE SEED STORE     the content of STORE, every page in another place
    trellis_writer.py FILE SEED RETIRED   a store of random objects, of which boxes lost a property

The seed chooses everything: page and unit size, objects and their values, and for each page
whether the map holds it or the log does, as an image, as deltas or out of line.
"""

import random
import struct
import sys

import lz4.block

import trellis_model
from trellis_file import (BLOCK, CHUNK_MAX, COMMIT, DELTA, EXTENT, FREE, FULL, GROUP, LINK, MAGIC,
                          OVERFLOW_MAX, PAD, SECTOR, Node, Pages, hashed)
from trellis_model import make_trees


class Images:
    """Pages by id, before anything is known of places: trees and blobs (chapter 4)."""

    def __init__(self, size):
        self.size, self.images, self.next, self.nodes = size, {}, 1, {}
        self.key_max, self.inline_max = min((size - 128) // 6, 4096), (size - 128) // 4

    def new(self):
        self.next += 1
        return self.next - 1

    def tree(self, rows):
        """A tree of ascending (key, value); its root page."""
        root, level = self.new(), 0
        rows = [(key, *self.placed(value)) for key, value in rows]
        nodes = self.divided(rows)
        bounds = [b""] + [node[0][0] for node in nodes[1:]]
        children = [root] if len(nodes) == 1 else [self.new() for _ in nodes]
        for i, node in enumerate(nodes):
            upper = bounds[i + 1] if i + 1 < len(nodes) else b""
            self.keep(children[i], level, node, bounds[i], upper, 0)
        while len(children) > 1:
            level += 1
            rows = [(b, struct.pack("<Q", c), 0) for b, c in zip(bounds, children)]
            nodes = self.divided(rows)
            bounds = [node[0][0] for node in nodes]
            children = [root] if len(nodes) == 1 else [self.new() for _ in nodes]
            for i, node in enumerate(nodes):
                upper = bounds[i + 1] if i + 1 < len(nodes) else b""
                first = struct.unpack("<Q", node[0][1])[0]
                self.keep(children[i], level, node[1:], bounds[i], upper, first)
        return root

    def placed(self, value):
        if len(value) <= self.inline_max:
            return value, 0
        return struct.pack("<QQ", *self.blob(value)), 1 << 15

    def divided(self, rows):
        nodes, room = [[]], 0
        for key, value, away in rows:
            taken = 10 + len(key) + len(value)
            if nodes[-1] and room < taken:
                nodes.append([])
            if not nodes[-1]:
                room = self.size - 32 - 2 * self.key_max
            nodes[-1].append((key, value, away))
            room -= taken
        return nodes

    def keep(self, page, *content):
        self.nodes[page] = content
        self.images[page] = self.node(*content)

    def earlier(self, page, chance):
        """A version of a page as it may have been: sound, as every image in a file is."""
        if page in self.nodes:
            level, rows, *rest = self.nodes[page]
            return self.node(level, [row for row in rows if chance.random() < 0.7], *rest)
        image = bytearray(self.images[page])
        if image[0] == 4:
            return bytes(image)
        for _ in range(chance.randrange(1, 9)):
            image[chance.randrange(16, len(image))] = chance.randrange(256)
        return bytes(image)

    def node(self, level, rows, lower, upper, first):
        prefix = 0
        while upper and prefix < min(len(lower), len(upper)) and lower[prefix] == upper[prefix]:
            prefix += 1
        slots, heap, low = b"", b"", self.size
        for key, value, away in rows:
            key = key[prefix:]
            cell = struct.pack("<H", len(value) | away) + key + value
            low, heap = low - len(cell), cell + heap
            slots += struct.pack("<IHH", int.from_bytes(key[:4].ljust(4, b"\0"), "big"), low,
                                 len(key))
        head = struct.pack("<BBHHHHHHHQ", 2 if level else 1, level, len(rows), prefix, len(lower),
                           len(upper), len(heap), 0, 0, first) + lower + upper
        head += bytes(-len(head) % 8) + slots
        assert len(head) <= low
        return head + bytes(low - len(head)) + heap

    def blob(self, data):
        """The first page and the size of a blob."""
        if len(data) <= OVERFLOW_MAX:
            return self.run(3, data), len(data)
        full, ids = CHUNK_MAX - 16, b""
        for at in range(0, len(data), full):
            part, page = data[at:at + full], self.new()
            self.images[page] = struct.pack("<BBHIQ", 5, 0, 0, len(part), 0) + part
            ids += struct.pack("<Q", page)
        return self.run(4, ids), len(data)

    def run(self, kind, data):
        room = self.size - 16
        parts = [data[at:at + room] for at in range(0, len(data), room)] or [b""]
        pages = [self.new() for _ in parts]
        for i, part in enumerate(parts):
            following = pages[i + 1] if i + 1 < len(pages) else 0
            head = struct.pack("<BBHIQ", kind, int(i == 0), 0, len(part), following)
            self.images[pages[i]] = (head + part).ljust(self.size, b"\0")
        return pages[0]


class File:
    """Bytes of a file whose space is handed out from its start (chapters 1 to 3)."""

    def __init__(self, chance, size, unit):
        self.chance, self.size, self.unit = chance, size, unit
        self.uuid, self.data, self.used = chance.randbytes(16), bytearray(2 * BLOCK), []
        self.generation = chance.randrange(3, 1000)

    def seed(self, *words):
        return hashed(self.uuid + struct.pack("<QQQ", *(words + (0, 0, 0))[:3]))

    def take(self, length, align):
        """A place behind all others: its offset."""
        self.data += bytes(-len(self.data) % align)
        offset = len(self.data)
        self.data += bytes(length + -length % align)
        self.used.append((offset // self.unit, (len(self.data) - offset) // self.unit))
        return offset

    def extent(self, page, kind, image, commit=0, squeeze=True):
        """Writes an extent and gives its address."""
        packed = lz4.block.compress(image, store_size=False) if squeeze else image
        payload = packed if len(packed) < len(image) else image
        offset = self.take(48 + len(payload), self.unit)
        return self.fill(offset, page, kind, payload, len(image), commit)

    def fill(self, offset, page, kind, payload, length, commit=0):
        rest = struct.pack("<QQQIIHHI", page, self.generation, commit, len(payload), length,
                           int(len(payload) < length), kind, 0) + payload
        own = hashed(rest, self.seed(offset // self.unit))
        self.data[offset:offset + 8 + len(rest)] = struct.pack("<Q", own) + rest
        count = (48 + len(payload) + self.unit - 1) // self.unit
        return struct.pack("<QQ", own, offset // self.unit | count << 48)

    def map(self, addresses):
        """The map of some pages: its top's address and its depth."""
        fanout, depth = self.size // 16, 1 + self.chance.randrange(2)
        while addresses and max(addresses) >= fanout ** depth:
            depth += 1
        for level in range(depth):
            nodes = {}
            for begin, address in addresses.items():
                span = fanout ** level
                node = begin // (span * fanout) * span * fanout
                nodes.setdefault(node, bytearray(self.size))
                index = (begin - node) // span
                nodes[node][16 * index:16 * index + 16] = address
            addresses = {begin: self.extent(level << 56 | begin, 2, bytes(node))
                         for begin, node in nodes.items()}
        return addresses.get(0, bytes(16)), depth

    def allocation(self, free):
        """Saves what was taken so far, and the state itself; runs of free page ids too."""
        zone_bytes, size = self.size * 8, self.size
        block_max, zones = 48 + 3 * size, 1
        while True:
            end = (len(self.data) // self.unit) + 1 + zones * ((48 + size) // self.unit + 1) \
                + 3 * (block_max // self.unit + 1)
            if zones * zone_bytes >= end:
                break
            zones += 1
        places = [self.take(48 + size, self.unit) for _ in range(zones)]
        stream_length = 32 + 16 * zones + 16 * len(free)
        part = max(64, stream_length // 2)
        blocks = [self.take(48 + 16 + part, self.unit) for _ in range(0, stream_length, part)]
        images = [bytearray(size) for _ in range(zones)]
        for first, count in self.used + [(0, 2 * BLOCK // self.unit)]:
            for unit in range(first, first + count):
                images[unit // zone_bytes][unit % zone_bytes // 8] |= 1 << unit % 8
        stream = struct.pack("<QQQQ", len(self.data) // self.unit, zones, 0, len(free))
        for i, image in enumerate(images):
            stream += self.fill(places[i], i, 3, bytes(image), size)
        stream += b"".join(struct.pack("<QQ", *run) for run in free)
        following = bytes(16)
        for i in range(len(blocks) - 1, -1, -1):
            image = following + stream[i * part:(i + 1) * part].ljust(part, b"\0")
            following = self.fill(blocks[i], i, 4, image, len(image))
        return following

    def superblock(self, generation, words):
        head = struct.pack("<QIIQ16sII", MAGIC, 1, self.size, generation, self.uuid, self.unit,
                           words["depth"])
        head += struct.pack("<QQQQQQQ", 0, 0, 0, words["commit"], 10 ** 18, words["pages"],
                            words["catalog"])
        head += words["map"] + words["allocation"]
        head += struct.pack("<QQQQQQ", *words["head"], words["required"])
        # Lineages, the origin of a copy, and a history of one session before all commits (1.4).
        mark = hashed(struct.pack("<QQQQ", 0, 0, *words["head"][3:])) or 1
        head += struct.pack("<QQQQIIQQ", 0, 0, 0, 0, 1, 0, 0, mark)
        head = head.ljust(4088, b"\0")
        start = (generation & 1) * BLOCK
        self.data[start:start + BLOCK] = head + struct.pack("<Q", hashed(head))


class Log:
    """The chain of frames, group by group, segment by segment."""

    def __init__(self, file, length):
        self.file, self.groups = file, 0
        self.number = file.chance.randrange(1, 99)
        self.open(length)

    def open(self, length):
        self.salt = self.file.chance.getrandbits(64), self.file.chance.getrandbits(64)
        self.at = self.file.take(length, BLOCK)
        self.end, self.head = self.at + length, (self.at, length, self.number, *self.salt)
        self.chain = self.file.seed(self.number, *self.salt)

    def frame(self, kind, content, flags=0):
        content += bytes(-len(content) % 8)
        rest = struct.pack("<IBBH", 16 + len(content), kind, flags, 0) + content
        self.chain = hashed(rest, self.chain)
        self.file.data[self.at:self.at + 8 + len(rest)] = struct.pack("<Q", self.chain) + rest
        self.at += 8 + len(rest)

    def group(self, frames, durable):
        """Writes frames as a group; in a new segment when they do not fit this one."""
        need = 72 + SECTOR * 2 + sum(24 + len(content) for _, content, _ in frames)
        if self.at + need > self.end or self.file.chance.random() < 0.2:
            old = self.at, self.end, self.chain, self.salt
            self.number += 1
            self.open((need + BLOCK - 1) // BLOCK * BLOCK)
            new, self.new = (self.at, self.end, self.chain, self.salt), self.head
            self.at, self.end, self.chain, self.salt = old
            self.write([(LINK, struct.pack("<QQQQQ", *self.new), 0)], durable)
            self.at, self.end, self.chain, self.salt = new
        self.write(frames, durable)

    def write(self, frames, durable):
        self.groups += 1
        begin = self.salt + (self.groups, durable)
        length = struct.pack("<IBBH", 56, GROUP, 0, 0)
        content = struct.pack("<QQQQ", *begin)
        self.frame(GROUP, content + struct.pack("<Q", hashed(length + content)))
        for kind, content, flags in frames:
            self.frame(kind, content, flags)
        room = -self.at % SECTOR
        if 0 < room < 16:
            room += SECTOR
        if room:
            self.frame(PAD, bytes(room - 16))


def packed(image, base=None):
    known = {} if base is None else {"dict": base}
    return lz4.block.compress(image, store_size=False, **known)


def divide(file, images, chance, logged):
    """Puts pages into the map, some of them as they were: (addresses, what the log must say)."""
    addresses, changes = {}, {}
    for page, image in images.images.items():
        base = image
        if chance.random() < logged:
            inside = len(image) == file.size and image[0] != 5
            base = images.earlier(page, chance) if inside and chance.random() < 0.5 else None
            changes[page] = base
        if base is not None:
            addresses[page] = file.extent(page, 1, base)
    return addresses, changes


def log_frames(file, images, chance, changes):
    """The frames of some commits that make pages what they are in the end."""
    commits = [[] for _ in range(chance.randrange(1, 6))]
    for page, base in changes.items():
        image, steps = images.images[page], sorted(chance.choices(range(len(commits)), k=3))
        if image[0] == 5:
            address = file.extent(page, 1, image)
            commits[steps[0]].append((EXTENT, struct.pack("<Q", page) + address, 0))
            continue
        steps = steps[:chance.randrange(1, 4)]
        for i, step in enumerate(steps):
            made = image if i + 1 == len(steps) else images.earlier(page, chance)
            kind, payload = FULL, packed(made)
            if base is not None and chance.random() < 0.7:
                kind, payload = DELTA, packed(made, base)
            elif len(payload) >= len(made) or chance.random() < 0.1:
                payload = made
            content = struct.pack("<QQII", page, hashed(made, page), len(made), len(payload))
            commits[step].append((kind, content + payload, int(payload is not made)))
            base = made
    return commits


def copied(pages):
    """The pages of a store as they are, to be written to other places."""
    images, known = Images(pages.size), {page for page, _ in pages.mapped() if page is not None}
    for page in known | set(pages.versions):
        image = pages.version(pages.versions, page)
        if image is not None:
            images.images[page] = image
        if image is not None and image[0] in (1, 2):
            node = Node(pages, page)
            rows = [(key, value, away << 15) for key, value, away in node.rows]
            images.nodes[page] = node.level, rows, node.lower, node.upper, sum(node.children[:1])
    images.next = pages.page_count
    return images, pages.catalog


def write(path, seed, source=None, unfinished=()):
    """Writes a store; at the log's end also groups without COMMIT."""
    chance = random.Random(seed)
    size = source.size if source else chance.choice([512, 1024, 4096, 16384, 65536])
    unit = chance.choice([u for u in (64, 128, 512, 1024, 4096) if u <= 4 * size])
    if source:
        images, catalog = copied(source)
    else:
        images = Images(size)
        catalog = make_trees(images, chance)
    ghosts = [images.new() for _ in range(chance.randrange(4))]
    pages = images.next + 3
    file = File(chance, size, unit)
    log = Log(file, 4 * BLOCK)
    head, logged = log.head, chance.choice([0, 0.2, 0.7, 1])
    addresses, changes = divide(file, images, chance, logged)
    for page in ghosts:
        addresses[page] = file.extent(page, 1, images.node(0, [], b"", b"", 0))
    root, depth = file.map(addresses)
    free = [(images.next, 3)]
    allocation = file.allocation(free)
    file.data += bytes(-len(file.data) % BLOCK)
    words = {"depth": depth, "commit": chance.randrange(1, 1000), "pages": pages, "catalog": catalog,
             "map": root, "allocation": allocation, "head": head, "required": len(file.data)}
    for generation in (file.generation, file.generation + 1):
        file.superblock(generation, words)
    commits = log_frames(file, images, chance, changes) if logged else []
    if ghosts:
        frees = struct.pack(f"<II{len(ghosts)}Q", len(ghosts), 0, *ghosts)
        commits.append([(FREE, frees, 0)])
    number = words["commit"]
    for frames in commits:
        number += 1
        frames.append((COMMIT, struct.pack("<QQQQ", number, pages, catalog, 10 ** 18), 0))
        log.group(frames, number - 1)
    for frames in unfinished:
        log.group(frames, number)
    with open(path, "wb") as out:
        out.write(file.data)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    store = None
    if sys.argv[3:] == ["RETIRED"]:
        trellis_model.RETIRING.add("Box")
    elif len(sys.argv) == 4:
        with open(sys.argv[3], "rb") as file:
            store = Pages(file.read())
    write(sys.argv[1], int(sys.argv[2]), store)
