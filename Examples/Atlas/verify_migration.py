#!/usr/bin/env python3
"""Compares a store of version 2 with the store of version 1 that it was.

verify_migration.py BEFORE AFTER: the beginnings of the names of their dumps, as in BEFORE.Country.json.
"""
import json
import sys

before_path, after_path = sys.argv[1], sys.argv[2]


def load(path, entity):
    with open(f"{path}.{entity}.json", encoding="utf-8") as file:
        return json.load(file)


def subdivision(record):
    record["category"] = record.pop("type")
    return record


def language(record):
    text = record.pop("name")
    name, opening, rest = text.partition(" (")
    is_split = bool(opening) and rest.endswith(")")
    record["baseName"] = name if is_split else text
    record["qualifier"] = rest[:-1] if is_split else None
    return record


def same(record):
    return record


changes = {
    "Country": same, "Subdivision": subdivision, "Language": language, "Currency": same,
    "Script": same,
}
failures = 0
for entity, change in changes.items():
    expected = [change(record) for record in load(before_path, entity)]
    found = load(after_path, entity)
    is_same = expected == found and len(found) > 0
    failures += not is_same
    print(f"{'same     ' if is_same else 'DIFFERENT'} {entity}: {len(found)} objects")
    if not is_same:
        pairs = [(e, f) for e, f in zip(expected, found) if e != f]
        print("    expected:", len(expected), pairs[:1] and pairs[0][0])
        print("    found:   ", len(found), pairs[:1] and pairs[0][1])
sys.exit(1 if failures else 0)
