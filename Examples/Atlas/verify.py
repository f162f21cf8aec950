#!/usr/bin/env python3
"""Compares Atlas's answers with answers that Python computes from the same JSON."""
import json
import sys
import unicodedata
from collections import Counter

folder, answers_path = sys.argv[1], sys.argv[2]


def load(name, key):
    with open(f"{folder}/{name}", encoding="utf-8") as file:
        return json.load(file)[key]


def fold(text):
    text = unicodedata.normalize("NFD", text)
    return "".join(c for c in text if not unicodedata.combining(c)).casefold()


def utf8(text):
    return text.encode("utf-8")


countries = load("iso_3166-1.json", "3166-1")
subdivisions = load("iso_3166-2.json", "3166-2")
languages = load("iso_639-3.json", "639-3")
currencies = load("iso_4217.json", "4217")
scripts = load("iso_15924.json", "15924")
codes = {s["code"] for s in subdivisions}
children = Counter()
parent_of = {}
for s in subdivisions:
    if "parent" in s:
        prefix = s["code"].split("-")[0]
        parent = s["parent"] if s["parent"] in codes else f"{prefix}-{s['parent']}"
        assert parent in codes, s
        parent_of[s["code"]] = parent
        children[parent] += 1


def split(name):
    """A language's name and what stands behind it in parentheses."""
    first, opening, rest = name.partition(" (")
    return (first, rest[:-1]) if opening and rest.endswith(")") else (name, None)


def ranked(counter, limit):
    rows = sorted(counter.items(), key=lambda row: (-row[1], utf8(row[0])))
    return [f"{name} {count}" for name, count in rows[:limit]]


divided = Counter({c["alpha_2"]: 0 for c in countries})
for s in subdivisions:
    divided[s["code"].split("-")[0]] += 1
two = [l for l in languages if l["type"] == "L" and "alpha_2" in l]
two.sort(key=lambda l: utf8(l["alpha_2"]), reverse=True)
groups = Counter((l["type"], l["scope"]) for l in languages)
numerics = [int(c["numeric"]) for c in countries]
expected = [
    [
        f"Country {len(countries)}", f"Subdivision {len(subdivisions)}",
        f"Language {len(languages)}", f"Currency {len(currencies)}", f"Script {len(scripts)}",
    ],
    ranked(divided, 10),
    sorted((code for code, count in divided.items() if count == 0), key=utf8),
    [
        f"{s['code']} {s['name']}"
        for s in sorted(subdivisions, key=lambda s: utf8(s["code"]))
        if "sao" in fold(s["name"])
    ],
    [f"{t} {s} {n}" for (t, s), n in sorted(groups.items())],
    ranked(Counter(s["type"] for s in subdivisions), 10),
    ranked(children, 5) + [f"{len(children)} parents"],
    [
        f"{c['alpha_2']} {c['common_name']}"
        for c in sorted(countries, key=lambda c: utf8(c["alpha_2"]))
        if "common_name" in c
    ],
    [f"{l['alpha_2']} {split(l['name'])[0]}" for l in two[:5]] + [f"{len(two)} languages"],
    ranked(Counter(split(l["name"])[0] for l in languages if split(l["name"])[1]), 10),
    [
        f"{n} {a}"
        for n, a in sorted((int(c["numeric"]), c["alpha_3"]) for c in currencies)
        if n >= 900
    ],
    [
        f"{s['alpha_4']} {s['name']}"
        for s in sorted(scripts, key=lambda s: utf8(s["name"]))
        if s["name"].startswith("Old")
    ],
    [f"{min(numerics)} {max(numerics)} {sum(numerics)}"],
    [
        f"{s['code']} {children[s['code']]}"
        for s in sorted(subdivisions, key=lambda s: utf8(s["code"]))
        if s["code"].startswith("IT-") and s["code"] not in parent_of
    ],
    [str(sum(1 for code in parent_of if code.split("-")[0] in ("FI", "FR")))],
]

with open(answers_path, encoding="utf-8") as file:
    answers = json.load(file)
assert len(answers) == len(expected), (len(answers), len(expected))
failures = 0
for answer, lines in zip(answers, expected):
    same = answer["lines"] == lines
    failures += not same
    print(f"{'same     ' if same else 'DIFFERENT'} {answer['title']}")
    if not same:
        print("    store: ", answer["lines"][:5])
        print("    python:", lines[:5])
print(f"{len(expected) - failures} of {len(expected)} answers are the same")
sys.exit(1 if failures else 0)
