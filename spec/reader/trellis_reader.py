#!/usr/bin/env python3
"""A second reader of Trellis files, written from the specification alone.

    trellis_reader.py dump FILE ENTITY    prints what `trellis dump FILE ENTITY --json` prints
    trellis_reader.py entities FILE       the entities' names, one a line
    trellis_reader.py history FILE        prints what `trellis schema FILE --history` prints
    trellis_reader.py check FILE          compares everything; exit code 1 when anything is wrong
"""

import json
import struct
import sys
from datetime import datetime, timezone
from functools import cached_property

from trellis_file import Damaged, Pages, blob, entries, hashed, need, unpack
from trellis_values import INTEGERS, IN_HEAP, TEXTS, TYPES, decimal_text, json_text


def check_members(schema):
    """Chapter 7.3: the members that no object of the schema may lack, and what they are."""
    def members(found, kind, *names, optional=()):
        need(isinstance(found, dict), "an object of the schema is none")
        for name in names:
            need(type(found.get(name)) is kind, f"{name} is missing, or is no {kind.__name__}")
        for name in optional:
            need(type(found.get(name)) in (str, type(None)), f"{name} is no text")

    def named(found, *separators):
        name = found["name"]
        need(0 < len(name.encode()) <= 1024, "a name that is empty, or too long")
        need(not any(c in name for c in separators), f"{name}: a name with a separator")

    either = "versionHashModifier", "previousName"
    members(schema, str, "modelVersion")
    members(schema, list, "entities")
    need(len(schema["entities"]) < 10_000, "too many entities")
    for entity in schema["entities"]:
        members(entity, str, "name", "className", optional=(*either, "superentityName"))
        members(entity, bool, "isAbstract")
        members(entity, list, "attributes", "relationships", "indexes", "uniqueConstraints")
        named(entity, "/")
        for attribute in entity["attributes"]:
            members(attribute, str, "name", "type", optional=either)
            members(attribute, bool, "isOptional", "isCoded")
            named(attribute, "/", ",", ".")
            need(attribute["type"] in TYPES, "an attribute's type")
        for relationship in entity["relationships"]:
            members(relationship, str, "name", "destinationEntityName", "kind", "deleteRule",
                    optional=(*either, "inverseName"))
            members(relationship, int, "minCount", "maxCount")
            named(relationship, "/", ",", ".")
            need(relationship["kind"] in ("toOne", "toManyUnordered", "toManyOrdered"), "a kind")
            need(relationship["deleteRule"] in ("nullify", "cascade", "deny"), "a delete rule")
            if relationship.get("inverseName", 0) is None:
                del relationship["inverseName"]
        for columns in entity["indexes"] + entity["uniqueConstraints"]:
            need(type(columns) is list and 1 <= len(columns) <= 8
                 and all(type(c) is str for c in columns), "an index without columns, or too many")


class Values(dict):
    """The values of a record by property; `raw` has what keys are made of (6.2)."""

    def __init__(self):
        super().__init__()
        self.raw, self.left = {}, []


class Layout:
    """Chapter 7.5: tags and slots by name, with every check of the chapter."""

    def __init__(self, data):
        form, count = unpack("HH", data)
        need(form == 1, f"a layout of form {form} is newer", "newerFormat")
        self.tags, self.slots, self.counts, at, last = {}, {}, {}, 4, 0
        self.initial = {}
        self.retired = {}
        for _ in range(count):
            tag, size, counts, properties, retired = unpack("HHHHH", data, at)
            name, at = self.name(data, at + 10, size)
            need(tag > last and name not in self.tags, f"{name}: a tag that is not the next")
            last = tag
            if not name:
                need(counts == properties == retired == 0, "slots of an entity that is gone")
                continue
            self.tags[name] = tag
            self.counts[name], at = unpack(f"{counts}H", data, at), at + 2 * counts
            self.slots[name] = {}
            for _ in range(properties):
                slot, size, initial = unpack("HHH", data, at)
                own, at = self.name(data, at + 6, size)
                if initial != 65535:
                    need(at + initial <= len(data), "a layout is cut")
                    self.initial[name, own], at = data[at:at + initial], at + initial
                need(own not in self.slots[name], f"{name}.{own} twice in the layout")
                need(slot > max(self.slots[name].values(), default=-1), f"{name}.{own}: its slot")
                self.slots[name][own] = slot
            self.retired[name] = []
            for _ in range(retired):
                (slot, kind), at = unpack("HH", data, at), at + 4
                need(kind <= 17, f"{name}: a retired slot of type {kind}")
                self.retired[name].append(slot)
        need(at == len(data), "bytes behind the layout")

    def name(self, data, at, size):
        need(at + size <= len(data), "a layout is cut")
        try:
            return data[at:at + size].decode(), at + size
        except UnicodeDecodeError as error:
            raise Damaged(f"a name of the layout: {error}") from error


