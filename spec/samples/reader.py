#!/usr/bin/env python3
"""Reads a Trellis store with nothing but the specification: reader.py FILE [ENTITY [JSON]].

Prints the objects of an entity, or of all of them, one JSON object a line, as `trellis dump
--json` words them. With a file of JSON it compares them instead, and ends with 1 when they differ.
It shows that the chapters suffice; it is slow and reads everything into memory.
"""
import base64, datetime, json, struct, sys, uuid

MASK = (1 << 64) - 1
P1, P2, P3, P4, P5 = (11400714785074694791, 14029467366897019727, 1609587929392839161,
                      9650029242287828579, 2870177450012600261)


class Damage(Exception):
    pass


def require(condition, what):
    if not condition:
        raise Damage(what)


def u16(b, o): return struct.unpack_from("<H", b, o)[0]
def u32(b, o): return struct.unpack_from("<I", b, o)[0]
def u64(b, o): return struct.unpack_from("<Q", b, o)[0]
def rotate(x, n): return (x << n | x >> (64 - n)) & MASK
def mix(a, lane): return rotate((a + lane * P2) & MASK, 31) * P1 & MASK


def xxh64(b, seed):
    n, i = len(b), 0
    if n >= 32:
        a = [(seed + P1 + P2) & MASK, (seed + P2) & MASK, seed, (seed - P1) & MASK]
        for lanes in struct.iter_unpack("<4Q", b[:n - n % 32]):
            a = [mix(a[k], lanes[k]) for k in range(4)]
        i = n - n % 32
        h = sum(rotate(a[k], (1, 7, 12, 18)[k]) for k in range(4)) & MASK
        for k in range(4):
            h = ((h ^ mix(0, a[k])) * P1 + P4) & MASK
    else:
        h = (seed + P5) & MASK
    h = (h + n) & MASK
    while i + 8 <= n:
        h = (rotate(h ^ mix(0, u64(b, i)), 27) * P1 + P4) & MASK
        i += 8
    if i + 4 <= n:
        h = (rotate(h ^ (u32(b, i) * P1 & MASK), 23) * P2 + P3) & MASK
        i += 4
    for byte in b[i:]:
        h = rotate(h ^ (byte * P5 & MASK), 11) * P1 & MASK
    h = (h ^ h >> 33) * P2 & MASK
    h = (h ^ h >> 29) * P3 & MASK
    return h ^ h >> 32


def lz4(b, size):
    out, i = bytearray(), 0
    while True:
        token = b[i]; i += 1
        count = token >> 4
        if count == 15:
            while True:
                count += b[i]; i += 1
                if b[i - 1] != 255: break
        out += b[i:i + count]; i += count
        if i >= len(b): break
        distance = u16(b, i); i += 2
        require(0 < distance <= len(out), "an LZ4 distance")
        count = (token & 15) + 4
        if token & 15 == 15:
            while True:
                count += b[i]; i += 1
                if b[i - 1] != 255: break
        for _ in range(count): out.append(out[-distance])
    require(len(out) == size, "an LZ4 length")
    return bytes(out)


