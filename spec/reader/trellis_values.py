"""Values, from chapters 5 and 6: their bytes in records and keys, and their text in JSON."""

import base64
import datetime
import decimal
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
    """The number that bytes spell, in plain notation; "NaN"; None for bytes that are no decimal."""
    if data[:1] in (b"\0", b"\2"):
        return "NaN" if data[0] == 0 else "0"
    if data[:1] not in (b"\1", b"\3") or len(data) < 4:
        return None
    tail = data[1:] if data[0] == 3 else bytes(255 - byte for byte in data[1:])
    exponent, pairs = struct.unpack(">H", tail[:2])[0] - 32768, tail[2:]
    if 0 not in pairs or any(pair > 100 for pair in pairs[:pairs.index(0)]):
        return None
    if pairs.index(0) > 20:
        return None
    digits = "".join(f"{pair - 1:02}" for pair in pairs[:pairs.index(0)])
    exponent -= len(digits) - len(digits.lstrip("0"))
    digits = digits.strip("0")
    if exponent > 127:  # zeros at the end, of which the number of 39 digits has room for some
        digits = digits.ljust(min(39, exponent - 127), "0")
    power = exponent - len(digits)
    if not digits or int(digits) >= 1 << 128 or not -128 <= power <= 127:
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


# JSON (12.3)

def quoted(text):
    marks = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    return '"' + "".join(
        marks.get(c) or (f"\\u{ord(c):04x}" if ord(c) < 32 else c) for c in text) + '"'


def number_text(value, single):
    """The shortest digits that give the number again, as 0.25 or 1e-05."""
    if not math.isfinite(value):
        return f'"{value}"'
    text = repr(value) if not single else next(
        text for text in (f"{value:.{places}e}" for places in range(9)) if as_float(text) == value)
    sign, digits, exponent = decimal.Decimal(text).normalize().as_tuple()
    exponent, digits = exponent + len(digits) - 1, "".join(map(str, digits))
    sign = "-" * sign
    if value == 0:
        return sign + "0.0"
    if exponent < -4 or abs(value) > 2 ** (24 if single else 53):
        fraction = "." + digits[1:] if len(digits) > 1 else ""
        return f"{sign}{digits[0]}{fraction}e{exponent:+03}"
    if exponent < 0:
        return sign + "0." + "0" * (-exponent - 1) + digits
    digits = digits.ljust(exponent + 1, "0")
    return sign + digits[:exponent + 1] + "." + (digits[exponent + 1:] or "0")


def as_float(text):
    """The binary32 nearest to a number, as a double; infinity beyond the greatest."""
    try:
        return struct.unpack("<f", struct.pack("<f", float(text)))[0]
    except OverflowError:
        return math.inf


def date_text(seconds):
    """ISO 8601 with the decimals it takes, Julian before 15 October 1582; far dates as numbers."""
    if seconds != 0 and not 1e-4 <= abs(seconds) < 6e10:
        return quoted(number_text(seconds, False).strip('"'))
    whole = math.floor(seconds)
    with decimal.localcontext() as context:
        context.prec = 60
        part = decimal.Decimal(repr(seconds)) - whole
    decimals = f"{part:f}".partition(".")[2].rstrip("0").ljust(6, "0")
    days, rest = divmod(whole, 86400)
    day = datetime.date(2001, 1, 1) + datetime.timedelta(days=days)
    year, month, number = day.year, day.month, day.day
    if day < datetime.date(1582, 10, 15):
        turns = day.toordinal() + 305 + 2  # days since 1 March of the Julian year 0
        cycle, turns = divmod(turns, 1461)
        older = min(turns // 365, 3)
        turns -= 365 * older
        month = (5 * turns + 2) // 153
        number = turns - (153 * month + 2) // 5 + 1
        year, month = 4 * cycle + older + (month >= 10), (month + 2) % 12 + 1
    return (f'"{year:04}-{month:02}-{number:02}T{rest // 3600:02}:{rest // 60 % 60:02}:'
            f'{rest % 60:02}.{decimals}Z"')


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
