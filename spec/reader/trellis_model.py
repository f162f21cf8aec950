"""What the writer stores: a schema with every type and kind of link, and random objects."""

import json
import math
import struct

from trellis_values import INTEGERS, IN_HEAP, TEXTS, column, decimal_bytes, text_max

TYPES = ["bool", *INTEGERS, "float", "double", "decimal", "string", "data", "date", "uuid", "url"]
TEXT = ["", "a", "Ærøskøbing", "日本語", "\"\\/\b\f\n\r\t", "\0\x01\x1f\x7f\x85\u2028",
        "𝄞🇦🇼"]


def entity(name, attributes, relationships=(), above=None, abstract=False, indexes=(), uniques=()):
    made = {"name": name, "className": name, "isAbstract": abstract, "relationships":
            [dict(zip(("name", "destinationEntityName", "kind", "inverseName"), r),
                  deleteRule="nullify", minCount=0, maxCount=0) for r in relationships],
            "attributes": [{"name": n, "type": t, "isOptional": True, "isCoded": False}
                           for n, t in attributes],
            "indexes": [list(i) for i in indexes], "uniqueConstraints": [list(u) for u in uniques]}
    return made if above is None else dict(made, superentityName=above)


def schema():
    everything = [(f"{t}Value", t) for t in TYPES]
    return [
        entity("Thing", [("title", "string")] + everything,
               [("box", "Box", "toOne"), ("twin", "Thing", "toOne", "twinOf"),
                ("twinOf", "Thing", "toOne"), ("seen", "Box", "toOne"), ("heap", "Box", "toOne")],
               indexes=[["stringValue"], ["decimalValue", "dateValue"], ["box", "title"]] +
               [[n] for n, t in everything if t not in ("string", "decimal", "date")],
               uniques=[["title"]]),
        entity("Wide", [(f"w{i}", "int64") for i in range(70)], [("parent", "Wide", "toOne")],
               above="Thing", uniques=[["w0", "uuidValue"]]),
        entity("Nothing", []),
        entity("Shape", [("area", "double")], abstract=True, indexes=[["area"]]),
        entity("Round", [("radius", "float")], above="Shape"),
        entity("Box", [("name", "string")],
               [("things", "Thing", "toManyUnordered", "box"), ("order", "Thing", "toManyOrdered"),
                ("near", "Box", "toManyUnordered", "nearOf"), ("nearOf", "Box", "toManyUnordered"),
                ("loose", "Shape", "toManyUnordered"),
                ("pile", "Thing", "toManyOrdered", "heap"),
                ("peers", "Box", "toManyUnordered", "peers")]),
    ]