class Store:
    """Chapters 1 to 3: pages by id."""

    def __init__(self, path):
        with open(path, "rb") as file: self.file = file.read()
        self.superblock()
        self.versions, self.images = {}, {}
        self.log()

    def superblock(self):
        found = []
        for slot in range(2):
            b = self.file[slot * 4096:slot * 4096 + 4096]
            if (len(b) == 4096 and u64(b, 0) == 0x0A73696C6C657254
                    and u64(b, 4088) == xxh64(b[:4088], 0) and u32(b, 8) == 1
                    and u64(b, 64) == 0 and u64(b, 16) & 1 == slot
                    and u64(b, 176) <= len(self.file)):
                found.append(b)
        require(found, "no valid superblock")
        b = self.root = max(found, key=lambda b: u64(b, 16))
        self.page_size, self.unit_size, self.depth = u32(b, 12), u32(b, 40), u32(b, 44)
        self.uuid, self.commit, self.catalog = b[24:40], u64(b, 72), u64(b, 96)

    def seed(self, a, b=0, c=0):
        return xxh64(self.uuid + struct.pack("<3Q", a, b, c), 0)

    def extent(self, address, kind, name):
        place = u64(address, 8)
        unit, count = place & (1 << 48) - 1, place >> 48
        b = self.file[unit * self.unit_size:(unit + count) * self.unit_size]
        require(len(b) == count * self.unit_size >= 48, "an extent outside the file")
        stored, raw = u32(b, 32), u32(b, 36)
        require(48 + stored <= len(b), "a payload longer than its extent")
        require(u64(b, 0) == u64(address, 0) == xxh64(b[8:48 + stored], self.seed(unit)),
                f"the hash of the extent at unit {unit}")
        require(u16(b, 42) == kind and u64(b, 8) == name, "another extent than named")
        return lz4(b[48:48 + stored], raw) if u16(b, 40) & 1 else b[48:48 + stored]

    def mapped(self, page):
        """The address of a page in the map; None when it has none."""
        fanout, address, begin = self.page_size // 16, self.root[104:120], 0
        if page >= fanout ** self.depth: return None
        for level in range(self.depth - 1, -1, -1):
            if not any(address): return None
            node = self.extent(address, 2, level << 56 | begin)
            index = (page - begin) // fanout ** level
            address, begin = node[index * 16:index * 16 + 16], begin + index * fanout ** level
        return address if any(address) else None

    def log(self):
        offset, size, number = (u64(self.root, o) for o in (136, 144, 152))
        salt, pending = struct.unpack_from("<2Q", self.root, 160), {}
        while True:
            b, position = self.file[offset:offset + size], 0
            chain, link = self.seed(number, *salt), None
            while link is None and position + 16 <= len(b):
                length, kind = u32(b, position + 8), b[position + 12]
                frame = b[position:position + length]
                if length < 16 or length % 8 or len(frame) < length: break
                if u64(frame, 0) != xxh64(frame[8:], chain): break
                chain, position = u64(frame, 0), position + length
                if kind in (2, 3):
                    page, payload = u64(frame, 16), frame[40:40 + u32(frame, 36)]
                    image = lz4(payload, u32(frame, 32)) if frame[13] & 1 else payload
                    if kind == 3:
                        base = self.image(pending.get(page, self.versions.get(page)), page)
                        image = bytes(x ^ y for x, y in zip(image, base))
                    require(u64(frame, 24) == xxh64(image, page), "the hash of an image")
                    pending[page] = ("image", image)
                elif kind == 4:
                    pending[u64(frame, 16)] = ("extent", frame[24:40])
                elif kind == 5:
                    for k in range(u32(frame, 16)): pending[u64(frame, 24 + 8 * k)] = ("freed",)
                elif kind == 6:
                    require(u64(frame, 16) == self.commit + 1, "a commit is missing")
                    self.commit, self.catalog = u64(frame, 16), u64(frame, 32)
                    self.versions.update(pending)
                    pending = {}
                elif kind == 7:
                    link = frame
            if link is None: return
            offset, size, number = (u64(link, o) for o in (16, 24, 32))
            salt = struct.unpack_from("<2Q", link, 40)

    def image(self, version, page):
        if version is None:
            address = self.mapped(page)
            require(address, f"page {page} does not exist")
            return self.extent(address, 1, page)
        require(version[0] != "freed", f"page {page} was freed")
        return version[1] if version[0] == "image" else self.extent(version[1], 1, page)

    def page(self, page):
        if page not in self.images:
            self.images[page] = self.image(self.versions.get(page), page)
        return self.images[page]

    # Chapter 4

    def blob(self, first, size):
        pages, run = [], first
        while run:
            pages.append(self.page(run))
            run = u64(pages[-1], 8)
        if size > 65536:
            names = b"".join(p[16:16 + u32(p, 4)] for p in pages)
            pages = [self.page(u64(names, o)) for o in range(0, len(names), 8)]
        b = b"".join(p[16:16 + u32(p, 4)] for p in pages)
        require(len(b) == size, "the size of a blob")
        return b

    def entries(self, root):
        """The keys and values of a tree in order."""
        b = self.page(root)
        require(b[0] in (1, 2), f"page {root} is no node")
        lower, upper = u16(b, 6), u16(b, 8)
        prefix, slots = b[24:24 + u16(b, 4)], (24 + lower + upper + 7) // 8 * 8
        if b[0] == 2: yield from self.entries(u64(b, 16))
        for slot in range(slots, slots + 8 * u16(b, 2), 8):
            cell, key_size = u16(b, slot + 4), u16(b, slot + 6)
            value = cell + 2 + key_size
            if b[0] == 2:
                yield from self.entries(u64(b, value))
            elif u16(b, cell) & 0x8000:
                yield prefix + b[cell + 2:value], self.blob(u64(b, value), u64(b, value + 8))
            else:
                yield prefix + b[cell + 2:value], b[value:value + u16(b, cell)]


