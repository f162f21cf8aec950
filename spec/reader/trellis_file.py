"""A Trellis file as pages, written from chapters 1 to 4 of the specification alone.

`Pages` opens a file and hands out images by page id; `entries` walks a tree and `blob` gathers a
blob. Whatever contradicts the chapters raises `Damaged`, with the place.
"""

import struct

import lz4.block
import xxhash

BLOCK, SECTOR, MAGIC = 4096, 512, 0x0A73696C6C657254
GROUP, FULL, DELTA, EXTENT, FREE, COMMIT, LINK, PAD = range(1, 9)
PAGE_MAX, COMPRESSED_MAX, CHUNK_MAX, DEPTH_MAX = 1 << 48, 2 << 20, 1 << 20, 24
NUMBER_MAX, ZONE_MAX = 1 << 60, 1 << 22
EXTENT_HEADER, FRAME_MAX, OVERFLOW_MAX = 48, (2 << 20) + 64, 65536


class Damaged(Exception):
    """The file cannot be read: `code` is the error of chapter 12."""

    def __init__(self, message, code="corrupt"):
        super().__init__(message)
        self.code = code


def need(condition, message, code="corrupt"):
    if not condition:
        raise Damaged(message, code)


def hashed(data, seed=0):
    return xxhash.xxh64_intdigest(data, seed)


def unpack(form, data, offset=0):
    """Little-endian numbers, with damage instead of a Python error at a short end."""
    need(offset >= 0 and offset + struct.calcsize("<" + form) <= len(data), "a structure is cut")
    return struct.unpack_from("<" + form, data, offset)


def decompressed(payload, size, base=None):
    need(size <= COMPRESSED_MAX, "a payload claims more than the limit")
    try:
        known = {"dict": base} if base is not None else {}
        image = lz4.block.decompress(payload, uncompressed_size=size, **known)
    except lz4.block.LZ4BlockError as error:
        raise Damaged(f"a payload is no LZ4 block: {error}") from error
    need(len(image) == size, "a payload gives another length than it says")
    return image


class Superblock:
    """Chapter 1.1: one copy, checked in the order that the chapter gives."""

    def __init__(self, data, slot):
        raw = data[slot * BLOCK:(slot + 1) * BLOCK]
        need(len(raw) >= 8 and unpack("Q", raw)[0] == MAGIC, "not a store", "notAStore")
        need(len(raw) == BLOCK, "the file ends inside its superblock", "truncated")
        need(hashed(raw[:4088]) == unpack("Q", raw, 4088)[0], f"superblock {slot} fails its hash")
        version, self.page_size, self.generation = unpack("IIQ", raw, 8)
        need(version == 1, f"format version {version} is newer", "newerFormat")
        self.uuid, self.unit_size, self.map_depth = unpack("16sII", raw, 24)
        _, self.read_only, incompatible = unpack("QQQ", raw, 48)
        need(incompatible == 0, "features that this reader does not know", "newerFormat")
        self.commit, self.time, self.page_count, self.catalog = unpack("QQQQ", raw, 72)
        self.map_root, self.allocation = raw[104:120], raw[120:136]
        self.head = unpack("QQQQQ", raw, 136)
        need(max(self.generation, self.commit, self.head[2]) <= NUMBER_MAX, "a number is out of range")
        self.required = unpack("Q", raw, 176)[0]
        sessions = unpack("I", raw, 216)[0]
        need(sessions <= 240, "more sessions than a superblock has room for")
        bases = [unpack("Q", raw, 224 + 16 * i)[0] for i in range(sessions)]
        need(bases == sorted(bases) and max(bases, default=0) <= self.commit, "sessions in no order")
        for size, low, high in ((self.page_size, 512, 65536), (self.unit_size, 64, 4096)):
            need(low <= size <= high and size & (size - 1) == 0, "a size out of range")
        need(self.unit_size <= 4 * self.page_size, "units larger than four pages")
        need(self.generation & 1 == slot, "a generation in the wrong slot")
        need(1 <= self.map_depth <= 12 and 1 <= self.page_count <= PAGE_MAX, "a limit is passed")
        need(self.required < 1 << 62, "requiredLength is out of range")
        need(max(self.generation, self.commit, self.head[2]) <= 1 << 60, "a number out of range")
        check_segment(self.head[0], self.head[1], self.required)
        need(self.required <= len(data), "the file is shorter than its content", "truncated")


