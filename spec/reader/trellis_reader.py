#!/usr/bin/env python3
"""A second reader of Trellis files, written from the specification alone.

    trellis_reader.py dump FILE ENTITY    prints what `trellis dump FILE ENTITY --json` prints
    trellis_reader.py entities FILE       the entities' names, one a line
    trellis_reader.py check FILE          compares everything; exit code 1 when anything is wrong
"""

import json
import struct
import sys

from trellis_file import Damaged, Pages, blob, entries, need, unpack
from trellis_values import INTEGERS, IN_HEAP, TEXTS, TYPES, decimal_text, json_text


def check_members(schema):
    """Chapter 7.3: the members that no object of the schema may lack, and what they are."""
    need(isinstance(schema["modelVersion"], str), "a model version that is no text")
    for entity in schema["entities"]:
        for name in ("name", "className"):
            need(isinstance(entity[name], str), "a name that is no text")
        need(isinstance(entity["isAbstract"], bool), "isAbstract is neither true nor false")
        for attribute in entity["attributes"]:
            need(attribute["name"] and attribute["type"] in TYPES, "an attribute's type")
            need({"isOptional", "isCoded"} <= set(attribute), "an attribute lacks a member")
        for relationship in entity["relationships"]:
            need(relationship["kind"] in ("toOne", "toManyUnordered", "toManyOrdered"), "a kind")
            need({"name", "destinationEntityName", "deleteRule", "minCount", "maxCount"}
                 <= set(relationship), "a relationship lacks a member")
            if relationship.get("inverseName", 0) is None:
                del relationship["inverseName"]
        for columns in entity["indexes"] + entity["uniqueConstraints"]:
            need(1 <= len(columns) <= 8, "an index without columns, or with too many")


class Entity:
    """An entity of the stored schema, with what it inherits (chapters 5.1 and 7.3)."""

    def __init__(self, tag, members):
        self.tag, self.name = tag, members["name"]
        self.parent_name, self.abstract = members.get("superentityName"), members["isAbstract"]
        self.own_attributes = members["attributes"]
        self.own_relationships = members["relationships"]
        self.own_indexes = members["indexes"]
        self.own_uniques = members["uniqueConstraints"]
        self.parent, self.lineage = None, [self]

    def settle(self, by_name):
        while self.lineage[-1].parent_name is not None:
            need(self.lineage[-1].parent_name in by_name, f"{self.name}: no such superentity")
            need(len(self.lineage) <= 65, f"{self.name}: superentities in a circle")
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
        names = [p["name"] for p in self.attributes + self.relationships]
        need(len(names) == len(set(names)), f"{self.name}: a property twice")
        for columns in self.own_indexes + self.own_uniques:
            need(all(c in self.slots for c in columns), f"{self.name}: a column without a slot")


class Store:
    """The catalog of a file (chapter 7), its records and its links."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.pages = Pages(file.read())
        self.seen = None  # the pages that were met, when the check asks for them
        self.trees, self.counters, self.entities = {}, {}, []
        if self.pages.catalog == 0:
            return
        catalog = dict(entries(self.pages, self.pages.catalog, self.seen))
        need(b"schema" in catalog, "a catalog without schema")
        need(b"counters" in catalog, "a catalog without counters")
        self.trees = {key[5:].decode(): unpack("Q", value)[0] for key, value in catalog.items()
                      if key.startswith(b"tree/")}
        self.counters = {key.decode(): unpack("Q", value)[0] for key, value in
                         entries(self.pages, unpack("Q", catalog[b"counters"])[0], self.seen)}
        try:
            schema = json.loads(catalog[b"schema"])
            need(schema["formatVersion"] == 1, "a schema of a newer version")
            check_members(schema["schema"])
        except (ValueError, KeyError, TypeError) as error:
            raise Damaged(f"the schema cannot be read: {error}") from error
        self.entities = [Entity(i + 1, e) for i, e in enumerate(schema["schema"]["entities"])]
        self.named = {entity.name: entity for entity in self.entities}
        need(len(self.named) == len(self.entities), "an entity's name occurs twice")
        for entity in self.entities:
            entity.settle(self.named)
        for entity in self.entities:
            for relationship in entity.relationships:
                need(relationship["destinationEntityName"] in self.named, "no such destination")
                need("inverseName" not in relationship or self.inverse(relationship),
                     f"{entity.name}.{relationship['name']}: no such inverse")

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
        need(1 <= tag <= len(self.entities), f"a record of entity {tag}")
        entity = self.entities[tag - 1]
        need(entity.root is root, f"a record of {entity.name} among those of {root.name}")
        need(layout == 1 and count == len(entity.slots), "a record of another layout")
        words = unpack(f"{1 + (count + 63) // 64 + count}Q", record)
        values = {}
        for slot, (name, kind) in enumerate(entity.slots.items()):
            if words[1 + slot // 64 * 65] >> slot % 64 & 1:
                values[name] = None
            else:
                values[name] = self.value(kind, words[2 + slot + slot // 64], record)
        return entity, values

    def value(self, kind, word, record):
        raw = struct.pack("<Q", word)
        if kind in IN_HEAP:
            offset, length = unpack("II", raw)
            away, length = length >> 31, length & 0x7FFFFFFF
            need(offset + length <= len(record), "a value that ends outside its record")
            value = record[offset:offset + length]
            if away:
                need(length == 16 and kind in TEXTS, "a blob's name that is not 16 bytes")
                value = blob(self.pages, *unpack("QQ", value), self.seen)
            if kind == "uuid" and len(value) != 16 or kind == "decimal" and not decimal_text(value):
                return None
            return value
        if kind == "link":
            return word or None
        if kind == "bool":
            return word != 0
        if kind in INTEGERS:
            return unpack("Q" if kind.startswith("u") else "q", raw)[0]
        return unpack("f" if kind == "float" else "d", raw)[0]

    # Chapter 6.5: links

    def inverse(self, relationship):
        """The relationship at the other end, which either side may name."""
        own, other = relationship["owner"], self.named[relationship["destinationEntityName"]]
        for candidate in other.relationships:
            if candidate["name"] == relationship.get("inverseName"):
                return candidate
            if candidate.get("inverseName") == relationship["name"] \
                    and self.named[candidate["destinationEntityName"]] in own.lineage:
                return candidate
        return None

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
        if len(arguments) == 2 and arguments[0] == "check":
            from trellis_check import check
            findings = check(Store(arguments[1]))
            print("\n".join(findings) or "nothing wrong was found")
            return 1 if findings else 0
    except Damaged as error:
        print(error, file=sys.stderr)
        return 1
    print(__doc__.strip(), file=sys.stderr)
    return 64


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