def models_of(data):
    """Chapter 7.7: (fingerprint, commit, time, name) of each model that the file has had."""
    form, count = unpack("HH", data)
    need(form == 1, f"a history of form {form} is newer", "newerFormat")
    need(1 <= count <= 64, f"a history of {count} models")
    models, at = [], 4
    for _ in range(count):
        need(at + 34 <= len(data), "a history is cut")
        commit, time, size = unpack("QQH", data, at + 16)
        need(at + 34 + size <= len(data), "a history is cut")
        try:
            name = data[at + 34:at + 34 + size].decode()
        except UnicodeDecodeError as error:
            raise Damaged(f"a name of the history: {error}") from error
        models.append((data[at:at + 16], commit, time, name))
        at += 34 + size
    need(at == len(data), "bytes after the history")
    need(len({model[0] for model in models}) == count, "a model twice in the history")
    return models


def moves_of(data):
    """Chapter 7.8: (generation, earlier name, later name, offset) of each move."""
    form, = unpack("H", data)
    need(form == 1, f"moves of form {form} are newer", "newerFormat")
    need(len(data) >= 4, "the moves are cut")
    moves, at = [], 4
    while at < len(data):
        need(at + 16 <= len(data), "a move is cut")
        generation, first, last, offset = unpack("IHHQ", data, at)
        end = at + 16 + first + last
        need(end <= len(data), "a move is cut")
        try:
            earlier, later = data[at + 16:at + 16 + first].decode(), data[end - last:end].decode()
        except UnicodeDecodeError as error:
            raise Damaged(f"a name of a move: {error}") from error
        reached = moves[-1][0] if moves else 0
        need(earlier, "a move without a name")
        need(generation == reached + 1 or generation == reached > 0, "a move's generation")
        need(offset <= (1 << 62 if later else 0), "a move that is too far")
        need(offset or earlier != later, "a move by nothing")
        # Python compares code points, whose order is that of the bytes of UTF-8.
        need(generation > reached or moves[-1][1] < earlier, "moves are not in order")
        moves.append((generation, earlier, later, offset))
        at = end
    return moves


def listed(*parts):
    """A list of 7.7."""
    return "".join(f"{len(part.encode())}:{part}" for part in parts) + ";"


def maybe(members, name):
    found = members.get(name)
    return listed() if found is None else listed(found)


def flag(value):
    return "true" if value else "false"


def by_bytes(members):
    return sorted(members, key=lambda member: member["name"].encode())


class Entity:
    """An entity of the stored schema, with what it inherits (chapters 5.1, 7.3 and 7.5)."""

    def __init__(self, members):
        self.tag, self.name = 0, members["name"]
        self.parent_name, self.abstract = members.get("superentityName"), members["isAbstract"]
        self.members = members
        self.own_attributes = members["attributes"]
        self.own_relationships = members["relationships"]
        self.own_indexes = members["indexes"]
        self.own_uniques = members["uniqueConstraints"]
        self.parent, self.lineage = None, [self]

    def settle(self, by_name):
        while self.lineage[-1].parent_name is not None:
            need(self.lineage[-1].parent_name in by_name, f"{self.name}: no such superentity")
            need(len(self.lineage) <= 64, f"{self.name}: superentities in a circle")
            self.lineage.append(by_name[self.lineage[-1].parent_name])
        self.root = self.lineage[-1]
        self.attributes, self.relationships, self.slots = [], [], {}
        for entity in reversed(self.lineage):
            self.attributes += entity.own_attributes
            self.relationships += [dict(r, owner=entity) for r in entity.own_relationships]
            for attribute in entity.own_attributes:
                self.slots[attribute["name"]] = attribute["type"]
            for relationship in entity.own_relationships:
                if relationship["kind"] == "toOne":
                    self.slots[relationship["name"]] = "link"
        need(len(self.slots) <= 4000, f"{self.name}: too many slots")
        self.numbers, self.initial = {}, {}
        names = [p["name"] for p in self.attributes + self.relationships]
        need(len(names) == len(set(names)), f"{self.name}: a property twice")
        for columns in self.own_indexes + self.own_uniques:
            need(all(c in self.slots for c in columns), f"{self.name}: a column without a slot")


    def lay_out(self, layout):
        """Takes the tag, the slots and the initial values of the file."""
        need(self.name in layout.tags, f"{self.name} is not in the layout")
        self.tag = layout.tags[self.name]
        own = {a["name"] for a in self.own_attributes} \
            | {r["name"] for r in self.own_relationships if r["kind"] == "toOne"}
        need(own == set(layout.slots[self.name]), f"{self.name}: other properties in the layout")
        for entity in self.lineage:
            self.numbers.update(layout.slots.get(entity.name, {}))
            self.initial.update({own: value for (name, own), value in layout.initial.items()
                                 if name == entity.name})
        self.retired = [s for entity in self.lineage for s in layout.retired[entity.name]]
        taken = list(self.numbers.values()) + self.retired
        need(len(set(taken)) == len(self.slots) + len(self.retired), f"{self.name}: a slot is shared")
        self.counts = layout.counts[self.name]
        need(self.counts and all(a < b for a, b in zip(self.counts, self.counts[1:]))
             and max(taken, default=-1) < self.counts[-1] <= 4000,
             f"{self.name}: its counts of slots")
        for name, value in self.initial.items():
            kind = self.slots[name]
            need(kind != "link" and (kind in IN_HEAP or len(value) == 8),
                 f"{self.name}.{name}: its initial value")


