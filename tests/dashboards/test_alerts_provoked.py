# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Each alert fires on a real cause in a real topology, seen by a real Prometheus, and resolves
after it. The rules are those of alerts.yml with shorter waiting times (`for:`) and windows; those
of the real ones are promtool's, in virtual time (alerts_test.yml). What cannot be caused here is
named, with the reason, and printed."""

import contextlib
import os
import re
import shutil
import signal
import subprocess

import pytest
import yaml

import frames
import freezer
import processes
import scene
import servers
import topology
from processes import wait_until
from topology import Topology, millrace

pytestmark = pytest.mark.skipif(not shutil.which("prometheus"), reason="no prometheus: make deps")
RULES = servers.HERE / "prometheus/alerts.yml"
LIMIT_SECONDS = 180  # for each; ten times what the slowest takes: a window
NEEDS_FREEZER = {"MillraceQuarantine": "needs a process that SIGKILL does not end: the freezer of "
                                       "control groups of version 1, and root"}
NEVER = {"MillraceRouteOverruns": "256 MB of notifications that are not read: "
                                  "services/routes/kernel_events_test.cpp has a small socket"}
LATER = {"MillraceCrashLoop": "resolves when five minutes have passed: MILLRACE_ALERTS=1, "
                              "test_alerts.py"}
NEEDS_ROOT = {"MillracePortDown", "MillraceTransmitFull", "MillraceLosses", "MillraceBypassActive"}
OVERLOAD = {"MillraceBusy", "MillraceLinkFull", "MillracePoolLow", "MillraceLoadRefused"}

SLOW = """
heartbeat_limit: 60s
ports:
  in:  { device: generate, numbered: true, flows: 64, count: 0, rate_mpps: 0.01 }
  out: { device: "null" }
workers:
  front: { kind: classifier, count: 1, dispatch: any }
functions:
  look: { type: match, rules: all.rules, on: front }
paths:
  main: { from: in, to: out, run: [look] }
"""
STUCK = SLOW.replace("limit: 60s", "limit: 2s").replace("count: 1", "count: 2")
LOSSY = SLOW.replace("count: 0", "count: 20000")
# Each packet is for another host beside `out`, where there is none.
CROWD = """
heartbeat_limit: 60s
ports:
  in:  { device: generate, flows: 100000, count: 0, rate_mpps: 0.005, destinations: [10.0.0.0/8] }
  out: { device: "null", mac: "02:00:00:00:00:0b", addresses: [10.0.0.1/8] }
workers:
  front: { kind: classifier, count: 1, dispatch: any }
functions:
  hop: { type: route, table: crowd.routes, on: front }
paths:
  main: { from: in, to: out, run: [hop] }
"""
# No host answers, so each connection that begins takes another's place. Each has a mapping.
FLOOD = """
heartbeat_limit: 60s
ports:
  in:  { device: generate, flows: 100000, count: 0, rate_mpps: 0.005 }
  out: { device: "null" }
workers:
  front: { kind: classifier, count: 1, dispatch: flow }
functions:
  track: { type: flow, max: 512, on: front }
  edge:  { type: nat, inside: in, pool: 203.0.113.0/28, max: 600, on: front }
paths:
  main: { from: in, to: out, run: [track, edge] }
"""
# More connections with data than `inspect` has room for; their checksums are none.
STREAMS = """
heartbeat_limit: 60s
ports:
  in:  { device: replay, file: streams.pcap, rate_mpps: 0.005 }
  out: { device: "null" }
workers:
  front: { kind: classifier, count: 1, dispatch: flow }
functions:
  track: { type: flow, on: front }
  read:  { type: inspect, rules: all.rules, streams: 64, checksums: trust, on: front }
paths:
  main: { from: in, to: out, run: [track, read] }
"""
STREAM_COUNT = 400
WIRE = """
heartbeat_limit: 60s
bypass: {{ bridge: [a, b] }}
ports:
  in: {{ device: generate, numbered: true, flows: 64, count: 0, rate_mpps: 0.001 }}
  a:  {{ device: afpacket, interface: {a} }}
  b:  {{ device: afpacket, interface: {b} }}