def check_segment(offset, length, end):
    need(offset % BLOCK == 0 and offset >= 2 * BLOCK, "a segment begins at no block")
    need(length % BLOCK == 0 and BLOCK <= length <= 1 << 30, "a segment's length")
    need(offset + length <= end, "a segment ends outside")


def current(data):
    """Chapter 1.2: the superblock with the higher generation, or the error of the file."""
    copies, reasons = [], {}
    for slot in (0, 1):
        try:
            copies.append(Superblock(data, slot))
        except Damaged as reason:
            reasons.setdefault(reason.code, reason)
    for code in ("newerFormat", *(() if copies else ("truncated", "corrupt", "notAStore"))):
        if code in reasons:
            raise reasons[code]
    need(len({copy.uuid for copy in copies}) == 1, "two superblocks of two files")
    return max(copies, key=lambda copy: copy.generation)


class Pages:
    """The newest commit of a file: the map of the newest generation, the log's versions above."""

    def __init__(self, data):
        self.data = data
        self.top = current(data)
        self.size, self.unit = self.top.page_size, self.top.unit_size
        self.catalog, self.page_count = self.top.catalog, self.top.page_count
        self.commit = self.top.commit
        self.key_max = min((self.size - 128) // 6, 4096)
        self.inline_max = (self.size - 128) // 4
        self.versions, self.segments, self.frames = {}, [], []
        self.replay()

    def seed(self, *words):
        words = (words + (0, 0, 0))[:3]
        return hashed(self.top.uuid + struct.pack("<QQQ", *words))

    # Chapter 2: extents and the map

    def extent(self, address, page, kind):
        """The image that an address leads to: its hash is checked before anything else."""
        expected, place = unpack("QQ", address)
        unit, count = place & (1 << 48) - 1, place >> 48
        start, length = unit * self.unit, count * self.unit
        need(unit < 1 << 46 and count >= 1, f"page {page}: an address without place")
        need(length <= CHUNK_MAX + EXTENT_HEADER + self.unit, f"page {page}: an extent too long")
        need(start >= 2 * BLOCK, f"page {page}: an extent inside the superblocks")
        need(start + length <= len(self.data), f"page {page}: the file ends inside its extent",
             "truncated")
        raw = self.data[start:start + length]
        own, stored_page, generation, commit, stored, size, flags, stored_kind = \
            unpack("QQQQIIHH", raw)
        need(EXTENT_HEADER + stored <= length, f"page {page}: a payload longer than its extent")
        computed = hashed(raw[8:EXTENT_HEADER + stored], self.seed(unit))
        need(own == expected == computed, f"page {page}: an extent contradicts its hash")
        need(stored_page == page and stored_kind == kind, f"page {page}: another page's extent")
        need(1 <= size <= CHUNK_MAX, f"page {page}: an image of {size} bytes")
        need(kind in (1, 4) or size == self.size, f"page {page}: rawLength is not P")
        need(kind != 4 or size > 16, f"allocation block {page}: no part of the stream")
        payload = raw[EXTENT_HEADER:EXTENT_HEADER + stored]
        if flags & 1:
            return decompressed(payload, size)
        need(stored == size, f"page {page}: an image of another length")
        return payload

    def address(self, page):
        """What the map says of a page id: an address, or None."""
        fanout, node, begin = self.size // 16, self.top.map_root, 0
        for level in range(self.top.map_depth - 1, -1, -1):
            if not any(node):
                return None
            image, span = self.extent(node, level << 56 | begin, 2), fanout ** level
            index = (page - begin) // span
            if index >= fanout:
                return None
            node, begin = image[16 * index:16 * index + 16], begin + index * span
        return node if any(node) else None

    def mapped(self, node=None, level=None, begin=0):
        """Every (page id, address) of the map, and every node as (None, address)."""
        level = self.top.map_depth - 1 if level is None else level
        node = self.top.map_root if node is None else node
        if not any(node):
            return
        yield None, node
        image, span = self.extent(node, level << 56 | begin, 2), (self.size // 16) ** level
        for index in range(self.size // 16):
            entry = image[16 * index:16 * index + 16]
            if level and any(entry):
                yield from self.mapped(entry, level - 1, begin + index * span)
            elif any(entry):
                yield begin + index, entry

    def version(self, versions, page):
        """A page as an image: what is above the map, or what the map says. None: no page."""
        found = versions[page] if page in versions else self.address(page)
        if found is None or len(found) != 16:
            return found
        return self.extent(found, page, 1)

    def page(self, page, kind=None):
        need(1 <= page < PAGE_MAX, f"page {page}: no such page")
        image = self.version(self.versions, page)
        need(image is not None, f"page {page}: nothing lies there")
        need(kind is None or image[:1] == bytes([kind]), f"page {page}: not of kind {kind}")
        need(kind == 5 or len(image) == self.size, f"page {page}: an image that is not P bytes")
        return image

    # Chapter 3: the log

    def replay(self):
        offset, length, number, low, high = self.top.head
        open_versions, ended = {}, False
        while True:
            self.segments.append((offset, length))
            chain, at, end, link = self.seed(number, low, high), offset, offset + length, None
            while at + 16 <= end and link is None:
                own, size, kind = unpack("QIB", self.data, at)
                if not (size % 8 == 0 and 16 <= size <= min(end - at, FRAME_MAX)):
                    break
                frame = self.data[at:at + size]
                if hashed(frame[8:], chain) != own or not GROUP <= kind <= PAD:
                    break
                self.frames.append((at, size, kind))
                chain = own
                if kind == GROUP:
                    ended = False
                elif kind == COMMIT:
                    self.commit_frame(frame, open_versions)
                    ended = True
                elif kind == LINK:
                    link = unpack("QQQQQ", frame, 16)
                elif kind in (FULL, DELTA, EXTENT, FREE):
                    self.change(frame, kind, open_versions)
                at += size
            if link is None:
                self.look_after(at, end, low, high, ended and at % SECTOR != 0)
                if at > offset:
                    self.look_elsewhere(number + 1)
                return
            need(link[2] == number + 1 <= NUMBER_MAX, "a link to a segment of the wrong number")
            offset, length, number, low, high = link
            check_segment(offset, length, len(self.data))
            need(all(offset >= a + n or a >= offset + length for a, n in self.segments),
                 "a link into a segment of the log")

    def commit_frame(self, frame, open_versions):
        number, count, root, _ = unpack("QQQQ", frame, 16)
        need(number == self.commit + 1 <= NUMBER_MAX, f"commit {number} follows commit {self.commit}")
        need(1 <= count <= PAGE_MAX, "a page count out of range")
        self.commit, self.page_count, self.catalog = number, count, root
        self.versions.update(open_versions)
        open_versions.clear()

    def change(self, frame, kind, versions):
        if kind == FREE:
            count = unpack("I", frame, 16)[0]
            for page in unpack(f"{count}Q", frame, 24):
                need(1 <= page < PAGE_MAX, f"a frame of page {page}")
                versions[page] = None
            return
        page, image_hash = unpack("QQ", frame, 16)
        need(1 <= page < PAGE_MAX, f"a frame of page {page}")
        if kind == EXTENT:
            place = unpack("Q", frame, 32)[0]
            unit, count = place & (1 << 48) - 1, place >> 48
            need(2 * BLOCK <= unit * self.unit and count >= 1
                 and (unit + count) * self.unit <= len(self.data), f"page {page}: a frame's place")
            versions[page] = frame[24:40]
            return
        size, stored = unpack("II", frame, 32)
        need(size == self.size and 40 + stored <= len(frame), f"page {page}: a frame's lengths")
        payload = frame[40:40 + stored]
        if kind == DELTA:
            need(frame[13] & 1, f"page {page}: a delta that is not LZ4")
            base = self.version({**self.versions, **versions}, page)
            need(base is not None, f"page {page}: a delta of nothing")
            need(len(base) == self.size, f"page {page}: a delta of a chunk that is not P bytes")
            sound(self, page, base)
            payload = decompressed(payload, size, base)
        elif frame[13] & 1:
            payload = decompressed(payload, size)
        need(len(payload) == size, f"page {page}: an image that is not P bytes")
        need(hashed(payload, page) == image_hash, f"page {page}: an image contradicts its hash")
        sound(self, page, payload)
        versions[page] = payload

    def look_after(self, at, end, low, high, inside):
        """Chapter 3.6: a later group that knew a later durable commit means a lost one."""
        known = self.commit if inside else self.commit + 1
        for sector in range((at + SECTOR - 1) // SECTOR * SECTOR, end - 55, SECTOR):
            group = self.data[sector:sector + 56]
            if group[12] == GROUP and unpack("QQ", group, 16) == (low, high) \
                    and hashed(group[8:48]) == unpack("Q", group, 48)[0]:
                durable = unpack("Q", group, 40)[0]
                need(durable < known and not self.links(sector, end),
                     f"byte {at}: the log is damaged, a commit is lost")

    def look_elsewhere(self, number):
        """Chapter 3.6, step 8: a group of the next segment means that its LINK was lost."""
        try:
            state = Allocation(self)
        except Damaged:
            return
        taken, pending = state.bits, {u for first, count, _, _ in state.pending
                                      for u in range(first, first + count)}
        for at in range(2 * BLOCK, len(self.data) - 55, BLOCK):
            unit = at // self.unit
            if unit in taken and unit not in pending:
                continue
            own, size, kind = unpack("QIB", self.data, at)
            if kind != GROUP or size != 56:
                continue
            chain = self.seed(number, *unpack("QQ", self.data, at + 16))
            need(hashed(self.data[at + 8:at + size], chain) != own,
                 f"byte {at}: the log goes on where no LINK leads")

    def links(self, group, end):
        """Whether a LINK chains from a group."""
        size, kind = unpack("IB", self.data, group + 64) if group + 72 <= end else (0, 0)
        return kind == LINK and 16 <= size <= end - group - 56 and size % 8 == 0 \
            and hashed(self.data[group + 64:group + 56 + size], unpack("Q", self.data, group)[0]) \
            == unpack("Q", self.data, group + 56)[0]


class Allocation:
    """Chapter 2.4: what the current generation saved of the file's space."""

    def __init__(self, pages):
        self.blocks, self.zones, address, parts = [], [], pages.top.allocation, []
        while any(address):
            need(address not in self.blocks and len(self.blocks) < 1 << 16, "allocation blocks")
            block = pages.extent(address, len(self.blocks), 4)
            self.blocks.append(address)
            parts.append(block[16:])
            address = block[:16]
        stream = b"".join(parts)
        self.units, zones, pending, free = unpack("QQQQ", stream)
        need(self.units * pages.unit <= pages.top.required, "allocated units after the content")
        need(zones <= ZONE_MAX and zones * 8 * pages.size >= self.units, "a count of zones")
        need(32 + 16 * zones + 32 * pending + 16 * free <= len(stream), "a stream that is cut")
        self.bits = set()
        for zone in range(zones):
            address = stream[32 + 16 * zone:48 + 16 * zone]
            if any(address):
                self.zones.append((zone, address))
                image, first = pages.extent(address, zone, 3), zone * 8 * pages.size
                self.bits.update(first + 8 * i + b for i, byte in enumerate(image) if byte
                                 for b in range(8) if byte >> b & 1)
        need(max(self.bits, default=0) < self.units, "a unit after the end is taken")
        at = 32 + 16 * zones
        self.pending = [unpack("QQQQ", stream, at + 32 * i) for i in range(pending)]
        at += 32 * pending
        self.free, last, waiting = [], 1, set()
        for start, count in (unpack("QQ", stream, at + 16 * i) for i in range(free)):
            need(start >= last and start + count <= pages.top.page_count, "a run of free page IDs")
            last = start + count
            self.free += [(start, count)] if count else []
        for unit, count, _, _ in self.pending:
            need(count >= 1 and unit + count <= self.units and count * pages.unit <= 1 << 30,
                 "a pending run after the end")
            run = set(range(unit, unit + count))
            need(run <= self.bits and not run & waiting, "a pending run is free, or pends twice")
            waiting |= run


class Node:
    """Chapter 4.1: one leaf or branch, every check of its tables made."""

    def __init__(self, pages, number, image=None):
        self.image = image = pages.page(number) if image is None else image
        kind, self.level, count, prefix, lower, upper, heap, garbage, reserved, first = \
            unpack("BBHHHHHHHQ", image)
        fail = f"page {number}: "
        need(kind in (1, 2) and reserved == 0, fail + "no node of a tree")
        self.leaf = kind == 1
        need(self.level == 0 if self.leaf else 1 <= self.level < DEPTH_MAX, fail + "a level")
        need(max(lower, upper) <= pages.key_max, fail + "a fence longer than a key")
        slots, low = (24 + lower + upper + 7) // 8 * 8, pages.size - heap
        need(slots + 8 * count <= low, fail + "slots and cells overlap")
        self.lower, self.upper = image[24:24 + lower], image[24 + lower:24 + lower + upper]
        shared = next((i for i, (a, b) in enumerate(zip(self.lower, self.upper)) if a != b),
                      min(lower, upper))
        need(prefix == (shared if upper else 0), fail + "a prefix that fences do not share")
        need(not upper or self.lower < self.upper, fail + "fences out of order")
        need(first == 0 if self.leaf else self.leads(first, number), fail + "a first child")
        need(not any(image[24 + lower + upper:slots] + image[slots + 8 * count:low]),
             fail + "bytes that are not zero")
        self.rows, used, head_key = [], [], image[24:24 + prefix]
        for index in range(count):
            head, cell, size = unpack("IHH", image, slots + 8 * index)
            need(low <= cell and size + prefix <= pages.key_max, fail + "a slot")
            form = unpack("H", image, cell)[0]
            length, elsewhere = form & 0x7FFF, form >> 15
            key, value = image[cell + 2:cell + 2 + size], \
                image[cell + 2 + size:cell + 2 + size + length]
            need(len(value) == length, fail + "a cell that ends outside")
            need(head == int.from_bytes(key[:4].ljust(4, b"\0"), "big"), fail + "a slot's head")
            need(length == 16 if elsewhere and self.leaf else
                 length <= pages.inline_max if self.leaf else form == 8, fail + "a value's size")
            need(self.leaf and not elsewhere or self.leads(unpack("Q", value)[0], number),
                 fail + "a page ID")
            used.append((cell, 2 + size + length))
            self.rows.append((head_key + key, value, elsewhere))
        used.sort()
        need(all(a + n <= b for (a, n), (b, _) in zip(used, used[1:])), fail + "cells overlap")
        need(garbage == heap - sum(n for _, n in used), fail + "its garbage")
        keys = [row[0] for row in self.rows]
        need(all(a < b for a, b in zip(keys, keys[1:])), fail + "keys out of order")
        need(not keys or (self.lower <= keys[0] if self.leaf else self.lower < keys[0]),
             fail + "a key below its fence")
        need(not keys or not self.upper or keys[-1] < self.upper, fail + "a key above its fence")
        self.children = [] if self.leaf else [first] + [unpack("Q", v)[0] for _, v, _ in self.rows]

    def leads(self, page, number):
        return 0 < page < PAGE_MAX and page != number


def sound(pages, number, image):
    """Chapter 3.1: an image of the log is a page of its kind, whoever leads to it."""
    fail = f"page {number}: "
    need(len(image) == pages.size and 1 <= image[0] <= 5, fail + "an image of no kind")
    if image[0] <= 2:
        Node(pages, number, image)
        return
    kind, flags, zero, payload, following = unpack("BBHIQ", image)
    need(flags <= 1 and zero == 0 and payload <= pages.size - 16, fail + "a blob's page")
    need(following < PAGE_MAX and following != number, fail + "a next page")
    need(kind != 5 or (flags, payload, following) == (0, pages.size - 16, 0), fail + "a chunk")
    if kind == 4:
        need(payload % 8 == 0, fail + "a list that ends inside an id")
        for chunk in unpack(f"{payload // 8}Q", image, 16):
            need(0 < chunk < PAGE_MAX and chunk != number, fail + "a chunk's id")


def entries(pages, root, seen=None, wanted=lambda key: True):
    """Every (key, value) of a tree in order; values that lie elsewhere are gathered if wanted."""
    def walk(number, lower, upper, level):
        if seen is not None:
            need(number not in seen, f"page {number}: two lead to it")
            seen.add(number)
        node = Node(pages, number)
        need((node.lower, node.upper) == (lower, upper), f"page {number}: not its parent's fences")
        need(level is None or node.level == level, f"page {number}: not one level below")
        if node.leaf:
            for key, value, elsewhere in node.rows:
                if elsewhere and wanted(key):
                    value = blob(pages, *unpack("QQ", value), seen)
                yield key, value
            return
        bounds = [lower] + [key for key, _, _ in node.rows] + [upper]
        for child, low, high in zip(node.children, bounds, bounds[1:]):
            yield from walk(child, low, high, node.level - 1)
    yield from walk(root, b"", b"", None)


def blob(pages, first, size, seen=None):
    """Chapter 4.3: the bytes of a blob, page by page as its size asks."""
    def run(page, kind, length):
        parts, begin = [], 1
        while True:
            mark(page)
            image = pages.page(page, kind)
            _, flags, reserved, payload, following = unpack("BBHIQ", image)
            expected = min(length, pages.size - 16)
            need((flags, reserved, payload) == (begin, 0, expected), f"page {page}: a blob's page")
            parts.append(image[16:16 + payload])
            length, begin = length - payload, 0
            need((following == 0) == (length == 0), f"page {page}: a blob of another length")
            if following == 0:
                return b"".join(parts)
            page = following

    used = set()

    def mark(page):
        need(page not in used and (seen is None or page not in seen), f"page {page}: occurs twice")
        used.add(page)

    try:
        if size <= OVERFLOW_MAX:
            return run(first, 3, size)
        full = CHUNK_MAX - 16
        chunks = (size + full - 1) // full
        need(chunks * 16 <= len(pages.data), f"page {first}: a blob longer than the file")
        parts = []
        for page in unpack(f"{chunks}Q", run(first, 4, 8 * chunks)):
            mark(page)
            image = pages.page(page, 5)
            length = min(full, size)
            need(unpack("BBHIQ", image) == (5, 0, 0, length, 0) and len(image) == 16 + length,
                 f"page {page}: a chunk that its blob does not ask for")
            parts.append(image[16:])
            size -= length
        return b"".join(parts)
    finally:
        if seen is not None:
            seen |= used
