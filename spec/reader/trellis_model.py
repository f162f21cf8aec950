"""What the writer stores: a schema with every type and kind of link, and random objects."""

import json
import math
import struct

from trellis_values import INTEGERS, IN_HEAP, TEXTS, column, decimal_bytes, text_max

TYPES = ["bool", *INTEGERS, "float", "double", "decimal", "string", "data", "date", "uuid", "url"]
REQUIRED = {"name", "int64Value"}  # attributes that are not optional
RETIRING = set()  # entities that have lost a string property, whose slot was their last one
TEXT = ["", "a", "Ærøskøbing", "日本語", "\"\\/\b\f\n\r\t", "\0\x01\x1f\x7f\x85\u2028",
        "𝄞🇦🇼"]


def entity(name, attributes, relationships=(), above=None, abstract=False, indexes=(), uniques=()):
    made = {"name": name, "className": name, "isAbstract": abstract, "relationships":
            [dict(zip(("name", "destinationEntityName", "kind", "inverseName"), r),
                  deleteRule="nullify", minCount=0, maxCount=0) for r in relationships],
            "attributes": [{"name": n, "type": t, "isOptional": n not in REQUIRED,
                            "isCoded": False} for n, t in attributes],
            "indexes": [list(i) for i in indexes], "uniqueConstraints": [list(u) for u in uniques]}
    return made if above is None else dict(made, superentityName=above)