functions:
  wall: {{ type: acl, rules: no-ping.rules }}
paths:
  load: {{ from: in, to: b, run: [wall] }}
  there: {{ from: a, to: b, run: [wall] }}
  back: {{ from: b, to: a, run: [wall] }}
"""


def alerts_of(path):
    return {rule["alert"] for group in yaml.safe_load(path.read_text(encoding="utf-8"))["groups"]
            for rule in group["rules"] if "alert" in rule}


def hasty(folder):
    """The rules as they are, but for how long a cause has to last, and how long it is remembered:
    long enough for a host that scrapes late."""
    path = folder / "alerts.yml"
    text = re.sub(r"for: \w+", "for: 1s", RULES.read_text(encoding="utf-8"))
    path.write_text(re.sub(r"\[(?:30s|1m)\]", "[15s]", text), encoding="utf-8")
    return path


class Watch:
    """What fires of which topology, and what has."""

    def __init__(self, prometheus):
        self.prometheus, self.fired, self.resolved = prometheus, set(), set()

    def firing(self, running):
        alerts = self.prometheus.ask("alerts")["alerts"]
        return {alert["labels"]["alertname"] for alert in alerts if alert["state"] == "firing"
                and alert["labels"].get("topology") == running.name}

    def fires(self, running, *names):
        """Each of them is seen, at its own time."""
        left = set(names)

        def seen():
            left.difference_update(self.firing(running))
            return not left
        wait_until(seen, LIMIT_SECONDS, lambda: f"{left} of {running.name} have fired")
        self.fired |= set(names)

    def without(self, running, *names):
        """None of them fires without a cause, once a stall of this host is past."""
        wait_until(lambda: not set(names) & self.firing(running), LIMIT_SECONDS,
                   lambda: f"without a cause: {set(names) & self.firing(running)}")

    def ends(self, running, *names):
        """As fires(), not to fire any more."""
        left = set(names)

        def gone():
            left.intersection_update(self.firing(running))
            return not left
        wait_until(gone, LIMIT_SECONDS, lambda: f"{left} of {running.name} have ended")
        self.resolved |= set(names)


@contextlib.contextmanager
def programs_of(folder):
    """`millrace` is that of another folder meanwhile, and so is what it starts."""
    before, topology.BIN = topology.BIN, folder
    try:
        yield
    finally:
        topology.BIN = before


def started(stack, folder, text, program=None, words=()):
    """A topology, with a program of the tests for its classifiers."""
    place = contextlib.nullcontext()
    if program:
        place = programs_of(topology.with_program(folder / program, program, "millrace-classifier"))
    running = Topology(folder, text, words=words)

    def leave(kind, *_):
        if kind is not None and os.path.exists(running.run_dir):
            running.tell()
        running.down(check=False)
        if os.path.exists(running.run_dir + ".bypass"):
            millrace("bypass", running.name, "off", check=False)
            os.unlink(running.run_dir + ".bypass")

    with place:
        running.__enter__()
    stack.push(leave)
    return running


def send(running, number, *names):
    for name in names:
        pid = (processes.telemetry_pid(running.run_dir) if name == "telemetry"
               else running.lives()[name][0])
        os.kill(pid, number)


class Cables:
    """Two of them, each with both its ends here: NAME, and NAMEx, which is the far one."""

    def __init__(self):
        number = os.getpid() % 100000
        self.a, self.b = f"mra{number}", f"mrb{number}"

    def __enter__(self):
        for name in (self.a, self.b):
            subprocess.run(["ip", "link", "add", name, "type", "veth", "peer", "name", name + "x"],
                           check=True)
            subprocess.run(["ip", "link", "set", name, "up"], check=True)
            self.set_far_end(name, "up")
        return self

    def __exit__(self, *_):
        for name in (self.a, self.b):
            subprocess.run(["ip", "link", "del", name], check=False)

    def set_far_end(self, name, state):
        subprocess.run(["ip", "link", "set", name + "x", state], check=True)


def parts_fail(watch, running, folder):
    """No process is started again here, until the test says so."""
    silent = {"MillraceFunctionOut", "MillraceReloadFailed", "MillraceConfigDiffers",
              "MillraceHubDown", "MillraceNoLeader"}
    watch.fires(running, "MillraceRulesRefused")
    watch.without(running, *silent)
    gpu = next(name for name in running.lives() if name.startswith("gpu."))
    running.kill("side.0", "front.1", gpu)
    watch.fires(running, "MillraceBypass")  # before `look` is out, and drops all that comes
    millrace("function", running.name, "look", "out")
    (folder / "scan.rules").unlink()
    assert millrace("reload", running.name, "scan", check=False).returncode != 0
    causes = ("MillraceWorkerDown", "MillraceGpuFallback", "MillraceFunctionOut",
              "MillraceReloadFailed", "MillraceConfigDiffers")
    watch.fires(running, *causes)
    (folder / "scan.rules").write_text('alert "|00 09|" name "0009"\n')
    millrace("scale", running.name, "side=1", "gpu=1", "front=2")
    millrace("function", running.name, "look", "in")
    millrace("reload", running.name, "scan")
    return ("MillraceRulesRefused", "MillraceBypass", *causes)


def hosts_crowd_in(watch, running):
    watch.fires(running, "MillraceNeighboursFull")
    millrace("drain", running.name)  # no packet comes any more
    return ["MillraceNeighboursFull"]


def nobody_answers(watch, running):
    """It ends with its topology: without packets no connection leaves a table."""
    names = ["MillraceFlowTableFull", "MillraceFlowFlood", "MillraceNatPoolFull"]
    watch.fires(running, *names)
    millrace("down", running.name)
    return names


def streams_find_no_room(watch, running):
    watch.fires(running, "MillraceStreamsFull")
    millrace("down", running.name)
    return ["MillraceStreamsFull"]


def nobody_listens(watch, running):
    """Each packet is told of; the process that takes it stands still until rings are full."""
    watch.without(running, "MillraceEventsLost")
    send(running, signal.SIGSTOP, "events")
    watch.fires(running, "MillraceEventsLost")
    send(running, signal.SIGCONT, "events")
    return ["MillraceEventsLost"]


def processes_hang(watch, running):
    """The standby too: none takes over from the hub, and kills what hangs, until it goes on."""
    send(running, signal.SIGSTOP, "standby")
    send(running, signal.SIGKILL, "hub")
    watch.fires(running, "MillraceNoLeader")
    send(running, signal.SIGSTOP, "front.0")
    watch.fires(running, "MillraceHole", "MillraceStreamStalled")
    send(running, signal.SIGCONT, "front.0", "standby")
    watch.fires(running, "MillraceHubDown")
    send(running, signal.SIGSTOP, "telemetry")
    watch.fires(running, "MillraceTelemetryDown")
    send(running, signal.SIGCONT, "telemetry")
    return "MillraceNoLeader", "MillraceHole", "MillraceStreamStalled", "MillraceTelemetryDown"


def a_build_is_slow(watch, running, folder):
    """10 ms for a batch are too long for the load, until a better build is started."""
    watch.fires(running, *OVERLOAD)
    for _ in range(3):
        running.kill("front.0")
        running.wait_alive("front.0", seconds=150)
    watch.fires(running, "MillraceCrashLoop")
    shutil.copy(topology.BIN / "millrace-classifier", folder / "better")
    os.replace(folder / "better", folder / "slow-classifier/millrace-classifier")
    running.kill("front.0")
    return OVERLOAD


def a_cable_is_cut(watch, running, cables):
    watch.without(running, "MillracePortDown", "MillraceBypassActive")
    cables.set_far_end(cables.b, "down")
    cut = NEEDS_ROOT - {"MillraceBypassActive"}
    watch.fires(running, *cut)
    cables.set_far_end(cables.b, "up")
    return cut


def a_process_cannot_be_killed(watch, running):
    """The other worker goes on; what the frozen one holds comes back with a new start."""
    with freezer.Frozen(running.lives()["front.0"][0]):
        watch.fires(running, "MillraceQuarantine")
        running.wait_received(running.audit()["received"] + 1000)
        assert running.audit()["unaccounted"] == 0
    millrace("down", running.name)
    return ["MillraceQuarantine"]


def the_bypass_takes_over(watch, running):
    millrace("down", running.name)
    watch.fires(running, "MillraceBypassActive")
    watch.ends(running, "MillraceTelemetryDown")  # it was told why; `for: 1s` is too hasty for that
    running.__enter__()
    watch.ends(running, "MillraceBypassActive")


def tell_coverage(watch):
    """Prints what was not seen, and why."""
    away = {} if freezer.is_there() else dict(NEEDS_FREEZER)
    if os.geteuid() != 0:
        away |= {name: "makes interfaces: needs root" for name in NEEDS_ROOT}
    away |= NEVER
    for name, why in {**away, **LATER}.items():
        print(f"not seen here: {name}: {why}")
    every = alerts_of(RULES)
    print(f"{len(watch.fired)} of {len(every)} alerts fired on real causes, "
          f"{len(watch.resolved)} of them resolved after")
    assert watch.fired == every - set(away)
    assert watch.resolved == every - set(away) - set(LATER)


def provoke_all(folder, stack):
    root = os.geteuid() == 0
    (folder / "all.rules").write_text('alert "x" name "any x"\n')
    (folder / "crowd.routes").write_text("192.0.2.0/24 drop\n")
    (folder / "no-ping.rules").write_text("drop icmp any -> any\n")
    parts = started(stack, folder, scene.text(folder, rate_mpps=0.005),
                    words=("--restarts", "0"))
    slow = started(stack, folder, SLOW, program="slow-classifier")
    lossy = started(stack, folder, LOSSY, program="lossy-classifier")
    crowd = started(stack, folder, CROWD)
    flood = started(stack, folder, FLOOD)
    frames.write_capture(folder / "streams.pcap",
                         [frames.frame((6, 0x0A000001 + number, 4000, 0xC0000201, 80), 1, b"text")
                          for number in range(STREAM_COUNT)])
    streams = started(stack, folder, STREAMS)
    every = [parts, slow, lossy, crowd, flood, streams]
    if root:
        cables = stack.enter_context(Cables())
        wire = started(stack, folder, WIRE.format(a=cables.a, b=cables.b))
        every.append(wire)
    if freezer.is_there():
        stuck = started(stack, folder, STUCK)
        every.append(stuck)
    patterns = [pattern for one in every for pattern in scene.of_topology(one.run_dir)]
    watch = Watch(stack.enter_context(servers.Prometheus(
        folder / "prometheus", patterns=patterns, rules=hasty(folder))))
    for one in every:
        wait_until(lambda one=one: scene.scraped(watch.prometheus, one.name), LIMIT_SECONDS,
                   "scraped")
    watch.fires(lossy, "MillraceUnaccounted")
    millrace("down", lossy.name)  # as a new start: nothing else ends it
    ends = [(lossy, ("MillraceUnaccounted",)), (crowd, hosts_crowd_in(watch, crowd)),
            (flood, nobody_answers(watch, flood)),
            (streams, streams_find_no_room(watch, streams)), (parts, nobody_listens(watch, parts)),
            (slow, a_build_is_slow(watch, slow, folder))]
    if root:
        ends.append((wire, a_cable_is_cut(watch, wire, cables)))
    ends.append((parts, parts_fail(watch, parts, folder)))
    ends.append((parts, processes_hang(watch, parts)))
    if freezer.is_there():
        ends.append((stuck, a_process_cannot_be_killed(watch, stuck)))
    for running, names in ends:
        watch.ends(running, *names)
    if root:
        the_bypass_takes_over(watch, wire)
    millrace("down", parts.name)
    watch.ends(parts, "MillraceHubDown")
    tell_coverage(watch)


def test_each_alert_fires_on_its_cause_and_resolves_after_it(tmp_path):
    with contextlib.ExitStack() as stack:
        provoke_all(tmp_path, stack)