class Records:
    """Chapters 5 to 7: objects by entity."""

    def __init__(self, store):
        self.store, catalog = store, dict(store.entries(store.catalog))
        self.trees = {k[5:].decode(): u64(v, 0)
                      for k, v in catalog.items() if k.startswith(b"tree/")}
        self.entities = json.loads(catalog[b"schema"])["schema"]["entities"]
        self.by_name = {e["name"]: e for e in self.entities}
        self.links = {}

    def above(self, entity):
        """The entity's line, root first."""
        parent = self.by_name.get(entity.get("superentityName"))
        return (self.above(parent) if parent else []) + [entity]

    def slots(self, entity):
        return [p for e in self.above(entity) for p in
                [(a["name"], a["type"]) for a in e["attributes"]]
                + [(r["name"], None) for r in e["relationships"] if r["kind"] == "toOne"]]

    def objects(self, name):
        root = self.above(self.by_name[name])[0]
        for key, record in self.store.entries(self.trees["records/" + root["name"]]):
            entity = self.entities[u16(record, 0) - 1]
            if self.by_name[name] not in self.above(entity): continue
            yield self.object(int.from_bytes(key, "big"), entity, record)

    def object(self, number, entity, record):
        values = {}
        for i, (name, kind) in enumerate(self.slots(entity)):
            bitmap, slot = 8 + i // 64 * 65 * 8, 8 * (2 + i + i // 64)
            is_nil = u64(record, bitmap) >> i % 64 & 1
            values[name] = None if is_nil else self.value(kind, record, slot)
        result = {"$entity": entity["name"], "$number": number}
        line = self.above(entity)
        for e in line:
            for a in e["attributes"]: result[a["name"]] = values[a["name"]]
        for e in line:
            for r in e["relationships"]:
                one = r["kind"] == "toOne"
                result[r["name"]] = values[r["name"]] if one else self.linked(e, r, number)
        return result

    def value(self, kind, record, slot):
        if kind is None: return u64(record, slot) or None
        if kind == "bool": return u64(record, slot) != 0
        if kind.startswith("int"): return struct.unpack_from("<q", record, slot)[0]
        if kind.startswith("uint"): return u64(record, slot)
        if kind == "float": return struct.unpack_from("<f", record, slot)[0]
        if kind == "double": return struct.unpack_from("<d", record, slot)[0]
        if kind == "date":
            seconds = struct.unpack_from("<d", record, slot)[0]
            date = datetime.datetime(2001, 1, 1) + datetime.timedelta(seconds=seconds)
            return date.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        offset, length = u32(record, slot), u32(record, slot + 4)
        b = record[offset:offset + (length & 0x7FFFFFFF)]
        if length >> 31: b = self.store.blob(u64(b, 0), u64(b, 8))
        if kind == "data": return base64.b64encode(b).decode()
        if kind == "uuid": return str(uuid.UUID(bytes=b)).upper()
        return decimal(b) if kind == "decimal" else b.decode(errors="replace")

    def linked(self, entity, relationship, number):
        """The to-many links of an object: 6.5."""
        tree, mirrors = f"links/{entity['name']}/{relationship['name']}", False
        if tree not in self.trees:
            owner, name = self.inverse(entity, relationship)
            tree, mirrors = f"links/{owner}/{name}", True
        if tree not in self.links:
            table = self.links[tree] = {}
            for key, value in self.store.entries(self.trees[tree]):
                first, second = struct.unpack(">2Q", key)
                ordered = relationship["kind"] == "toManyOrdered"
                target = int.from_bytes(value, "big") if ordered and not mirrors else second
                table.setdefault(first, []).append(target)
        return self.links[tree].get(number, [])

    def inverse(self, entity, relationship):
        for e in self.above(self.by_name[relationship["destinationEntityName"]]):
            for r in e["relationships"]:
                if relationship.get("inverseName") == r["name"] or (
                        r.get("inverseName") == relationship["name"]
                        and entity in self.above(self.by_name[r["destinationEntityName"]])):
                    return e["name"], r["name"]
        raise Damage(f"{relationship['name']} has no links")


def decimal(b):
    if b[0] == 0: return "NaN"
    if b[0] == 2: return "0"
    rest = bytes(255 - x for x in b[1:]) if b[0] == 1 else b[1:]
    exponent = int.from_bytes(rest[:2], "big") - 32768
    digits = "".join(f"{x - 1:02d}" for x in rest[2:rest.index(0, 2)]).rstrip("0")
    if exponent <= 0: text = "0." + "0" * -exponent + digits
    elif len(digits) <= exponent: text = digits + "0" * (exponent - len(digits))
    else: text = digits[:exponent] + "." + digits[exponent:]
    return ("-" if b[0] == 1 else "") + text


def compare(entity, found, expected):
    for ours, theirs in zip(found, expected):
        if ours != theirs: sys.exit(f"{entity} {ours['$number']}: {ours} and {theirs} differ")
    if len(found) != len(expected):
        sys.exit(f"{entity}: {len(found)} objects and {len(expected)} expected")
    print(f"{entity}: {len(found)} objects, all equal")


def main():
    if len(sys.argv) < 2: sys.exit(__doc__)
    records = Records(Store(sys.argv[1]))
    if len(sys.argv) > 3:
        with open(sys.argv[3], encoding="utf-8") as file: expected = json.load(file)
        return compare(sys.argv[2], list(records.objects(sys.argv[2])), expected)
    names = sys.argv[2:] or [e["name"] for e in records.entities if "superentityName" not in e]
    for name in names:
        for found in records.objects(name): print(json.dumps(found, ensure_ascii=False))


if __name__ == "__main__":
    main()