class Store:
    """The catalog of a file (chapter 7), its records and its links."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.pages = Pages(file.read())
        self.seen = None  # the pages that were met, when the check asks for them
        self.trees, self.entities, self.counters_root = {}, [], 0
        self.beside, self.migration, self.models, self.moved = {}, None, None, None
        if self.pages.catalog == 0:
            need(self.pages.commit == 0, "a commit without catalog")
            return
        catalog = dict(entries(self.pages, self.pages.catalog, self.seen, lambda key: key in (
            b"schema", b"layout", b"history", b"moved", b"migration")))
        need(b"schema" in catalog, "a catalog without schema")
        need(b"counters" in catalog, "a catalog without counters")
        need(b"layout" in catalog, "a catalog without layout")
        self.trees = {key[5:].decode("utf-8", "replace"): unpack("Q", value)[0]
                      for key, value in catalog.items()
                      if key.startswith(b"tree/") and len(value) == 8 and any(value)}
        self.beside = {key: value for key, value in catalog.items()
                       if key.startswith((b"next/", b"old/"))}
        self.migration = catalog.get(b"migration")
        self.models = catalog.get(b"history")
        self.moved = catalog.get(b"moved")
        need(len(catalog[b"counters"]) == 8 and any(catalog[b"counters"]), "no tree of counters")
        self.counters_root = unpack("Q", catalog[b"counters"])[0]
        try:
            schema = json.loads(catalog[b"schema"])
            need(schema["formatVersion"] == 1, "a schema of a newer version", "newerFormat")
            check_members(schema["schema"])
        except (ValueError, KeyError, TypeError) as error:
            raise Damaged(f"the schema cannot be read: {error}") from error
        self.entities = [Entity(members) for members in schema["schema"]["entities"]]
        self.named = {entity.name: entity for entity in self.entities}
        need(len(self.named) == len(self.entities), "an entity's name occurs twice")
        layout = Layout(catalog[b"layout"])
        need(set(layout.tags) == set(self.named), "the layout has other entities")
        for entity in self.entities:
            entity.settle(self.named)
        self.declared, self.inverses = {}, {}
        for entity in self.entities:
            entity.lay_out(layout)
        self.tagged = {entity.tag: entity for entity in self.entities}
        for entity in self.entities:
            for relationship in entity.relationships:
                need(relationship["destinationEntityName"] in self.named, "no such destination")
                if relationship["owner"] is entity:
                    self.declared[entity.name, relationship["name"]] = relationship
        for place, relationship in self.declared.items():
            self.pair(place, relationship)
        for name in [f"records/{e.name}" for e in self.entities if e.parent_name is None] \
                + [self.link_tree(r)[0] for r in self.declared.values()]:
            need(name in self.trees, f"no tree {name}")

    @property
    def history(self):
        """7.7: the models that the file has had."""
        return [] if self.models is None else models_of(self.models)

    @property
    def moves(self):
        """7.8: the moves that migrations have made."""
        return [] if self.moved is None else moves_of(self.moved)

    @cached_property
    def counters(self):
        """7.2: read where they are asked for alone."""
        return {key.decode(): unpack("Q", value)[0] for key, value in
                entries(self.pages, self.counters_root, self.seen)}

    def tree(self, name):
        need(name in self.trees, f"no tree {name}")
        return entries(self.pages, self.trees[name], self.seen)

    # Chapter 5: records

    def records(self, root):
        """(number, entity, {property: value}) of a hierarchy; an error takes the value's place."""
        for key, record in self.tree("records/" + root.name):
            need(len(key) == 8 and any(key), "records: a key that is no number")
            number = int.from_bytes(key, "big")
            try:
                yield (number, *self.record(root, record))
            except Damaged as error:
                yield number, None, error

    def record(self, root, record):
        tag, layout, count = unpack("HHH", record)
        need(tag in self.tagged, f"a record of entity {tag}")
        entity = self.tagged[tag]
        need(entity.root is root, f"a record of {entity.name} among those of {root.name}")
        need(layout == 1 and count in entity.counts, "a record of another layout")
        words = unpack(f"{1 + (count + 63) // 64 + count}Q", record)
        size = 8 * len(words)
        values = Values()
        values.left = [slot for slot in entity.retired if slot < count and not (
            words[1 + slot // 64 * 65] >> slot % 64 & 1 and words[2 + slot + slot // 64] == 0)]
        for name, kind in entity.slots.items():
            slot = entity.numbers[name]
            if slot >= count:  # the record is older than the property
                values.raw[name], values[name] = self.initial(entity.initial.get(name), kind)
                continue
            word = words[2 + slot + slot // 64]
            if kind in IN_HEAP:  # also when it is nil
                offset, length = word & 0xFFFFFFFF, word >> 32 & 0x7FFFFFFF
                need(offset + length <= len(record), "a value that ends outside its record")
                need(not word >> 63 or length == 16, "a blob's name that is not 16 bytes")
            if words[1 + slot // 64 * 65] >> slot % 64 & 1:
                values[name] = values.raw[name] = None
            else:
                size += length if kind in IN_HEAP else 0
                found = values.raw[name] = self.raw(kind, word, record)
                values[name] = self.value(kind, found)
        need(size <= max(2 * len(record), 16 << 20), "values that share more bytes than they may")
        return entity, values

    def initial(self, value, kind):
        """What a record has that is older than a property: as it is, and as it reads."""
        if value is None:
            return None, None
        raw = value if kind in IN_HEAP else self.raw(kind, unpack("Q", value)[0], b"")
        return raw, self.value(kind, raw)

    def raw(self, kind, word, record):
        """What a slot says, as it is: a number, or the bytes that it leads to."""
        if kind in IN_HEAP:
            offset, length = word & 0xFFFFFFFF, word >> 32 & 0x7FFFFFFF
            value = record[offset:offset + length]
            if word >> 63:
                need(kind in TEXTS, "a value that may not be a blob is one")
                value = blob(self.pages, *unpack("QQ", value), self.seen)
            return value
        if kind in ("float", "double", "date"):
            return unpack("f" if kind == "float" else "d", struct.pack("<Q", word))[0]
        return word - (word >> 63 << 64) if kind.startswith("int") else word

    def value(self, kind, raw):
        """The same with what 5.2 and 5.3 repair."""
        if kind == "uuid" and len(raw) != 16 or kind == "decimal" and not decimal_text(raw):
            return None
        if kind == "link":
            return raw or None
        return raw != 0 if kind == "bool" else raw

    # Chapter 6.5: links

    def pair(self, place, relationship):
        """Chapter 7.4: what one relationship says of its inverse."""
        name = relationship.get("inverseName")
        if name is None:
            return
        lineage = self.named[relationship["destinationEntityName"]].lineage
        other = next(((entity.name, name) for entity in lineage
                      if (entity.name, name) in self.declared), None)
        need(other, f"{place}: no inverse {name}")
        back = self.named[self.declared[other]["destinationEntityName"]]
        need(back in relationship["owner"].lineage, f"{place}: its inverse leads elsewhere")
        for side, partner in ((place, other), (other, place)):
            need(self.inverses.setdefault(side, partner) == partner, f"{side}: two inverses")

    def inverse(self, relationship):
        """The relationship at the other end, or None."""
        return self.declared.get(
            self.inverses.get((relationship["owner"].name, relationship["name"])))

    # Chapter 7.7: the history

    def fingerprint(self):
        """Of the file's own model."""
        entities = by_bytes([entity.members for entity in self.entities])
        text = listed(*(self.text(self.named[members["name"]]) for members in entities)).encode()
        return b"".join(struct.pack("<Q", hashed(text, seed)) for seed in (1, 2))

    def text(self, entity):
        return listed(
            entity.name, flag(entity.abstract), maybe(entity.members, "versionHashModifier"), ";",
            listed(*(listed(a["name"], a["type"], flag(a["isOptional"]), flag(a["isCoded"]),
                            maybe(a, "versionHashModifier"))
                     for a in by_bytes(entity.own_attributes))),
            listed(*(self.link_text(entity, r) for r in by_bytes(entity.own_relationships))),
            listed(*(self.text(above) for above in entity.lineage[1:2])))

    def link_text(self, entity, relationship):
        return listed(
            relationship["name"], relationship["destinationEntityName"],
            listed(*self.inverses.get((entity.name, relationship["name"]), ())),
            relationship["kind"], relationship["deleteRule"], str(relationship["minCount"]),
            str(relationship["maxCount"]), maybe(relationship, "versionHashModifier"))

    # Chapter 6.5: the trees of links

    def link_tree(self, relationship):
        """The tree that holds a relationship's links, and whether it is its own."""
        inverse = self.inverse(relationship)
        if relationship["kind"] == "toManyUnordered" and inverse and inverse["kind"] == "toOne":
            return f"links/{inverse['owner'].name}/{inverse['name']}", False
        return f"links/{relationship['owner'].name}/{relationship['name']}", True

    def links(self, relationship):
        """A relationship's links: owner to targets, in order."""
        name, _ = self.link_tree(relationship)
        found = {}
        for key, value in self.tree(name):
            need(len(key) == 16, f"{name}: a key of another size")
            owner, second = unpack("QQ", key[7::-1] + key[:7:-1])
            if relationship["kind"] == "toManyOrdered":
                need(len(value) == 8, f"{name}: a target of another size")
                second = int.from_bytes(value, "big")
            else:
                need(value == b"", f"{name}: a value where none belongs")
            found.setdefault(owner, []).append(second)
        return found


def print_history(store):
    """The models that the file has had, one a line."""
    if not store.history:
        print("the file has no history")
    for fingerprint, commit, time, name in store.history:
        when = f"{datetime.fromtimestamp(time // 10**9, timezone.utc):%Y-%m-%dT%H:%M:%SZ}" if time else "?"
        print(f"{fingerprint.hex()}  commit {commit or '?'}  {when}  {name}")
    for generation, earlier, later, offset in store.moves:
        print(f"moved {generation}  {earlier}  " + (f"{later}  +{offset}" if later else "removed"))


def dump(store, name):
    """The objects of an entity and those below it, one a line. True when all could be read."""
    need(any(e.name == name for e in store.entities), f"no entity {name}")
    entity, lines, whole = store.named[name], [], True
    links = {}
    for number, kind, values in store.records(entity.root):
        if kind is None:
            print(f"object {number}: {values}", file=sys.stderr)
            whole = False
            continue
        if entity not in kind.lineage:
            continue
        members = [f'"$entity": "{kind.name}"', f'"$number": {number}']
        for attribute in kind.attributes:
            text = json_text(attribute["type"], values[attribute["name"]])
            members.append(f'"{attribute["name"]}": {text}')
        for relationship in kind.relationships:
            text = json.dumps(values.get(relationship["name"]))
            if relationship["kind"] != "toOne":
                place = relationship["owner"].name, relationship["name"]
                if place not in links:
                    links[place] = store.links(relationship)
                text = json.dumps(links[place].get(number, []))
            members.append(f'"{relationship["name"]}": {text}')
        lines.append("{" + ", ".join(members) + "}")
    print("[\n" + ",\n".join(lines) + ("\n]" if lines else "]"))
    return whole


def main(arguments):
    try:
        if len(arguments) == 3 and arguments[0] == "dump":
            return 0 if dump(Store(arguments[1]), arguments[2]) else 1
        if len(arguments) == 2 and arguments[0] == "entities":
            print("\n".join(entity.name for entity in Store(arguments[1]).entities))
            return 0
        if len(arguments) == 2 and arguments[0] == "history":
            print_history(Store(arguments[1]))
            return 0
        if len(arguments) == 2 and arguments[0] == "check":
            from trellis_check import check
            findings = check(Store(arguments[1]))
            print("\n".join(findings) or "nothing wrong was found")
            return 1 if findings else 0
    except Damaged as error:
        print(f"{error.code}: {error}", file=sys.stderr)
        return 1
    print(__doc__.strip(), file=sys.stderr)
    return 64


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
