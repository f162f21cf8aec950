#!/usr/bin/env python3
"""Stores with right hashes that say what no store may say.

    trellis_lies.py NAMES                 the names of the lies, one a line
    trellis_lies.py FILE SEED LIE         a random store with one lie

A reader reports each as damage.
"""

import struct
import sys

import trellis_model
import trellis_writer
from trellis_file import DELTA, FULL, hashed
from trellis_model import REQUIRED
from trellis_values import IN_HEAP


class Lie:
    """Counts how often the store says it; a store without it is no test."""
    told = 0


def delta_without_flag(log_frames):
    """3.1: bit 0 of flags must be set in DELTA."""
    def lying(*arguments):
        commits = log_frames(*arguments)
        for frames in commits:
            for i, (kind, content, flags) in enumerate(frames):
                if kind == DELTA:
                    frames[i] = kind, content, flags & ~1
                    Lie.told += 1
        return commits
    return lying


def image_that_is_replaced(log_frames):
    """3.1: each image in the log is a page of its kind, also one that a later frame replaces."""
    def lying(file, images, *arguments):
        commits = log_frames(file, images, *arguments)
        for frames in commits:
            for kind, content, _ in frames:
                if kind == FULL and not Lie.told:
                    page = struct.unpack_from("<Q", content)[0]
                    image = bytes([9]) + bytes(file.size - 1)
                    lie = struct.pack("<QQII", page, hashed(image, page), file.size, file.size)
                    frames.insert(0, (FULL, lie + image, 0))
                    Lie.told += 1
                    break
        return commits
    return lying


def frame_after_the_last_commit(write):
    """3.1: an impossible frame is damage, also in a group that has no COMMIT."""
    def lying(path, seed, source=None):
        Lie.told += 1
        image = bytes([1]) + bytes(511)
        content = struct.pack("<QQII", 1, hashed(image, 1), 512 + 8, 512) + image
        write(path, seed, source, [[(FULL, content, 0)]])
    return lying