def schema():
    everything = [(f"{t}Value", t) for t in TYPES]
    return [
        entity("Thing", [("title", "string")] + everything,
               [("box", "Box", "toOne"), ("twin", "Thing", "toOne", "twinOf"),
                ("twinOf", "Thing", "toOne"), ("seen", "Box", "toOne"), ("heap", "Box", "toOne"),
                ("downs", "Thing", "toManyUnordered"), ("upper", "Thing", "toOne"),
                ("lowers", "Wide", "toManyUnordered", "upper")],
               indexes=[["stringValue"], ["decimalValue", "dateValue"], ["box", "title"]] +
               [[n] for n, t in everything if t not in ("string", "decimal", "date")],
               uniques=[["title"]]),
        # Each side of what Thing declares: an inverse below its destination, and one above it.
        entity("Wide", [(f"w{i}", "int64") for i in range(70)],
               [("parent", "Wide", "toOne"), ("up", "Wide", "toOne", "downs")],
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


def value(name, kind, chance, page):
    """A random value of a property as `column` and records take it; None is nil."""
    if chance.random() < 0.15 and name not in REQUIRED:
        return None
    if kind == "bool":
        return chance.choice([0, 1, 1, 2, 1 << 63])  # keys have what the record says
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
                              chance.random() * 1e9, 1e-7, 0.9999996, -63113904000.0 + 1,
                              -chance.random(), -chance.random() * 5e10, 627470580.418, 1e-4])
    if kind == "decimal":
        digits = chance.randrange(10 ** chance.randrange(1, 39)) // 10 * 10 + 1
        plain = f"{chance.choice(['', '-'])}{digits}e{chance.choice([0, 0, -2, 5, -128, 127])}"
        return decimal_bytes(chance.choice(["0", "NaN", "1.50", "-0.001", plain, plain]))
    if kind == "uuid":
        return chance.randbytes(chance.choice([16, 16, 16, 15, 17]))
    if kind == "url":
        return chance.choice([b"https://example.org/a?b=%20#c", b"mailto:a@b", b"x", b"",
                              "http://é/ü".encode(), b"https://example.org/" + b"a" * page])
    if kind == "data":
        return chance.randbytes(chance.choice([0, 1, 3, 100, page // 4, page, 66000]))
    return text(chance, page)


class Objects:
    """The objects of one hierarchy by number: (entity's name, {property: value})."""

    def __init__(self, chance, page):
        self.chance, self.page, self.by_number, self.last = chance, page, {}, 0

    def add(self, name, slots, older):
        self.last += self.chance.choice([1, 1, 1, 7])
        values = {n: None if t == "link" else value(n, t, self.chance, self.page)
                  for n, t in slots.items()}
        if self.chance.random() < 0.5:  # so that it may lack the slots of later properties
            values.update(older[name][1])
        self.by_number[self.last] = name, values
        return self.last, values


def record(images, tag, slots, numbers, values, older, chance):
    """Chapter 5: the bytes of an object. The slot of what is nil may hold anything but a lie."""
    count = len(slots) + older[2]
    retired = range(len(slots), count)
    if all(values[name] == initial for name, initial in older[1].items()) and chance.random() < 0.7:
        count = older[0]
        slots = {name: kind for name, kind in slots.items() if numbers[name] < count}
    words, heap = [0] * (1 + (count + 63) // 64 + count), b""
    words[0] = tag | 1 << 16 | count << 32
    for slot in retired:
        if slot < count:
            words[1 + slot // 64 * 65] |= 1 << slot % 64
    for name, kind in sorted(slots.items(), key=lambda pair: numbers[pair[0]]):
        slot = numbers[name]
        found, place = values[name], 2 + slot + slot // 64
        if found is None:
            words[1 + slot // 64 * 65] |= 1 << slot % 64
            if chance.random() < 0.1:
                words[place] = 8 | 8 << 32 if kind in IN_HEAP else chance.getrandbits(64)
        elif kind in IN_HEAP:
            away = kind in TEXTS and len(found) > images.size // 4
            part = struct.pack("<QQ", *images.blob(found)) if away else found
            words[place] = 8 * len(words) + len(heap) | (len(part) | away << 31) << 32
            heap += part
        else:
            words[place] = int.from_bytes(stored(kind, found), "little")
    return struct.pack(f"<{len(words)}Q", *words) + heap


def slots_of(entities, entity):
    """Chapter 5.1: superentities first, then attributes, then to-ones."""
    above = next((e for e in entities if e["name"] == entity.get("superentityName")), None)
    slots = dict(slots_of(entities, above)) if above else {}
    slots.update({a["name"]: a["type"] for a in entity["attributes"]})
    slots.update({r["name"]: "link" for r in entity["relationships"] if r["kind"] == "toOne"})
    return slots


def layout_of(entities, chance, page):
    """Chapter 7.5: each entity's tag and the slots of its properties, in any order.

    Records of an entity may lack its last slots; also how many they have then, and the initial
    values of the properties that they lack."""
    tags = list(range(1, len(entities) + 3))  # of two the entities are gone
    chance.shuffle(tags)
    gone = sorted(tags[len(entities):])
    tags = dict(zip((e["name"] for e in entities), tags))
    own, numbers, initials, older = {}, {}, {}, {}
    for described in entities:  # superentities come first
        name, above = described["name"], numbers.get(described.get("superentityName"), {})
        names = [n for n in slots_of(entities, described) if n not in above]
        places = list(range(len(above), len(above) + len(names)))
        chance.shuffle(places)
        own[name] = dict(zip(names, places))
        numbers[name] = {**above, **own[name]}
        for attribute in described["attributes"]:
            own_name = attribute["name"]
            found = value(own_name, attribute["type"], chance, page)
            if own_name in REQUIRED:
                initials[own_name] = b"" if in_heap_and_long(found) else found
            else:
                isnil = in_heap_and_long(found) or chance.random() < 0.5
                initials[own_name] = None if isnil else found
        count = chance.randrange(len(numbers[name]) + 1)
        older[name] = count, {n: initials.get(n) for n, slot in numbers[name].items()
                              if slot >= count}, int(name in RETIRING)
    data = struct.pack("<HH", 1, len(entities) + len(gone))
    for name, tag in sorted([*tags.items(), *(("", tag) for tag in gone)],
                            key=lambda pair: pair[1]):
        if tag in gone:
            data += struct.pack("<HHHHH", tag, 0, 0, 0, 0)
            continue
        text = name.encode()
        last, retired = len(numbers[name]), older[name][2]
        counts = sorted({older[name][0], last, last + retired})
        data += struct.pack("<HHHHH", tag, len(text), len(counts), len(own[name]), retired) + text
        data += struct.pack(f"<{len(counts)}H", *counts)
        for own_name, slot in sorted(own[name].items(), key=lambda pair: pair[1]):
            text, initial = own_name.encode(), initials.get(own_name)
            kinds = {a["name"]: a["type"] for e in entities for a in e["attributes"]}
            initial = None if initial is None else stored(kinds[own_name], initial)
            size = 65535 if initial is None else len(initial)
            data += struct.pack("<HHH", slot, len(text), size) + text + (initial or b"")
        if retired:
            data += struct.pack("<HH", last, 13)
    return data, tags, numbers, older


def history_of(name):
    """Chapter 7.7: no history; a lie tells of another model."""
    return None


def moves_of(name):
    """Chapter 7.8: no moves; a lie tells of some that cannot be."""
    return None


def in_heap_and_long(found):
    return isinstance(found, bytes) and len(found) > 100


def stored(kind, found):
    """A value in the form of its slot or of the heap (5.2)."""
    if kind in IN_HEAP:
        return found
    if kind in ("float", "double", "date"):
        return struct.pack("<f" if kind == "float" else "<d", found).ljust(8, b"\0")
    return struct.pack("<Q", int(found) & 0xFFFFFFFFFFFFFFFF)


def number(*words):
    return b"".join(word.to_bytes(8, "big") for word in words)


def link(chance, things, boxes, shapes):
    """Sets to-ones, and gives the rows of every tree of links."""
    rows = {name: set() for name in (
        "Thing/box", "Thing/twin", "Thing/twinOf", "Thing/seen", "Thing/heap", "Thing/upper",
        "Wide/parent", "Wide/up",
        "Box/near", "Box/nearOf", "Box/loose", "Box/peers")}
    ordered, pile, wide = {}, {}, [n for n, (name, _) in things.by_number.items()
                                if name == "Wide"]

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
            one(source, "Wide", "up", chance.choice(wide))
            one(source, "Thing", "upper", chance.choice(list(things.by_number)))
        elif chance.random() < 0.1:
            things.by_number[source][1]["upper"] = 0  # no object, and not nil
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
    layout, tags, numbers, older = layout_of(entities, chance, page)
    slots = {e["name"]: slots_of(entities, e) for e in entities}
    above = {e["name"]: e.get("superentityName", e["name"]) for e in entities}
    roots = {name: Objects(chance, page) for name in slots if above[name] == name}
    for _ in range(chance.choice([0, 3, 40])):
        for name in ("Thing", "Wide", "Nothing", "Round", "Box"):
            if chance.random() < 0.7:
                made, values = roots[above[name]].add(name, slots[name], older)
                if above[name] == "Thing":
                    values["title"] = f"{'x' * chance.choice([0, 300])} {made}".encode()
    links = link(chance, roots["Thing"], roots["Box"], roots["Shape"])
    catalog, counters = {}, {}
    for root, objects in roots.items():
        rows = [(number(n), record(images, tags[name], slots[name], numbers[name], values,
                                   older[name], chance))
                for n, (name, values) in objects.by_number.items()]
        catalog[f"tree/records/{root}"] = images.tree(rows)
        if objects.last:
            counters[f"number/{tags[root]}"] = objects.last
            counters[f"reserved/{tags[root]}"] = objects.last + chance.randrange(3)
        for name, _ in objects.by_number.values():
            counters[f"count/{tags[name]}"] = counters.get(f"count/{tags[name]}", 0) + 1
    for described in entities:
        own = described["name"]
        for kind, member in (("index", "indexes"), ("unique", "uniqueConstraints")):
            for columns in described[member]:
                limit = text_max(images.key_max, len(columns))
                rows = [(b"".join(column(slots[own][c], v[c], limit) for c in columns)
                         + number(n), b"")
                        for n, (name, v) in roots[above[own]].by_number.items()
                        if own in (name, above[name])]
                name = f"tree/{kind}/{own}/{','.join(columns)}"
                catalog[name] = images.tree(sorted(rows))
    for name, rows in links.items():
        catalog[f"tree/links/{name}"] = images.tree(rows)
    catalog["counters"] = images.tree(sorted((k.encode(), struct.pack("<Q", n))
                                             for k, n in counters.items()))
    said = {k.encode(): struct.pack("<Q", root) for k, root in catalog.items()}
    said[b"layout"] = layout
    if history_of("V1") is not None:
        said[b"history"] = history_of("V1")
    if moves_of("B") is not None:
        said[b"moved"] = moves_of("B")
    chance.shuffle(entities)
    for described in entities:
        chance.shuffle(described["attributes"])
        chance.shuffle(described["relationships"])
    said[b"schema"] = json.dumps({"formatVersion": 1, "schema": {
        "modelVersion": "V1", "entities": entities}}).encode()
    return images.tree(sorted(said.items()))
