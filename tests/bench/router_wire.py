# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""The router's bench over network interfaces: two hosts in namespaces of their own, cables (veth),
and between them the kernel's own forwarding, then Millrace on `afpacket` over cables of the same
kind. The same sender, a topology on one thread, gives as much as it can; what arrives is counted.

What is fair to say of it. The kernel forwards in the interrupt of the sender, so the sender's core
does both; with RPS it has cores of its own, as many as Millrace has processes on the path. Both
have one queue a port. Where there are cores enough the sender's is no other's. `sent` is what
left the sender: where it is no more than what arrives, the sender is what was measured.
"""

import contextlib
import dataclasses
import json
import os
import pathlib
import statistics
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "harness"))

# pylint: disable=wrong-import-position
from topology import Topology  # noqa: E402
from wire import Wire, run  # noqa: E402

PORTS = ("02:00:00:00:00:0a", "02:00:00:00:00:0b")
HOSTS = ("10.8.1.10/24", "10.8.2.10/24")
GATEWAYS = ("10.8.1.1", "10.8.2.1")
NEXT = "10.8.2.10"
FLOWS = 1024  # of the sender
OTHERS = 4  # hub, standby, telemetry, supervisor: they share what is left
MILLRACE = """
ports:
  a: {{ device: afpacket, interface: {a}, mac: "{macs[0]}", addresses: [{gateways[0]}/24] }}
  b: {{ device: afpacket, interface: {b}, mac: "{macs[1]}", addresses: [{gateways[1]}/24] }}
workers:
  worker: {{ kind: classifier, count: {workers}, max: {workers}, dispatch: any }}
functions:
  way: {{ type: route, table: {table}, on: worker }}
paths:
  main: {{ {path} }}
"""
PASS = "from: a, to: b"
ROUTE = "from: [a, b], run: [way]"
SENDER = """
placement: fused
ports:
  from: {{ device: generate, size: {size}, flows: {flows}, mac: "{mac}", destinations: {to} }}
  to:   {{ device: afpacket, interface: eth, host: true }}
paths:
  main: {{ from: from, to: to }}
