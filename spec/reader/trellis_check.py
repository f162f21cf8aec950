"""Compares everything that the specification relates: `trellis_reader.py check`."""

from trellis_file import BLOCK, Allocation, Damaged, blob, entries, need, unpack
from trellis_values import column, text_max


def check(store):
    """Findings, one line each; none for a sound store."""
    findings = []

    def attempt(step, *arguments):
        try:
            findings.extend(step(*arguments))
        except Damaged as error:
            findings.append(str(error))

    held = {}
    for entity in store.entities:
        if entity.parent_name is None:
            attempt(check_records, store, entity, held)
    if findings:  # what the rest compares is not whole
        return findings
    for entity in store.entities:
        for columns in {tuple(c): None for c in entity.own_indexes + entity.own_uniques}:
            attempt(check_index, store, entity, columns, held)
        for relationship in entity.relationships:
            if relationship["owner"] is entity:
                attempt(check_links, store, relationship, held)
    attempt(check_migration, store)
    attempt(check_history, store)
    attempt(check_moves, store)
    if not findings:
        attempt(check_pages, store)
    if len(findings) > 100:
        findings[100:] = [f"and {len(findings) - 100} more"]
    return findings


def check_records(store, root, held):
    counts, last = {}, 0
    for number, entity, values in store.records(root):
        if entity is None:
            yield f"{root.name} {number}: {values}"
            continue
        counts[entity] = counts.get(entity, 0) + 1
        for attribute in entity.attributes:
            if values.raw[attribute["name"]] is None and not attribute["isOptional"]:
                yield f"{root.name} {number}: {attribute['name']} is nil and not optional"
        for slot in values.left:
            yield f"{root.name} {number}: a value in the retired slot {slot}"
        held[root, number] = entity, values
        last = number
    if last > store.counters.get(f"number/{root.tag}", 0):
        yield f"{root.name}: number {last} was never given out"
    for entity in store.entities:
        counted = store.counters.get(f"count/{entity.tag}", 0)
        if entity.root is root and counted != counts.get(entity, 0):
            yield f"{entity.name}: {counts.get(entity, 0)} records, counted as {counted}"


def members(entity, held):
    """The objects of an entity and those below it: (number, values)."""
    return [(number, values) for (root, number), (kind, values) in held.items()
            if root is entity.root and entity in kind.lineage]


def check_index(store, entity, columns, held):
    """Chapter 6: an index has exactly one entry an object; unique columns are."""
    unique = list(columns) in entity.own_uniques
    name = f"{'unique' if unique else 'index'}/{entity.name}/{','.join(columns)}"
    if name not in store.trees:
        return  # a writer builds it when it opens the store
    limit, expected, met = text_max(store.pages.key_max, len(columns)), {}, set()
    for number, values in members(entity, held):
        parts = [column(entity.slots[c], values.raw[c], limit) for c in columns]
        expected[b"".join(parts) + number.to_bytes(8, "big")] = number
        whole = tuple(column(entity.slots[c], values.raw[c], 1 << 62) for c in columns)
        if unique and b"\0" not in whole:
            if whole in met:
                yield f"{name}: object {number} repeats unique values"
            met.add(whole)
    for key, value in store.tree(name):
        if value or expected.pop(key, None) is None:
            yield f"{name}: an entry that no object asks for"
    for number in expected.values():
        yield f"{name}: no entry of object {number}"


def check_links(store, relationship, held):
    """Chapter 6.5: both ends exist and hold each link; to-ones are what records say."""
    owner, inverse = relationship["owner"], store.inverse(relationship)
    name, own = store.link_tree(relationship)
    target = store.named[relationship["destinationEntityName"]]
    if relationship["kind"] == "toManyOrdered":
        for box, many in store.links(relationship).items():
            if len(many) != len(set(many)):
                yield f"{name}: object {box} has a target twice"
    if relationship["kind"] == "toOne":
        said = {(values[relationship["name"]], number) for number, values in members(owner, held)
                if values[relationship["name"]] is not None}
        stored = {(a, b) for a, many in store.links(relationship).items() for b in many}
        for pair in said ^ stored:
            yield f"{name}: link {pair} is in {'the record' if pair in said else 'the tree'} alone"
        links = {(b, a) for a, b in said}
    elif own:
        links = {(a, b) for a, many in store.links(relationship).items() for b in many}
    else:
        return
    owners = {number for number, _ in members(owner, held)}
    targets = {number for number, _ in members(target, held)}
    for pair in links:
        if pair[0] not in owners or pair[1] not in targets:
            yield f"{name}: link {pair} has an end that does not exist"
    if inverse:
        back = store.named[inverse["destinationEntityName"]]
        owners = {number for number, _ in members(back, held)}
        targets = {number for number, _ in members(inverse["owner"], held)}
        for pair in links:
            if pair[0] not in owners or pair[1] not in targets:
                yield f"{name}: link {pair} has an end that the inverse does not allow"
    if inverse and store.link_tree(inverse)[1]:
        back = {(a, b) for a, many in store.links(inverse).items() for b in many}
        if inverse["kind"] == "toOne":  # its tree has the target first
            back = {(b, a) for a, b in back}
        for pair in {(b, a) for a, b in links} ^ back:
            yield f"{name}: link {pair} is at one end alone"


