# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""What is replayed where payloads are looked at: frames with payloads, rules, and what becomes of
each frame by these rules, as the function alone says on a CPU (`millrace try`)."""

import dataclasses
import json
import pathlib
import random
import string

from frames import frame, read_capture, write_capture
from topology import millrace

LITERAL = b"needle in the hay"
LARGE_BYTES = 1504
FRAMES = 4096
LETTERS = string.ascii_letters + string.digits + " /.=&-_%"


@dataclasses.dataclass
class Work:
    """A capture and its rules. `dropped_before[i]`: of the first i frames; `hits`: of all."""

    name: str
    capture: pathlib.Path
    frame_bytes: float
    payload_bytes: float
    dropped_before: list
    hits: int

    @property
    def frames(self):
        return len(self.dropped_before) - 1

    def dropped_of(self, received):
        """Of so many frames, the capture again and again."""
        laps, rest = divmod(received, self.frames)
        return laps * self.dropped_before[-1] + self.dropped_before[rest]


def text_of(chance, size):
    return "".join(chance.choices(LETTERS, k=size)).encode()


def large_payload(chance):
    return text_of(chance, LARGE_BYTES - 54)


def http_payload(chance):
    """Requests and answers as they are about on the wire: 930 bytes a frame on average."""
    kind = chance.random()
    host, path = text_of(chance, 14), text_of(chance, chance.randrange(8, 90))
    if kind < 0.3:
        head = b"GET /%s HTTP/1.1\r\nHost: %s\r\nUser-Agent: Mozilla/5.0\r\nAccept: */*\r\nCookie: "
        return head % (path, host) + text_of(chance, chance.randrange(50, 500)) + b"\r\n\r\n"
    if kind < 0.45:
        head = b"HTTP/1.1 200 OK\r\nServer: %s\r\nContent-Type: text/html\r\n\r\n<html>"
        return head % host + text_of(chance, chance.randrange(100, 1300))
    return text_of(chance, 1446 if kind < 0.88 else chance.randrange(1, 200))


def made_frames(payload, seed, flows=512):
    """Frames of TCP, a sixteenth of which end with the literal that is dropped."""
    chance = random.Random(seed)
    known = [(6, 0x0A000000 + chance.randrange(1 << 24), chance.randrange(1024, 65536),
              0x0B000000 + chance.randrange(1 << 24), 80) for _ in range(flows)]
    made = []
    for number in range(FRAMES):
        data = payload(chance)
        if chance.random() < 1 / 16 and len(data) >= len(LITERAL):
            data = data[:-len(LITERAL)] + LITERAL
        made.append(frame(chance.choice(known), number & 0xFFFF, data))
    return made


def rules_text(options):
    """Those of --rules behind one that drops, or so many literals of a seed."""
    text = f'drop "{LITERAL.decode()}"\n'
    if options.rules:
        return text + options.rules.read_text(encoding="utf-8", errors="surrogateescape")
    chance = random.Random(options.seed)
    return text + "".join(
        'alert "' + "".join(chance.choices(string.ascii_letters + string.digits,
                                           k=chance.randrange(8, 24))) + '"\n'
        for _ in range(options.literals))


def payload_bytes(data):
    """Behind the headers of IPv4 and TCP or UDP without VLAN tags; 0 of anything else."""
    if len(data) < 34 or data[12:14] != b"\x08\x00" or data[23] not in (6, 17):
        return 0
    start = 14 + data[14] % 16 * 4
    if len(data) < start + 20:
        return 0
    start += data[start + 12] // 16 * 4 if data[23] == 6 else 8
    return max(min(14 + int.from_bytes(data[16:18], "big"), len(data)) - start, 0)


def looked_at(name, capture, rules, folder):
    """The work that a capture is under these rules."""
    verdicts = folder / "verdicts.txt"
    tried = json.loads(millrace("try", "match", "--pcap", capture, "--set", f"rules={rules}",
                                "--verdicts", verdicts, "--json").stdout)
    dropped = [0]
    for line in verdicts.read_text(encoding="ascii").splitlines()[1:]:
        dropped.append(dropped[-1] + (line.split("\t")[1] != "pass"))
    frames = read_capture(capture)
    assert len(frames) == tried["packets"] == len(dropped) - 1
    return Work(name, capture, sum(map(len, frames)) / len(frames),
                sum(map(payload_bytes, frames)) / len(frames), dropped,
                sum(tried["functions"][0]["hits"].values()))


def all_work(options, folder):
    """(rules file, work of each capture given or of each kind of frames)."""
    rules, through = folder / "scan.rules", folder / "through.rules"
    rules.write_text(rules_text(options), encoding="utf-8", errors="surrogateescape")
    through.write_text("alert udp 255.255.255.255/32 -> any\n", encoding="ascii")
    made = {"large": large_payload, "http": http_payload}
    work = []
    given = options.capture or [write_capture(folder / f"{kind}.pcap",
                                              made_frames(made[kind], options.seed))
                                for kind in options.frames.split(",")]
    for number, path in enumerate(given):
        # Whatever its format was, in the one that the harness reads.
        capture = folder / f"in{number}.pcap"
        millrace("try", "acl", "--pcap", path, "--set", f"rules={through}", "--out", capture)
        work.append(looked_at(path.stem, capture, rules, folder))
    return rules, through, work
