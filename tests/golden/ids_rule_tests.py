# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""What rules ask of the bytes of one buffer, tried the slow way: every place, every choice.

Keywords have the meaning that Suricata's documentation gives them.
"""

import functools
import re
import re._constants as codes
import re._parser as parser
import warnings
from dataclasses import dataclass

FLAGS = {"F": 1, "S": 2, "R": 4, "P": 8, "A": 16, "U": 32, "2": 64, "E": 64, "1": 128, "C": 128,
         "0": 0}
FRAGMENT_BITS = {"M": 0x2000, "D": 0x4000}
# What Python's expressions do not have, or have with another meaning.
UNLIKE = re.compile(r"\\[KhHRQEGXzZpPeNv]|\[\[?:\w+:|\(\*|\(\?[|&R+\d-]|\{,|\(\?<[A-Za-z]|\\x\{")
REPEATS_MAX = 32  # of an expression


class NotJudged(Exception):
    """Why a rule is left out."""


def pattern_bytes(text):
    out, at = bytearray(), 0
    while at < len(text):
        if text[at] == "|":
            end = text.index("|", at + 1)
            out += bytes.fromhex(text[at + 1:end].replace(" ", ""))
            at = end + 1
            continue
        at += text[at] == "\\"
        out += text[at].encode()
        at += 1
    return bytes(out)


def quoted(value):
    """(negated, what the quotes hold, what follows)."""
    found = re.fullmatch(r'\s*(!?)\s*"((?:\\.|[^"\\])*)"\s*(.*)', value, re.DOTALL)
    if not found:
        raise NotJudged("a value without quotes")
    return bool(found[1]), found[2], found[3]


def number_or_name(text):
    text = text.strip().strip('"')
    if re.fullmatch(r"[+-]?\d+", text):
        return int(text)
    if re.fullmatch(r"0[xX][0-9a-fA-F]+", text):
        return int(text, 16)
    return text


def number_test(text):
    """A function of a number."""
    text = text.strip().strip('"').replace(" ", "")
    if text.startswith("!"):
        inner = number_test(text[1:])
        return lambda number: not inner(number)
    if found := re.fullmatch(r"(\w+)<=>(\w+)", text):
        low, high = int(found[1], 0), int(found[2], 0)
    elif found := re.fullmatch(r"(\w+)(?:<>|-)(\w+)", text):
        low, high = int(found[1], 0) + 1, int(found[2], 0) - 1
    elif found := re.fullmatch(r"([<>]=?)(\w+)", text):
        end = int(found[2], 0)
        low, high = {"<": (0, end - 1), "<=": (0, end), ">": (end + 1, 2**32),
                     ">=": (end, 2**32)}[found[1]]
    else:
        low = high = int(text.strip("="), 0)
    return lambda number: low <= number <= high


def bits_of(value):
    """(how, bits, bits that do not matter)."""
    wanted, _, ignored = value.strip('"').partition(",")
    names = {**FLAGS, **FRAGMENT_BITS} if "M" in wanted or "D" in wanted else FLAGS
    how = "".join(sign for sign in "+*!" if sign in wanted)
    bits = sum(names[letter.upper()] for letter in set(wanted) if letter not in "+*! ")
    if how == "!" and bits.bit_count() > 1:
        raise NotJudged("'!' with several bits")
    return how, bits, sum(names[letter.upper()] for letter in ignored.strip())


def bits_pass(how, bits, ignored, field):
    field &= ~ignored
    return {"": field == bits, "+": field & bits == bits, "*": field & bits != 0,
            "!": field & bits == 0}[how]


def value_of(number, variables):
    if isinstance(number, str):
        return dict(variables)[number]
    return number


@dataclass
class Content:
    word: bytes
    nocase: bool = False
    negated: bool = False
    offset: int | str | None = None
    depth: int | str | None = None
    distance: int | str | None = None
    within: int | str | None = None
    starts: bool = False
    ends_with: bool = False

    def bounds(self, length, cursor, variables):
        """Where a match begins at the earliest, and ends at the latest."""
        low = value_of(self.offset or 0, variables)
        high = length
        if self.depth is not None:
            high = min(high, low + value_of(self.depth, variables))
        if self.starts:
            high = min(high, len(self.word))
        if self.distance is not None or self.within is not None:
            low = cursor + value_of(self.distance or 0, variables)
            if self.within is not None:
                high = min(high, low + value_of(self.within, variables))
        return max(low, 0), high

    def places(self, data, cursor, variables):
        """Ends of all matches."""
        text, word = (data.lower(), self.word.lower()) if self.nocase else (data, self.word)
        low, high = self.bounds(len(data), cursor, variables)
        if self.ends_with:
            low = max(low, len(data) - len(word))
        at = text.find(word, low, high) if high >= 0 else -1
        while at >= 0:
            yield at + len(word)
            at = text.find(word, at + 1, high)

    def go(self, data, cursor, variables):
        """(cursor, variables) of each way to pass."""
        if self.negated:
            if not any(True for _ in self.places(data, cursor, variables)):
                yield cursor, variables
            return
        for end in self.places(data, cursor, variables):
            yield end, variables


@dataclass
class Pcre:
    expression: re.Pattern
    relative: bool
    negated: bool
    anchored: bool
    text: str

    def go(self, data, cursor, variables):
        front = cursor if self.relative else 0
        subject = data[front:]
        find = self.expression.match if self.anchored else self.expression.search
        if self.negated:
            if front > len(data) or not find(subject):
                yield cursor, variables
            return
        at = 0
        while front + at <= len(data) and (found := find(subject, at)):
            yield front + found.end(), variables
            at = found.start() + 1
            if self.anchored:
                return


def nests_repeats(items, within=False):
    """A repeat without end in another one: some texts take a time without end."""
    for operator, value in items:
        is_open = operator in (codes.MAX_REPEAT, codes.MIN_REPEAT) and value[1] is codes.MAXREPEAT
        if is_open and within:
            return True
        for part in value if isinstance(value, (tuple, list)) else ():
            parts = part if isinstance(part, list) else [part]
            if any(nests_repeats(one, within or is_open) for one in parts
                   if isinstance(one, parser.SubPattern)):
                return True
    return False


def pcre_of(value):
    """(test, letters behind the expression)."""
    found = re.fullmatch(r'\s*(!?)\s*"\s*/(.*)/([A-Za-z]*)\s*"\s*', value, re.DOTALL)
    if not found:
        raise NotJudged("pcre between no slashes")
    negated, text, letters = bool(found[1]), found[2], found[3]
    if UNLIKE.search(text) or "G" in letters or ("E" in letters and "$" in text):
        raise NotJudged("pcre with what Python does not have")
    flags = sum({"i": re.I, "s": re.S, "m": re.M, "x": re.X}.get(letter, 0)
                for letter in set(letters))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            made = re.compile(text.encode("latin-1"), flags)
    except (re.error, FutureWarning, DeprecationWarning, UnicodeEncodeError) as error:
        raise NotJudged("pcre that Python refuses") from error
    if len(re.findall(r"[*+][?]?|,\}", text)) > REPEATS_MAX or nests_repeats(
            parser.parse(made.pattern, flags)):
        raise NotJudged("pcre that takes too long")
    return Pcre(made, "R" in letters, negated, "A" in letters, text), letters


def read_text(data, base):
    """(number, bytes of its text) as strtoull() reads; None: no digits."""
    found = re.match(rb"[ \t-\r]*([+-]?)(0[xX](?=[0-9a-fA-F]))?([0-9a-zA-Z]*)", data)
    prefix, digits = found[2] if base in (0, 16) else None, found[3]
    if found[2] and not prefix:
        digits = b"0"
    if base == 0:
        base = 16 if prefix else 8 if digits.startswith(b"0") else 10
    known = b"0123456789abcdefghijklmnopqrstuvwxyz"[:base]
    count = 0
    while count < len(digits) and digits[count:count + 1].lower() in (
            known[i:i + 1] for i in range(base)):
        count += 1
    if count == 0 or int(digits[:count], base) >= 2**64:
        return None
    length = (found.start(3) if prefix or not found[2] else found.start(2)) + count
    number = int(digits[:count], base)
    return (-number % 2**64 if found[1] == b"-" else number), length


@dataclass
class Number:
    """What byte_test and its like read."""

    bytes: int
    offset: int | str
    relative: bool = False
    little: bool = False
    base: int | None = None  # of text
    mask: int = 0

    def read(self, data, cursor, variables):
        """(number, begin, bytes) or None."""
        at = value_of(self.offset, variables) + (cursor if self.relative else 0)
        count = self.bytes
        if self.base is not None and count == 0:
            count = min(23, len(data) - at)
        if at < 0 or at + count > len(data) or (self.base is not None and count <= 0):
            return None
        piece = data[at:at + count]
        if self.base is None:
            return int.from_bytes(piece, "little" if self.little else "big"), at, count
        found = read_text(piece, self.base)
        return found and (found[0], at, found[1])

    def masked(self, number):
        return (number & self.mask) // (self.mask & -self.mask) if self.mask else number


def number_of(count, offset, words, is_snort):
    """The Number that is read so, and the words that are not about that."""
    number, rest = Number(int(count), number_or_name(offset)), []
    for word in words:
        name, _, value = word.partition(" ")
        if word == "relative":
            number.relative = True
        elif word in ("big", "little") or name == "endian":
            number.little = "little" in word
        elif name == "string":
            kind = value.strip()
            if number.base is None:
                number.base = 10 if is_snort else 0
            number.base = {"hex": 16, "dec": 10, "oct": 8}.get(kind, number.base)
        elif word in ("hex", "dec", "oct"):
            number.base = {"hex": 16, "dec": 10, "oct": 8}[word]
        elif name == "bitmask":
            number.mask = int(value, 0)
        elif word == "dce":
            raise NotJudged("dce")
        else:
            rest.append(word)
    return number, rest


COMPARE = {"<": lambda a, b: a < b, ">": lambda a, b: a > b, "=": lambda a, b: a == b,
           "<=": lambda a, b: a <= b, ">=": lambda a, b: a >= b, "&": lambda a, b: a & b != 0,
           "^": lambda a, b: a ^ b != 0}


def split(value):
    return [part.strip() for part in value.split(",")]


class ByteTest:
    def __init__(self, value, is_snort):
        count, compare, self.value, offset, *words = split(value)
        self.negated = compare.startswith("!")
        self.operator = compare.lstrip("!").strip() or "="
        self.value = number_or_name(self.value)
        self.number, rest = number_of(count, offset, words, is_snort)
        self.relative = self.number.relative
        if rest or self.operator not in COMPARE:
            raise NotJudged("byte_test")

    def go(self, data, cursor, variables):
        read = self.number.read(data, cursor, variables)
        if read is None:
            return
        holds = COMPARE[self.operator](self.number.masked(read[0]),
                                       value_of(self.value, variables))
        if holds != self.negated:
            yield cursor, variables


class ByteJump:
    def __init__(self, value, is_snort):
        count, offset, *words = split(value)
        self.number, rest = number_of(count, offset, words, is_snort)
        self.relative = self.number.relative
        self.words = dict((word.split() + ["1"])[:2] for word in rest)
        if set(self.words) - {"align", "multiplier", "post_offset", "from_beginning", "from_end"}:
            raise NotJudged("byte_jump")

    def go(self, data, cursor, variables):
        read = self.number.read(data, cursor, variables)
        if read is None:
            return
        far = self.number.masked(read[0]) * int(self.words.get("multiplier", 1))
        if "align" in self.words:
            far = -(-far // 4) * 4
        base = read[1] + read[2]
        if "from_beginning" in self.words:
            base = 0
        if "from_end" in self.words:
            base = len(data)
        target = max(base + far + int(self.words.get("post_offset", 0)), 0)
        if target < len(data):
            yield target, variables


class ByteExtract:
    def __init__(self, value, is_snort):
        count, offset, self.name, *words = split(value)
        self.number, rest = number_of(count, offset, words, is_snort)
        self.relative = self.number.relative
        self.words = dict((word.split() + ["1"])[:2] for word in rest)
        if set(self.words) - {"align", "multiplier"}:
            raise NotJudged("byte_extract")

    def go(self, data, cursor, variables):
        read = self.number.read(data, cursor, variables)
        if read is None:
            return
        value = self.number.masked(read[0]) * int(self.words.get("multiplier", 1))
        align = int(self.words.get("align", 1))
        value = -(-value // align) * align
        yield read[1] + read[2], tuple({**dict(variables), self.name: value}.items())


class IsDataAt:
    def __init__(self, value, _is_snort):
        at, *words = split(value.strip('"'))
        self.negated = at.startswith("!")
        self.at = number_or_name(at.lstrip("!").split()[0])
        self.relative = "relative" in words

    def go(self, data, cursor, variables):
        at = value_of(self.at, variables)
        is_there = cursor + at <= len(data) if self.relative else at < len(data)
        if is_there != self.negated:
            yield cursor, variables


@dataclass
class Size:
    test: object

    def go(self, data, cursor, variables):
        if self.test(len(data)):
            yield cursor, variables


BYTES = {"byte_test": ByteTest, "byte_jump": ByteJump, "byte_extract": ByteExtract,
         "isdataat": IsDataAt}


def holds(tests, data):
    """True if there is a choice of places for which all tests pass, one behind the other."""
    @functools.cache
    def passes(number, cursor, variables):
        return number == len(tests) or any(
            passes(number + 1, *end) for end in tests[number].go(data, cursor, variables))
    return passes(0, 0, ())