def check_moves(store):
    """7.8: the moves can be read."""
    list(store.moves)
    return []


def check_history(store):
    """7.7: the last model of the history is the file's."""
    if store.history and store.history[-1][0] != store.fingerprint():
        yield f"the last model of the history, {store.history[-1][3]}, is not the file's"


def check_migration(store):
    """7.6: the state says which keys there are, and the later model's schema can be read."""
    phase = 0
    if store.migration is not None:
        need(len(store.migration) >= 48, "the state of a migration is too short")
        form, phase = unpack("HH", store.migration)
        need(form == 1, "the state of a migration is of a newer version", "newerFormat")
        need(phase in (1, 2), f"a migration in phase {phase}")
        size = unpack("Q", store.migration, 40)[0]
        need(size == len(store.migration) - 48, "the state of a migration has another size")
    for key in store.beside:
        prefix = key.split(b"/")[0]
        if phase != {b"next": 1, b"old": 2}[prefix]:
            yield f"{key.decode()} is there without its migration"
    if phase == 1:
        for key in (b"schema", b"layout", b"counters", b"blobs/made", b"blobs/freed"):
            if b"next/" + key not in store.beside:
                yield f"a migration without next/{key.decode()}"


def see_migration(store):
    """7.6: the pages of the model that is not the file's, and of its blobs."""
    pages, live = store.pages, set(store.trees.values())
    for key, value in store.beside.items():
        if key in (b"next/schema", b"next/layout", b"next/moved"):
            continue
        root = unpack("Q", value)[0]
        if key.startswith(b"next/tree/") and root in live:
            continue
        for name, _ in entries(pages, root, store.seen):
            if key in (b"next/blobs/made", b"old/blobs"):
                need(len(name) == 16, f"{key.decode()}: a name that is not 16 bytes")
                blob(pages, *unpack("QQ", name), store.seen)


def check_pages(store):
    """Every page that exists is reached once, and no two extents share a unit."""
    pages, store.seen = store.pages, set()
    if pages.catalog:
        catalog = dict(entries(pages, pages.catalog, store.seen))
        list(entries(pages, unpack("Q", catalog[b"counters"])[0], store.seen))
    for name, root in store.trees.items():
        if name.startswith("records/") and name[8:] in store.named:
            list(store.records(store.named[name[8:]]))
        else:
            list(entries(pages, root, store.seen))
    see_migration(store)
    mapped, used = {}, {}
    for page, address in pages.mapped():
        take(pages, used, address, "the map" if page is None else f"page {page}")
        if page is not None:
            mapped[page] = address
    changed = pages.versions
    existing = {page for page in mapped if page not in changed} \
        | {page for page, version in changed.items() if version is not None}
    for page in sorted(existing - store.seen):
        yield f"page {page}: nothing that can be reached leads to the page"
    for page in existing:
        need(0 < page < pages.page_count, f"page {page}: an id that was not given out")
    yield from check_allocation(pages, used, mapped)


def take(pages, used, address, what):
    place = unpack("Q", address, 8)[0]
    claim(used, place & (1 << 48) - 1, place >> 48, what)


def claim(used, first, count, what):
    for unit in range(first, first + count):
        need(unit not in used, f"unit {unit}: {what} and {used.get(unit)}")
        used[unit] = what


def check_allocation(pages, used, mapped):
    """Chapter 2.4: what is reachable from the newest generation, and what pends, is taken."""
    offset, length = pages.top.head[:2]
    claim(used, 0, 2 * BLOCK // pages.unit, "the superblocks")
    claim(used, offset // pages.unit, length // pages.unit, "the head segment")
    state = Allocation(pages)
    for address in state.blocks:
        take(pages, used, address, "the allocation state")
    for zone, address in state.zones:
        take(pages, used, address, f"zone {zone}")
    for unit, count, born, died in state.pending:
        claim(used, unit, count, f"what pends from {born} to {died}")
    for start, count in state.free:
        need(not any(page in mapped for page in range(start, start + count)),
             f"page {start} and so on: free and in the map")
    for unit in sorted(state.bits ^ set(used))[:10]:
        yield f"unit {unit}: {'taken by nothing' if unit in state.bits else 'not taken'}"
