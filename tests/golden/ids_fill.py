# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Bytes that are likely to be what tests of a rule ask for, drawn by a seed.

Whether they are, ids_rule_tests.holds() says; what fails is a near miss.
"""

import functools
import re._constants as codes
import re._parser as parser

from ids_rule_tests import (ByteExtract, ByteJump, ByteTest, Content, IsDataAt, Pcre, Size, holds,
                            value_of)

FILLER = b"abcdefghijklmnopqrstuvwxyz0123456789"
REPEATS = 3  # of what may be repeated without end, beyond its least
LONGEST = 4000  # bytes of one buffer
TRIES = 8


@functools.cache
def parsed(expression, flags):
    return parser.parse(expression, flags)


class Sampler:
    """Draws a text that an expression of Python matches."""

    def __init__(self, random_):
        self.random = random_
        self.groups = {}

    def text(self, expression, flags):
        return self.sequence(parsed(expression, flags))

    def sequence(self, items):
        return b"".join(self.one(operator, value) for operator, value in items)

    def one(self, operator, value):
        name = str(operator).lower()
        made = getattr(self, "of_" + name, None)
        return made(value) if made else b""  # places and looks around: nothing

    def of_literal(self, value):
        return bytes([value])

    def of_not_literal(self, value):
        return bytes([self.random.choice([byte for byte in FILLER if byte != value])])

    def of_any(self, _):
        return bytes([self.random.choice(FILLER)])

    def of_in(self, items):
        negated = items[0][0] is codes.NEGATE
        held = set()
        for operator, value in items[negated:]:
            if operator is codes.LITERAL:
                held.add(value)
            elif operator is codes.RANGE:
                held.update(range(value[0], value[1] + 1))
            else:
                held.update(self.category(value))
        if negated:
            held = (set(FILLER) - held) or (set(range(256)) - held)
        return bytes([self.random.choice(sorted(held & set(FILLER)) or sorted(held) or [120])])

    def category(self, kind):
        name = str(kind).lower()
        base = (set(b"0123456789") if "digit" in name else set(b" \t") if "space" in name
                else set(FILLER) | {95})
        return set(range(33, 127)) - base if "_not_" in name else base

    def repeated(self, value):
        low, high, items = value
        high = min(int(high), int(low) + REPEATS)
        return b"".join(self.sequence(items) for _ in range(self.random.randint(int(low), high)))

    of_max_repeat = of_min_repeat = of_possessive_repeat = repeated

    def of_branch(self, value):
        return self.sequence(self.random.choice(value[1]))

    def of_subpattern(self, value):
        self.groups[value[0]] = text = self.sequence(value[3])
        return text

    def of_atomic_group(self, value):
        return self.sequence(value)

    def of_groupref(self, number):
        return self.groups.get(number, b"")


class Filling:
    """The bytes of one buffer, test by test."""

    def __init__(self, random_):
        self.random = random_
        self.data = bytearray()
        self.fixed = set()  # places whose byte a test has asked for
        self.variables = ()

    def grow(self, size):
        while len(self.data) < min(size, LONGEST):
            self.data.append(self.random.choice(FILLER))

    def put(self, text, places):
        """At the first of the places where no other test's bytes are in the way. The end of it."""
        for at in places:
            span = range(at, at + len(text))
            if all(place not in self.fixed or self.data[place] == text[place - at]
                   for place in span):
                self.grow(at + len(text))
                self.data[at:at + len(text)] = text
                self.fixed.update(span)
                return at + len(text)
        return len(self.data)

    def gap(self):
        return self.random.choice((0, 0, 1, 5))

    def content(self, test, cursor):
        if test.negated:
            return cursor
        word = test.word
        if test.nocase and self.random.random() < 0.5:
            word = word.swapcase()
        low, high = test.bounds(LONGEST, cursor, self.variables)
        is_free = high == LONGEST and test.distance is None and not test.starts
        if is_free and not test.offset:
            low = len(self.data) + (self.gap() if self.data else 0)
        elif test.ends_with:
            low = max(low, len(self.data))
        elif self.random.random() < 0.5 and high - low > len(word):
            low = self.random.randint(low, min(high - len(word), low + 40))
        last = max(low, high - len(word))
        return self.put(word, range(low, min(last, low + 300) + 1))

    def pcre(self, test, cursor):
        if test.negated:
            return cursor
        text = Sampler(self.random).text(test.expression.pattern, test.expression.flags)
        low = cursor if test.relative else 0
        if not test.relative and not test.text.startswith("^"):
            low = len(self.data)
        return self.put(text, range(low, low + 100))

    def number(self, test, cursor, wanted):
        """Writes the number where the test reads; False: other tests have bytes there."""
        number = test.number
        at = value_of(number.offset, self.variables) + (cursor if number.relative else 0)
        count = number.bytes or 1
        if at < 0:
            return False
        if number.base is None:
            mask = number.mask or 1
            value = wanted * (mask & -mask) % 256**count
            text = value.to_bytes(count, "little" if number.little else "big")
        else:
            form = {16: "x", 8: "o"}.get(number.base, "d")
            text = format(max(wanted, 0), f"0{count}{form}")[-count:].encode()
        return self.put(text, [at]) == at + len(text)

    def byte_test(self, test, cursor):
        value = value_of(test.value, self.variables)
        wanted = {"<": value - 1, ">": value + 1, "=": value, "<=": value, ">=": value, "&": value,
                  "^": value + 1}[test.operator]
        if test.negated:
            wanted = {"<": value, ">": value, "=": value + 1, "<=": value + 1, ">=": value - 1,
                      "&": 0, "^": value}[test.operator]
        self.number(test, cursor, max(wanted, 0))
        return cursor

    def move(self, test, cursor):
        """byte_jump, byte_extract: a small number where none is yet."""
        self.number(test, cursor, self.random.choice((0, 1, 4, 8)))
        at = value_of(test.number.offset, self.variables) + cursor * test.number.relative
        self.grow(at + test.number.bytes + 1)
        for end, self.variables in test.go(bytes(self.data) + bytes(64), cursor, self.variables):
            return end
        return cursor

    def size(self, test):
        for size in [*range(len(self.data), LONGEST), *range(len(self.data))]:
            if test.test(size):
                self.grow(size)
                del self.data[size:]
                return

    def take(self, test, cursor):
        if isinstance(test, Content):
            return self.content(test, cursor)
        if isinstance(test, Pcre):
            return self.pcre(test, cursor)
        if isinstance(test, ByteTest):
            return self.byte_test(test, cursor)
        if isinstance(test, (ByteJump, ByteExtract)):
            return self.move(test, cursor)
        if isinstance(test, IsDataAt) and not test.negated:
            self.grow(cursor * test.relative + value_of(test.at, self.variables) + 1)
        return cursor


def fill(tests, random_):
    """(bytes, whether all tests pass)."""
    data = b""
    for _ in range(TRIES):
        filling, cursor = Filling(random_), 0
        for test in tests:
            cursor = filling.take(test, cursor)
        for test in tests:
            if isinstance(test, Size):
                filling.size(test)
        data = bytes(filling.data)
        if holds(tests, data):
            return data, True
    return data, False


def near_miss(data, random_):
    """One byte is another, more, or less."""
    if not data:
        return b"x"
    at, kind = random_.randrange(len(data)), random_.randrange(4)
    if kind == 0:
        return data[:at] + bytes([random_.choice(FILLER)]) + data[at:]
    if kind == 1:
        return data[:at] + data[at + 1:]
    if kind == 2:
        return data[:at] + data[at:at + 1].swapcase() + data[at + 1:]
    return data[:at] + bytes([data[at] ^ 1 << random_.randrange(7)]) + data[at + 1:]
