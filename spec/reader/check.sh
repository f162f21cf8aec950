#!/usr/bin/env bash
# check.sh TRELLIS [STORE…]: compares the reader of this folder, which was written from the
# specification alone, with the tool TRELLIS, byte for byte: on the samples, on the damaged stores of
# chapter 12, on stores that the writer of this folder makes, and on the STOREs. Twenty stores are made, from the seeds 1 to 20;
# TRELLIS_SEED says the first, STORES how many. No process may take more memory than
# decisions/044 allows the tool: 320 MiB.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tool=${1:?the path of the trellis tool}
shift
mebibytes_max=320
python=
for candidate in python3 /usr/bin/python3; do
    if "$candidate" -c 'import lz4.block, xxhash' 2>/dev/null; then
        python=$candidate
        break
    fi
done
if [ -z "$python" ]; then
    echo "no python3 with xxhash and lz4: install python3-xxhash and python3-lz4" >&2
    exit 1
fi
export PYTHONDONTWRITEBYTECODE=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
compared=0
refusals=0

# measured COMMAND…: runs a command whose peak memory is bounded.
measured() {
    local status=0 kibibytes
    /usr/bin/time -q -f %M -o "$work/peak" "$@" || status=$?
    kibibytes=$(tail -n 1 "$work/peak")
    if [ $((kibibytes / 1024)) -gt "$mebibytes_max" ] || [ "$kibibytes" = 0 ]; then
        echo "$(basename "$1") $2 took $((kibibytes / 1024)) MiB" | tee "$work/excess" >&2
    fi
    return "$status"
}
trellis() { measured "$tool" "$@"; }
reader() { measured "$python" "$here/trellis_reader.py" "$@"; }

# same FILE: both find nothing wrong, and print the same objects of every entity.
same() {
    local entity name
    name=$(basename "$1")
    trellis check "$1" >"$work/tool" || { cat "$work/tool"; return 1; }
    reader check "$1" >"$work/reader" \
        || { cat "$work/reader"; return 1; }
    trellis schema "$1" --history >"$work/tool"
    reader history "$1" >"$work/reader"
    cmp "$work/tool" "$work/reader" || { echo "$name: the history differs"; return 1; }
    for entity in $(reader entities "$1"); do
        trellis dump "$1" "$entity" --json >"$work/tool"
        reader dump "$1" "$entity" >"$work/reader"
        cmp "$work/tool" "$work/reader" || { echo "$name: $entity differs"; return 1; }
        local kept=${1%.trellis}.$entity.json
        if [ -e "$kept" ]; then cmp "$work/reader" "$kept" || return 1; fi
        compared=$((compared + $(wc -c <"$work/reader")))
    done
    echo "$name: the same"
}

for store in "$here"/../samples/*.trellis "$@"; do
    same "$store"
    for seed in 1 2; do
        copy=$work/$(basename "$store" .trellis)-$seed.trellis
        "$python" "$here/trellis_writer.py" "$copy" "$seed" "$store"
        for kept in "${store%.trellis}".*.json; do
            [ ! -e "$kept" ] || cp "$kept" "${copy%.trellis}.${kept#"${store%.trellis}".}"
        done
        same "$copy"
    done
done
# refused FILE: both report damage.
refused() {
    local name
    name=$(basename "$1" .trellis)
    if trellis check "$1" >"$work/tool" 2>&1; then echo "$name: the tool finds nothing"; return 1; fi
    if reader check "$1" >"$work/reader" 2>&1; then
        echo "$name: the reader finds nothing"
        return 1
    fi
    if grep -q Traceback "$work/reader"; then cat "$work/reader"; return 1; fi
    refusals=$((refusals + 1))
    echo "$name: refused"
}

# damaged NAME: both report the error of chapter 12, or print the objects that it names.
damaged() {
    local result entity
    "$python" "$here/trellis_damage.py" "$work/damaged.trellis" "$1"
    read -r result entity < <("$python" "$here/trellis_damage.py" EXPECTED "$1")
    trellis dump "$work/damaged.trellis" "$entity" --json >"$work/tool" 2>"$work/errors" || true
    if [ -e "$here/../samples/$result" ]; then
        cmp "$work/tool" "$here/../samples/$result" || { echo "$1 differs"; return 1; }
    elif ! grep -q "^trellis: $result: " "$work/errors"; then
        cat "$work/errors"
        echo "$1: the tool does not report $result"
        return 1
    fi
    echo "$1: $result"
}

"$python" "$here/trellis_walk.py"
"$python" "$here/trellis_damage.py" CHECK
for name in $("$python" "$here/trellis_damage.py" NAMES); do damaged "$name"; done
first=${TRELLIS_SEED:-1}
for lie in $("$python" "$here/trellis_lies.py" NAMES); do
    "$python" "$here/trellis_lies.py" "$work/$lie.trellis" "$first" "$lie"
    refused "$work/$lie.trellis"
done
for seed in $(seq "$first" $((first + ${STORES:-20} - 1))); do
    "$python" "$here/trellis_writer.py" "$work/seed-$seed.trellis" "$seed"
    same "$work/seed-$seed.trellis"
    rm "$work/seed-$seed.trellis"
done
if [ -e "$work/excess" ]; then exit 1; fi
if [ "$compared" = 0 ] || [ "$refusals" = 0 ]; then
    echo "nothing was compared, or no damage was tried"
    exit 1
fi
echo "$compared bytes compared, $refusals lies refused"
