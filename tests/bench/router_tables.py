# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Route tables of the router's bench: a small one, and one with as many prefixes as the Internet
has: a real one where the optional folder `../shared` (or MILLRACE_SHARED) has it, else a made one
of /24 networks."""

import dataclasses
import gzip
import io
import ipaddress
import os
import pathlib
import random
import tarfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
ARCHIVE = pathlib.Path(os.environ.get("MILLRACE_SHARED", ROOT / "../shared")) / "data/routes.tar.xz"
SMALL = 100
ADDRESSES = 200  # that packets go to, of each table


@dataclasses.dataclass
class Table:
    name: str
    prefixes: list  # texts; the default route is not among them
    addresses: list  # within them: packets go there in turn

    def write(self, path, hop, default=True):
        """As a file of `route`. `hop(number)`: of each prefix, "PORT via ADDRESS"."""
        lines = [f"0.0.0.0/0 {hop(0)}\n"] if default else []
        lines += [f"{prefix} {hop(number)}\n" for number, prefix in enumerate(self.prefixes)]
        path.write_text("".join(lines), encoding="utf-8")

    def write_batch(self, path, way):
        """As a file of `ip -batch`."""
        path.write_text("".join(f"route add {prefix} {way}\n" for prefix in self.prefixes),
                        encoding="utf-8")


def made(count):
    """As many different /24 networks, spread over 1.0.0.0 to 9.255.255.0 and 11.0.0.0 to
    99.255.255.0."""
    numbers = [*range(1 << 16, 10 << 16), *range(11 << 16, 100 << 16)]
    chosen = random.Random(1).sample(numbers, count)
    nets = [f"{n >> 16}.{n >> 8 & 255}.{n & 255}" for n in chosen]
    spread = random.Random(2).sample(nets, min(ADDRESSES, count))
    return [f"{net}.0/24" for net in nets], [f"{net}.9" for net in spread]


def member(archive, name):
    return gzip.decompress(archive.extractfile(f"routes/{name}").read()).decode()


def is_forwarded(address):
    """To a host that may be behind a router, and is not one of the bench's own (10.8.0.0/16)."""
    known = ipaddress.ip_address(address)
    return not (known.is_multicast or known.is_reserved or known.is_loopback or known.is_private)


def real():
    """Prefixes of the Internet, and addresses that were looked up."""
    with tarfile.open(ARCHIVE) as archive:
        prefixes = member(archive, "bgp-2024-ipv4.txt.gz").split()
        lookups = io.StringIO(member(archive, "bgp-2024-ipv4-lookups.tsv.gz"))
    addresses = [line.split("\t")[0] for line in lookups if not line.startswith("#")]
    addresses = [address for address in addresses if is_forwarded(address)]
    return prefixes, random.Random(2).sample(addresses, ADDRESSES)


def tables(count=None):
    """(small, full). `count`: prefixes of a made one, whatever there is."""
    if count is None and ARCHIVE.exists():
        prefixes, addresses = real()
        kind = "of the Internet"
    else:
        prefixes, addresses = made(count or 900_000)
        kind = "made"
    few, theirs = made(SMALL)
    return (Table(f"{SMALL} routes", few, theirs),
            Table(f"{len(prefixes):,} routes", prefixes, addresses), kind)