def text(chance, page):
    length = chance.choice([0, 1, 5, 20, page // 4, page // 4 + 1, page, 70000])
    made = "".join(chance.choice(TEXT) for _ in range(length // 3 + 1)).encode()[:length]
    return made.decode("utf-8", "ignore").encode() if chance.random() < 0.9 else made


def value(kind, chance, page):
    """A random value as `column` and records take it; None is nil."""
    if chance.random() < 0.15:
        return None
    if kind == "bool":
        return chance.randrange(2)
    if kind in INTEGERS:
        bits, signed = 8 * struct.calcsize("<" + INTEGERS[kind]), kind[0] == "i"
        low = -(1 << bits - 1) if signed else 0
        return chance.choice([low, low + (1 << bits) - 1, 0, 1, chance.randrange(1 << bits) + low])
    if kind in ("float", "double"):
        number = chance.choice([0.0, -0.0, 1.5, 0.1, -1e5, 1e16, 123456789.0, 1e-4, 1e-5, 5e-324,
                                3e38, 16777216.0, 2.0 ** 54,
                                math.pi * 10 ** chance.randrange(-30, 30),
                                math.nan, math.inf, -math.inf])
        return struct.unpack("<f", struct.pack("<f", number))[0] if kind == "float" else number
    if kind == "date":
        return chance.choice([0.0, 0.5, -1.0, 86400.0 * chance.randrange(-300000, 300000),
                              chance.random() * 1e9, 1e-7, 0.9999996, -63113904000.0 + 1])
    if kind == "decimal":
        digits = chance.randrange(10 ** chance.randrange(1, 39)) // 10 * 10 + 1
        plain = f"{chance.choice(['', '-'])}{digits}e{chance.choice([0, 0, -2, 5, -128, 127])}"
        return decimal_bytes(chance.choice(["0", "NaN", "1.50", "-0.001", plain, plain]))
    if kind == "uuid":
        return chance.randbytes(16)
    if kind == "url":
        return chance.choice([b"https://example.org/a?b=%20#c", b"mailto:a@b", b"x", b"",
                              "http://é/ü".encode(), b"https://example.org/" + b"a" * page])
    if kind == "data":
        return chance.randbytes(chance.choice([0, 1, 3, 100, page // 4, page, 66000]))
    return text(chance, page)


class Objects:
    """The objects of one hierarchy by number: (entity's tag, {property: value})."""

    def __init__(self, chance, page):
        self.chance, self.page, self.by_number, self.last = chance, page, {}, 0

    def add(self, tag, slots):
        self.last += self.chance.choice([1, 1, 1, 7])
        values = {n: None if t == "link" else value(t, self.chance, self.page)
                  for n, t in slots.items()}
        self.by_number[self.last] = tag, values
        return self.last, values


def record(images, tag, slots, values):
    """Chapter 5: the bytes of an object."""
    count = len(slots)
    words, heap = [0] * (1 + (count + 63) // 64 + count), b""
    words[0] = tag | 1 << 16 | count << 32
    for slot, (name, kind) in enumerate(slots.items()):
        found, place = values[name], 2 + slot + slot // 64
        if found is None:
            words[1 + slot // 64 * 65] |= 1 << slot % 64
        elif kind in IN_HEAP:
            away = kind in TEXTS and len(found) > images.size // 4
            part = struct.pack("<QQ", *images.blob(found)) if away else found
            words[place] = 8 * len(words) + len(heap) | (len(part) | away << 31) << 32
            heap += part
        elif kind in ("float", "double", "date"):
            words[place] = int.from_bytes(struct.pack("<f" if kind == "float" else "<d", found),
                                          "little")
        else:
            words[place] = int(found) & 0xFFFFFFFFFFFFFFFF
    return struct.pack(f"<{len(words)}Q", *words) + heap


def slots_of(entities, entity):
    """Chapter 5.1: superentities first, then attributes, then to-ones."""
    above = next((e for e in entities if e["name"] == entity.get("superentityName")), None)
    slots = dict(slots_of(entities, above)) if above else {}
    slots.update({a["name"]: a["type"] for a in entity["attributes"]})
    slots.update({r["name"]: "link" for r in entity["relationships"] if r["kind"] == "toOne"})
    return slots


def number(*words):
    return b"".join(word.to_bytes(8, "big") for word in words)


def link(chance, things, boxes, shapes):
    """Sets to-ones, and gives the rows of every tree of links."""
    rows = {name: set() for name in (
        "Thing/box", "Thing/twin", "Thing/twinOf", "Thing/seen", "Thing/heap", "Wide/parent",
        "Box/near", "Box/nearOf", "Box/loose", "Box/peers")}
    ordered, pile, wide = {}, {}, [n for n, (tag, _) in things.by_number.items() if tag == 2]

    def one(source, owner, name, target):
        things.by_number[source][1][name] = target
        rows[f"{owner}/{name}"].add(number(target, source))

    def place(order, box, targets):
        key = chance.getrandbits(62)
        for target in targets:
            order[number(box, key)] = number(target)
            key += chance.choice([1, 1 << 32])

    free = list(things.by_number)
    chance.shuffle(free)
    for source in things.by_number:
        for name in ("box", "seen"):
            if boxes.by_number and chance.random() < 0.7:
                one(source, "Thing", name, chance.choice(list(boxes.by_number)))
        if source in wide and chance.random() < 0.5:
            one(source, "Wide", "parent", chance.choice(wide))
        if chance.random() < 0.5:
            target = free.pop()
            one(source, "Thing", "twin", target)
            one(target, "Thing", "twinOf", source)
    for box in boxes.by_number:
        for other in chance.sample(list(boxes.by_number), min(2, len(boxes.by_number))):
            rows["Box/near"].add(number(box, other))
            rows["Box/nearOf"].add(number(other, box))
            rows["Box/peers"] |= {number(box, other), number(other, box)}
        for shape in chance.sample(list(shapes.by_number), min(2, len(shapes.by_number))):
            rows["Box/loose"].add(number(box, shape))
        targets = list(things.by_number)
        place(ordered, box, chance.sample(targets, min(5, len(targets))))
        mine = [n for n in targets if chance.random() < 0.1
                and things.by_number[n][1]["heap"] is None]
        chance.shuffle(mine)
        for source in mine:
            one(source, "Thing", "heap", box)
        place(pile, box, mine)
    trees = {name: [(key, b"") for key in sorted(keys)] for name, keys in rows.items()}
    trees["Box/order"], trees["Box/pile"] = sorted(ordered.items()), sorted(pile.items())
    return trees


def make_trees(images, chance):
    """Every tree of a random store; the catalog's root page."""
    entities, page = schema(), images.size
    slots = [slots_of(entities, e) for e in entities]
    roots = {1: Objects(chance, page), 3: Objects(chance, page), 4: Objects(chance, page),
             6: Objects(chance, page)}
    amount = chance.choice([0, 3, 40])
    for _ in range(amount):
        for root, tag in ((1, 1), (1, 2), (3, 3), (4, 5), (6, 6)):
            if chance.random() < 0.7:
                made, values = roots[root].add(tag, slots[tag - 1])
                if root == 1:
                    values["title"] = f"{'x' * chance.choice([0, 300])} {made}".encode()
    links = link(chance, roots[1], roots[6], roots[4])
    catalog, counters = {}, {}
    for root, objects in roots.items():
        rows = [(number(n), record(images, tag, slots[tag - 1], values))
                for n, (tag, values) in objects.by_number.items()]
        catalog[f"tree/records/{entities[root - 1]['name']}"] = images.tree(rows)
        if objects.last:
            counters[f"number/{root}"] = objects.last
        for tag, _ in objects.by_number.values():
            counters[f"count/{tag}"] = counters.get(f"count/{tag}", 0) + 1
    for tag, described in enumerate(entities, 1):
        root = next(r for r in sorted(roots, reverse=True) if r <= tag)
        below = {tag, 2} if tag == 1 else {4, 5} if tag == 4 else {tag}
        for kind, member in (("index", "indexes"), ("unique", "uniqueConstraints")):
            for columns in described[member]:
                limit = text_max(images.key_max, len(columns))
                rows = [(b"".join(column(slots[tag - 1][c], v[c], limit) for c in columns)
                         + number(n), b"")
                        for n, (t, v) in roots[root].by_number.items() if t in below]
                name = f"tree/{kind}/{described['name']}/{','.join(columns)}"
                catalog[name] = images.tree(sorted(rows))
    for name, rows in links.items():
        catalog[f"tree/links/{name}"] = images.tree(rows)
    catalog["counters"] = images.tree(sorted((k.encode(), struct.pack("<Q", n))
                                             for k, n in counters.items()))
    stored = {k.encode(): struct.pack("<Q", root) for k, root in catalog.items()}
    stored[b"schema"] = json.dumps({"formatVersion": 1, "schema": {
        "modelVersion": "V1", "entities": entities}}).encode()
    return images.tree(sorted(stored.items()))
