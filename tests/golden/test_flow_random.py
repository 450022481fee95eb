# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Random connections of TCP, most of whose segments are nearly right: begin_tcp() and follow_tcp()
let pass what the Linux kernel's conntrack lets pass. FLOW_SEED repeats a run."""

import os
import random
import shutil
import subprocess

import pytest

from captures import BUILD
from flow_cases import Case, Packet, kernel_filter, play

pytestmark = [pytest.mark.skipif(os.geteuid() != 0, reason="makes network namespaces: needs root"),
              pytest.mark.skipif(shutil.which("nft") is None, reason="needs nft")]
CASES, LENGTH = 400, 24
NUMBERS = 1 << 32


class Side:
    """A host that keeps no rules: what it has sent, and heard."""

    def __init__(self, generator):
        self.next = generator.choice((100, NUMBERS - 20, generator.randrange(NUMBERS)))
        self.heard = 0  # next number of the other side
        self.window = generator.choice((0, 1, 1000, 5000, 65535))
        self.options = generator.choice(("", " ws 0", " ws 3", " ws 7 sackok", " sackok"))


class Script:
    """Lines of one connection."""

    # How often which segment is tried.
    KINDS = {"data": 8, "ack": 8, "fin": 2, "reset": 2, "syn": 1, "syn_ack": 1, "again": 4,
             "strange": 1}
    OFF = (-70000, -66001, -5001, -1000, -1, 1, 2, 999, 1001, 5000, 66000, 1 << 30)

    def __init__(self, generator):
        self.random, self.lines = generator, []
        self.sides = {">": Side(generator), "<": Side(generator)}
        self.turn("syn", ">")
        if generator.random() < 0.9:
            self.turn("syn_ack", "<")
            self.turn("ack", ">")
        for _ in range(generator.randrange(4, LENGTH - 3)):
            kind = generator.choices(list(self.KINDS), self.KINDS.values())[0]
            self.turn(kind, generator.choice("<>"))
            if self.is_beyond():
                self.lines.pop()
                break

    def is_beyond(self):
        """A RST that Linux believes in any case: behind a FIN or another RST, or against a SYN."""
        said = [line.split()[:2] for line in self.lines]
        if "R" not in said[-1][1]:
            return False
        return (["<", "SA"] not in said
                or any("F" in flags or "R" in flags for _, flags in said[:-1]))

    def turn(self, kind, direction):
        """Adds a segment of that kind, right or, one in four, a little wrong."""
        if kind == "again":
            self.lines.append(self.random.choice(self.lines))
            return
        me, other = self.sides[direction], self.sides["<" if direction == ">" else ">"]
        wrong = len(self.lines) > 3 and self.random.random() < 0.25
        sequence, heard = me.next, me.heard or other.next
        if wrong:
            off = self.random.choice(self.OFF) + self.random.choice((0, me.window, other.window))
            if self.random.random() < 0.5:
                sequence += off
            else:
                heard += off
        size = self.random.choice((1, 10, 1000)) if kind == "data" else 0
        flags = {"data": "PA", "ack": "A", "fin": "FA", "reset": self.random.choice(("R", "RA")),
                 "syn": "S", "syn_ack": "SA",
                 "strange": self.random.choice(("F", "SF", "P", "AU", "SU", "SR", "-"))}[kind]
        sequence, heard = sequence % NUMBERS, heard % NUMBERS
        words = f"{flags} {sequence}" + (f"+{size}" if size else "")
        if "A" in flags:
            words += f" ack {heard}"
        words += f" win {self.random.choice((me.window, me.window, 0, 3000))}"
        if "S" in flags:
            words += me.options
        elif "A" in flags and self.random.random() < 0.1:
            words += f" sack {(heard + 100) % NUMBERS}-{(heard + 200) % NUMBERS}"
        self.lines.append(f"{direction} {words}")
        if not wrong:
            me.next = (sequence + size + ("S" in flags) + ("F" in flags)) % NUMBERS
            if self.random.random() < 0.8:  # else it is lost behind the filter
                other.heard = me.next


def test_random_connections_are_decided_as_the_kernel_does():
    seed = int(os.environ.get("FLOW_SEED", "1"))
    generator = random.Random(seed)
    scripts = [Script(generator).lines for _ in range(CASES)]
    text = "".join(f"case {number}\n" + "\n".join(lines) + "\n"
                   for number, lines in enumerate(scripts))
    verdicts = iter(subprocess.run([BUILD / "test/tcp_filter_dump"], input=text, text=True,
                                   capture_output=True, check=True).stdout.split())
    cases = [Case(f"seed {seed}, connection {number}", 0, families=(4,), packets=[
        Packet(at, line[0], line[2:], next(verdicts) == "pass")
        for at, line in enumerate(lines)]) for number, lines in enumerate(scripts)]
    with kernel_filter("strict") as router:
        plays = play(cases, router.hosts, router.world)
    wrong = [f"{one.case.name}: {text_of(one)}" for one in plays if one.wrong]
    assert not wrong, f"{len(wrong)} of {CASES}\n" + "\n".join(wrong[:5])


def text_of(one):
    """What was otherwise, in front of it what was decided before."""
    return "\n     ".join(["; ".join(one.wrong)] + [
        f"{packet.line}: {packet.direction} {packet.text} = {'pass' if packet.passes else 'drop'}"
        for packet in one.case.packets])