"""


@dataclasses.dataclass
class Cores:
    """What may run where."""
    router: list
    sender: list
    apart: bool

    @classmethod
    def shared_out(cls, workers):
        every = sorted(os.sched_getaffinity(0))
        apart = len(every) >= workers + 2 + OTHERS
        return cls(every[:-1] if apart else every, every[-1:] if apart else every, apart)

    @staticmethod
    def words(cores):
        return ("taskset", "-c", ",".join(map(str, cores)))


@dataclasses.dataclass
class Row:
    """Figures of one router with one table: rates that arrived, and the median of what was sent,
    by size of frame."""
    kind: str
    table: str
    rates: dict
    sent: dict

    def median(self, label):
        return statistics.median(self.rates[label])


class Rig:
    """Two hosts, whose cables a router is between."""

    def __init__(self, folder, wire, cores, options):
        self.folder, self.wire, self.cores, self.options = folder, wire, cores, options

    def packets(self, host, direction):
        text = run("ip", "-n", host.namespace, "-j", "-s", "link", "show", "eth").stdout
        return json.loads(text)[0]["stats64"][direction]["packets"]

    def one(self, size, addresses, mac):
        """(arrived, sent) in millions a second, of one start of the sender."""
        text = SENDER.format(size=size, flows=FLOWS, mac=mac, to=json.dumps(addresses))
        sending = Topology(self.folder, text, prefix=(
            *("ip", "netns", "exec", self.wire.a.namespace), *Cores.words(self.cores.sender)))
        sending.endless = True

        def counts():
            return (self.packets(self.wire.b, "rx"), self.packets(self.wire.a, "tx"),
                    time.monotonic())
        with sending:
            time.sleep(0.5)
            before = counts()
            time.sleep(self.options.seconds)
            after = counts()
        seconds = after[2] - before[2]
        return tuple((now - then) / seconds / 1e6 for now, then in zip(after[:2], before[:2]))

    def row(self, kind, table, mac=PORTS[0]):
        row = Row(kind, table.name, {}, {})
        for label, size in self.options.sizes.items():
            figures = [self.one(size, table.addresses, mac) for _ in range(self.options.starts)]
            row.rates[label] = [arrived for arrived, _ in figures]
            row.sent[label] = statistics.median(sent for _, sent in figures)
        return row


@contextlib.contextmanager
def rig(folder, cores, options):
    with Wire(addresses=HOSTS) as wire:
        wire.a.neighbour(GATEWAYS[0], PORTS[0])
        yield Rig(folder, wire, cores, options)


def by_the_kernel(wire):
    for port, mac, gateway in zip((wire.port_a, wire.port_b), PORTS, GATEWAYS):
        wire.in_middle("ip", "link", "set", port, "address", mac)
        wire.in_middle("ip", "address", "add", f"{gateway}/24", "dev", port)
    wire.in_middle("sysctl", "-qw", "net.ipv4.ip_forward=1", "net.ipv4.conf.all.rp_filter=0",
                   f"net.ipv4.conf.{wire.port_a}.rp_filter=0")
    wire.in_middle("ip", "neighbour", "replace", NEXT, "lladdr", wire.b.mac, "dev", wire.port_b)


def steer(wire, cores):
    """What arrives at port a is forwarded by these cores. False: not by this kernel."""
    mask = f"{sum(1 << core for core in cores):x}"
    masks = [mask[max(0, end - 8):end] for end in range(len(mask), 0, -8)][::-1]
    queue = f"/sys/class/net/{wire.port_a}/queues/rx-0/rps_cpus"
    done = run(*wire.prefix, "sh", "-c", f"echo {','.join(masks)} >{queue}", check=False)
    return done.returncode == 0


def kernel_rows(folder, cores, options, table):
    """The kernel, then the kernel with as many cores as Millrace has for the path."""
    with rig(folder, cores, options) as one:
        by_the_kernel(one.wire)
        batch = folder / "kernel.routes"
        table.write_batch(batch, f"via {NEXT} dev {one.wire.port_b}")
        run(*one.wire.prefix, "ip", "-batch", batch, timeout=600)
        yield one.row("kernel", table)
        used = cores.router[:options.workers + 2]
        if len(used) > 1 and steer(one.wire, used):
            yield one.row(f"kernel, RPS to {len(used)} cores", table)


def millrace_row(folder, cores, options, table, path):
    with rig(folder, cores, options) as one:
        file = folder / "wire.routes"
        table.write(file, lambda _: f"b via {NEXT}")
        text = MILLRACE.format(a=one.wire.port_a, b=one.wire.port_b, macs=PORTS, path=path,
                               gateways=GATEWAYS, workers=options.workers, table=file)
        running = Topology(folder, text, prefix=(*one.wire.prefix, *Cores.words(cores.router)))
        running.endless = True
        with running:
            if path == ROUTE:
                return one.row("Millrace", table)
            # Without a function no address changes: the frames are host b's from the start.
            return one.row("Millrace, no function", table, one.wire.b.mac)


def print_rows(rows, sizes):
    """Each beside the kernel with the same table, and beside the path without a function."""
    print(f"{'frames':8} {'router':24} {'table':16} {'Mpps':>7} {'least':>7} {'most':>7} "
          f"{'sent':>7} {'of kernel':>9} {'of pass':>8}")
    for label in sizes:
        kernel = {row.table: row.median(label) for row in rows if row.kind == "kernel"}
        passes = next(row.median(label) for row in rows if row.kind.endswith("no function"))
        for row in rows:
            rates, median = row.rates[label], row.median(label)
            print(f"{label:8} {row.kind:24} {row.table:16} {median:7.3f} {min(rates):7.3f} "
                  f"{max(rates):7.3f} {row.sent[label]:7.3f} {median / kernel[row.table]:9.2f} "
                  f"{median / passes:8.2f}")


def measure(small, full, options):
    cores = Cores.shared_out(options.workers)
    print("\nOver veth; " + ("the sender has a core of its own." if cores.apart else
                            "sender and router share all cores: figures say little."), flush=True)
    rows = []
    # What the harness says of a busy host is no figure.
    with tempfile.TemporaryDirectory() as name, contextlib.redirect_stdout(sys.stderr):
        folder = pathlib.Path(name)
        for table in (small, full):
            rows += kernel_rows(folder, cores, options, table)
        rows.append(millrace_row(folder, cores, options, small, PASS))
        for table in (small, full):
            rows.append(millrace_row(folder, cores, options, table, ROUTE))
    print_rows(rows, options.sizes)
