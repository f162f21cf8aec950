"""Values, from chapters 5 and 6: their bytes in records and keys, and their text in JSON."""

import base64
import datetime
import math
import struct

INTEGERS = {"int8": "b", "int16": "h", "int32": "i", "int64": "q",
            "uint8": "B", "uint16": "H", "uint32": "I", "uint64": "Q"}
IN_HEAP = {"decimal", "string", "data", "uuid", "url"}
TEXTS = {"string", "url", "data"}
TYPES = {"bool", "float", "double", "date"} | set(INTEGERS) | IN_HEAP


# Decimals (5.3): None is NaN, else (negative, digits, e) with 0.digits x 10^e; digits "" is zero.

def decimal_bytes(text):
    """The bytes of a number written as -12.50 or 1e-5."""
    if text == "NaN":
        return b"\0"
    mantissa, _, exponent = text.lstrip("-").partition("e")
    whole, _, fraction = mantissa.partition(".")
    exponent = int(exponent or "0") + len(whole)
    digits = whole + fraction
    exponent -= len(digits) - len(digits.lstrip("0"))
    digits = digits.strip("0")
    if not digits:
        return b"\2"
    tail = struct.pack(">H", exponent + 32768)
    padded = digits + "0" * (len(digits) % 2)
    tail += bytes(int(padded[i:i + 2]) + 1 for i in range(0, len(padded), 2)) + b"\0"
    if text.startswith("-"):
        return b"\1" + bytes(255 - byte for byte in tail)
    return b"\3" + tail


def decimal_text(data):
    """The number in plain notation; "NaN"; None for bytes that are no decimal."""
    if data == b"\0":
        return "NaN"
    if data == b"\2":
        return "0"
    if len(data) < 5 or data[0] not in (1, 3):
        return None
    tail = data[1:] if data[0] == 3 else bytes(255 - byte for byte in data[1:])
    pairs = tail[2:-1]
    if tail[-1] != 0 or not all(1 <= pair <= 100 for pair in pairs) or pairs[0] <= 10:
        return None
    digits = "".join(f"{pair - 1:02}" for pair in pairs)
    if digits.endswith("00"):
        return None
    digits = digits.rstrip("0")
    exponent = struct.unpack(">H", tail[:2])[0] - 32768
    power = exponent - len(digits)
    if len(digits) > 39 or power > 127 + 38 or power < -128:
        return None
    if int(digits) * 10 ** max(power - 127, 0) >= 1 << 128:
        return None
    sign = "-" if data[0] == 1 else ""
    if exponent <= 0:
        return sign + "0." + "0" * -exponent + digits
    if exponent >= len(digits):
        return sign + digits + "0" * (exponent - len(digits))
    return sign + digits[:exponent] + "." + digits[exponent:]


# Columns of keys (6.2, 6.3)

def text_max(key_max, columns):
    return max(8, (key_max - 16) // columns // 2 - 4)


def double_column(number):
    if math.isnan(number):
        return bytes(8)
    bits = struct.unpack(">Q", struct.pack(">d", number + 0.0))[0]
    return struct.pack(">Q", bits ^ (0xFFFFFFFFFFFFFFFF if bits >> 63 else 1 << 63))


def column(kind, value, limit):
    """The column of a value; texts are bytes, decimals the bytes of 5.3, links numbers."""
    if value is None:
        return b"\0"
    if kind in TEXTS:
        cut = value[:limit].replace(b"\0", b"\0\xff")
        return b"\1" + cut + (b"\0\0" if len(value) <= limit else b"\0\1")
    if kind in ("float", "double", "date"):
        return b"\1" + double_column(value)
    if kind in ("decimal", "uuid"):
        return b"\1" + value
    if kind.startswith("int"):
        return b"\1" + struct.pack(">Q", (value & 0xFFFFFFFFFFFFFFFF) ^ 1 << 63)
    return b"\1" + struct.pack(">Q", int(value))


# JSON (spec/reader/README.md)

def quoted(text):
    marks = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    return '"' + "".join(
        marks.get(c) or (f"\\u{ord(c):04x}" if ord(c) < 32 else c) for c in text) + '"'


def number_text(value, single):
    """The shortest digits that give the number again, as 0.25 or 1e-05."""
    if math.isnan(value):
        return "null"
    if math.isinf(value):
        return "null"
    text = repr(value)
    if single:
        packed = struct.pack("<f", value)
        text = next(t for t in (f"{value:.{p}e}" for p in range(9))
                    if struct.pack("<f", float(t)) == packed)
    mantissa, _, exponent = f"{float(text):.16e}".partition("e")
    digits = text.lstrip("-").partition("e")[0].replace(".", "").strip("0") or "0"
    exponent = int(exponent)
    sign = "-" if math.copysign(1, value) < 0 else ""
    if value != 0 and (exponent < -4 or abs(value) > 2 ** (24 if single else 54)):
        fraction = "." + digits[1:] if len(digits) > 1 else ""
        return f"{sign}{digits[0]}{fraction}e{exponent:+03}"
    if exponent < 0:
        return sign + "0." + "0" * (-exponent - 1) + digits
    digits = digits.ljust(exponent + 1, "0")
    return sign + digits[:exponent + 1] + "." + (digits[exponent + 1:] or "0")


def date_text(seconds):
    if not math.isfinite(seconds):
        return "null"
    micros = round(seconds * 1e6)
    try:
        day = datetime.datetime(2001, 1, 1) + datetime.timedelta(microseconds=micros)
    except OverflowError:
        return "null"
    return '"' + day.strftime("%Y-%m-%dT%H:%M:%S.%fZ").rjust(27, "0") + '"'


def json_text(kind, value):
    if value is None:
        return "null"
    if kind == "bool":
        return "true" if value else "false"
    if kind in INTEGERS:
        return str(value)
    if kind in ("float", "double"):
        return number_text(value, kind == "float")
    if kind == "decimal":
        text = decimal_text(value)
        return "null" if text is None else quoted(text)
    if kind == "date":
        return date_text(value)
    if kind == "uuid":
        h = value.hex().upper()
        return quoted("-".join((h[:8], h[8:12], h[12:16], h[16:20], h[20:])))
    if kind == "data":
        return quoted(base64.b64encode(value).decode())
    return quoted(value.decode("utf-8", "replace"))