def nil_outside_the_record(record):
    """5.2: the slot of a heap value is checked, nil or not."""
    def lying(images, tag, slots, numbers, values, older, chance):
        made = bytearray(record(images, tag, slots, numbers, values, older, chance))
        count = struct.unpack_from("<H", made, 4)[0]
        for name, kind in slots.items():
            slot = numbers[name]
            if kind in IN_HEAP and values[name] is None and slot < count:
                struct.pack_into("<II", made, 8 * (2 + slot + slot // 64), len(made), 1)
                Lie.told += 1
                break
        return bytes(made)
    return lying


def nil_that_is_not_optional(record):
    """5.1: the bit of what is not optional is clear."""
    def lying(images, tag, slots, numbers, values, older, chance):
        made = bytearray(record(images, tag, slots, numbers, values, older, chance))
        count = struct.unpack_from("<H", made, 4)[0]
        for name in REQUIRED & slots.keys():
            if numbers[name] < count:
                at = 8 * (1 + numbers[name] // 64 * 65)
                bits = struct.unpack_from("<Q", made, at)[0] | 1 << numbers[name] % 64
                struct.pack_into("<Q", made, at, bits)
                Lie.told += 1
        return bytes(made)
    return lying


def node_with_a_reserved_byte(node):
    """4.1: the field `zero` must be 0."""
    def lying(*arguments):
        made = bytearray(node(*arguments))
        made[15] = 1
        Lie.told += 1
        return bytes(made)
    return lying


def blob_with_a_reserved_byte(run):
    """4.3: the same."""
    def lying(images, kind, data):
        page = run(images, kind, data)
        made = bytearray(images.images[page])
        made[3] = 1
        images.images[page] = bytes(made)
        Lie.told += 1
        return page
    return lying


def commits_without_catalog(make_trees):
    """7: only a store without commits has no catalog."""
    def lying(images, chance):
        Lie.told += 1
        return 0
    return lying


def schema_with(name, inverse):
    """7.4: Thing.lowers leads to Wide alone, so that not all that upper leads to leads back."""
    def lies(schema):
        def lying():
            entities = schema()
            for described in entities:
                for relationship in described["relationships"]:
                    if relationship["name"] == "lowers":
                        relationship.pop("inverseName", None)
                    if relationship["name"] == name:
                        relationship["inverseName"] = inverse
            Lie.told += 1
            return entities
        return lying
    return lies


def list_with_a_target_twice(link):
    """6.5: an ordered to-many has a target once."""
    def lying(*arguments):
        trees = link(*arguments)
        order = trees["Box/order"]
        for i, (key, _) in enumerate(order[1:]):
            if key[:8] == order[i][0][:8]:
                order[i + 1] = key, order[i][1]
                Lie.told += 1
                break
        return trees
    return lying


def layout_that_is_cut(layout_of):
    """7.5: every count of the layout is fulfilled."""
    def lying(*arguments):
        data, *rest = layout_of(*arguments)
        Lie.told += 1
        return data[:-1], *rest
    return lying


def layout_with_one_slot_for_two(layout_of):
    """7.5: a slot of an entity is not that of a property of its superentity."""
    def lying(*arguments):
        data, tags, numbers, older = layout_of(*arguments)
        name, slot = min(((n, s) for n, s in numbers["Wide"].items() if n not in numbers["Thing"]),
                         key=lambda pair: pair[1])
        at = property_in(data, slot, name)
        Lie.told += 1
        return data[:at] + struct.pack("<H", slot - 1) + data[at + 2:], tags, numbers, older
    return lying


def layout_with_a_short_initial_value(layout_of):
    """7.5: the initial value of what is in a slot has eight bytes."""
    def lying(*arguments):
        data, tags, numbers, older = layout_of(*arguments)
        name = "int64Value"
        at = property_in(data, numbers["Thing"][name], name)
        behind = at + 6 + len(name)
        size, = struct.unpack_from("<H", data, at + 4)
        rest = data[behind + (0 if size == 65535 else size):]
        Lie.told += 1
        return (data[:at + 4] + struct.pack("<H", 7) + name.encode() + bytes(7) + rest,
                tags, numbers, older)
    return lying


def history_with(make):
    """7.7: a history is whole, and its last model is the file's."""
    def lies(history_of):
        def lying(name):
            Lie.told += 1
            return make(bytes(32) + struct.pack("<H", len(name)) + name.encode())
        return lying
    return lies


def moves(*told):
    """7.8: generations follow each other, and in each the names ascend."""
    def lies(moves_of):
        def lying(name):
            Lie.told += 1
            lied = struct.pack("<HH", 1, 0)
            for generation, offset, *other in told:
                text = (other or [name])[0].encode()
                lied += struct.pack("<IHHQ", generation, len(text), len(text), offset) + 2 * text
            return lied
        return lying
    return lies


def property_in(data, slot, name):
    """Where a layout has a property."""
    begin, at = struct.pack("<HH", slot, len(name)), -1
    while True:
        at = data.index(begin, at + 1)
        if data[at + 6:at + 6 + len(name)] == name.encode():
            return at


LIES = {
    "delta-without-flag": (trellis_writer, "log_frames", delta_without_flag),
    "image-that-is-replaced": (trellis_writer, "log_frames", image_that_is_replaced),
    "frame-after-the-last-commit": (trellis_writer, "write", frame_after_the_last_commit),
    "nil-outside-the-record": (trellis_model, "record", nil_outside_the_record),
    "nil-that-is-not-optional": (trellis_model, "record", nil_that_is_not_optional),
    "node-with-a-reserved-byte": (trellis_writer.Images, "node", node_with_a_reserved_byte),
    "blob-with-a-reserved-byte": (trellis_writer.Images, "run", blob_with_a_reserved_byte),
    "commits-without-catalog": (trellis_writer, "make_trees", commits_without_catalog),
    "list-with-a-target-twice": (trellis_model, "link", list_with_a_target_twice),
    "layout-that-is-cut": (trellis_model, "layout_of", layout_that_is_cut),
    "layout-with-a-short-initial-value":
        (trellis_model, "layout_of", layout_with_a_short_initial_value),
    "layout-with-one-slot-for-two": (trellis_model, "layout_of", layout_with_one_slot_for_two),
    "history-of-another-model":
        (trellis_model, "history_of", history_with(lambda m: struct.pack("<HH", 1, 1) + m)),
    "history-that-is-cut":
        (trellis_model, "history_of", history_with(lambda m: struct.pack("<HH", 1, 2) + m)),
    "history-with-a-model-twice":
        (trellis_model, "history_of", history_with(lambda m: struct.pack("<HH", 1, 2) + m + m)),
    "move-by-nothing": (trellis_model, "moves_of", moves((1, 0))),
    "move-that-is-too-far": (trellis_model, "moves_of", moves((1, (1 << 62) + 1))),
    "move-after-a-gap": (trellis_model, "moves_of", moves((1, 1), (3, 1))),
    "move-of-one-name-twice": (trellis_model, "moves_of", moves((1, 1), (1, 2))),
    "moves-out-of-order": (trellis_model, "moves_of", moves((1, 1), (1, 1, "A"))),
    "inverse-that-leads-elsewhere": (trellis_model, "schema", schema_with("upper", "lowers")),
    "inverse-of-two": (trellis_model, "schema", schema_with("parent", "downs")),
    "inverse-that-is-not-there": (trellis_model, "schema", schema_with("parent", "nothing")),
}


def tell(path, seed, name):
    """Seeds follow until one gives a store with room for the lie."""
    place, function, lie = LIES[name]
    setattr(place, function, lie(getattr(place, function)))
    while not Lie.told:
        trellis_writer.write(path, seed)
        seed += 1


if __name__ == "__main__":
    if sys.argv[1:] == ["NAMES"]:
        print("\n".join(LIES))
    elif len(sys.argv) == 4 and sys.argv[3] in LIES:
        tell(sys.argv[1], int(sys.argv[2]), sys.argv[3])
    else:
        sys.exit(__doc__)
