# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Metrics of running topologies: right, monotone whatever dies, and no burden."""

import contextlib
import http.client
import json
import os
import pathlib
import signal
import socket
import threading

import metrics
from processes import PATIENCE, telemetry_pid, wait_until
from topology import Topology

FRONT = "count: 2, max: 3, dispatch: any"


def inspected(folder, count, rate_mpps=0.0):
    """Some packets are dropped by a rule, all are seen by a second function on a device."""
    (folder / "look.rules").write_text('alert "x" name "any x"\n')
    (folder / "some.rules").write_text("drop udp any -> 10.0.0.0/9\n")
    return f"""
ports:
  in:  {{ device: generate, numbered: true, flows: 64, count: {count}, rate_mpps: {rate_mpps} }}
  out: {{ device: "null" }}
workers:
  front: {{ kind: classifier, {FRONT} }}
  deep:  {{ kind: gpu, device: software }}
functions:
  some: {{ type: acl, rules: some.rules, on: front }}
  look: {{ type: match, rules: look.rules, on: deep }}
paths:
  main: {{ from: in, to: out, run: [some, look] }}
"""


def monotone(sample):
    name = sample[0]  # those of the HTTP server begin anew with it
    return name.startswith("millrace_") and name.endswith(
        ("_total", "_bucket", "_count", "_seconds_sum"))


def answer_of(topology):
    """A scrape; nothing while there is no answer."""
    with contextlib.suppress(OSError, http.client.HTTPException):
        return metrics.scrape(metrics.address_in(topology.run_dir))
    return None


def lives_of_actors(topology):
    return {name: life for name, life in topology.lives().items() if name != "telemetry"}


class Scraper:
    """Scrapes again and again, and keeps every counter that went back."""

    def __init__(self, topology):
        self.topology, self.last, self.back, self.scrapes = topology, {}, [], 0
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        while not self.ending.wait(0.05):
            found = answer_of(self.topology)  # telemetry is killed as well
            if found:
                self.look(found)

    def look(self, found):
        self.scrapes += 1
        for name, labels, value in filter(monotone, found.samples):
            key = (name, tuple(sorted(labels.items())))
            if value < self.last.get(key, 0):
                self.back.append((key, self.last[key], value))
            self.last[key] = value

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ending.set()
        self.thread.join()


def test_metrics_say_what_the_audit_says(tmp_path):
    count = 60000
    with Topology(tmp_path, inspected(tmp_path, count)) as topology:
        audit = topology.settle(received=count)
        found = topology.metrics()
        assert found.total("millrace_port_received_packets_total") == audit["received"] == count
        assert found.total("millrace_port_transmitted_packets_total") == audit["transmitted"]
        drops = {reason: number for reason, number in
                 found.by("reason", "millrace_drops_total").items() if number}
        assert drops == audit["dropped"] and 0 < drops["rule"] < count
        assert found.total("millrace_drops_total", cause="loss") == 0
        check_who_dropped(found, drops["rule"])
        assert found.total("millrace_unaccounted_packets_total") == audit["unaccounted"] == 0
        assert found.by("verdict", "millrace_path_packets_total") == {
            "transmitted": audit["transmitted"], "dropped": drops["rule"]}
        verdicts = found.by("verdict", "millrace_function_packets_total", function="some")
        assert verdicts == {"pass": count - drops["rule"], "drop": drops["rule"]}
        assert found.total("millrace_function_packets_total",
                           function="look") == count - drops["rule"]
        check_steps(found)
        check_pools(found, audit)


def check_who_dropped(found, count):
    """What function and group, and what was left of the packets behind each actor."""
    of = {"reason": "rule", "path": "main"}
    assert found.values("millrace_function_drops_total", function="some", group="front",
                        **of) == [count]
    assert found.total("millrace_function_drops_total") == count
    assert found.by("by", "millrace_drops_total", **of) == {"function": count}
    packets = found.by("direction", "millrace_packets_total", group="front")
    assert packets["in"] - packets["out"] == count
    assert found.total("millrace_packets_total", group="egress", direction="out") == found.total(
        "millrace_port_transmitted_packets_total")
    assert found.total("millrace_port_transmitted_bytes_total", port="out") > 0
    assert not found.total("millrace_port_transmitted_bytes_total", port="in")


def check_steps(found):
    """Each batch has taken each step of its way once."""
    batches = found.total("millrace_released_batches_total")
    steps = found.by("stage", "millrace_stage_latency_seconds_count")
    assert steps == {"ingress": batches, "some": batches, "look": batches, "egress": batches}
    assert found.total("millrace_latency_seconds_count") == found.total(
        "millrace_port_received_packets_total")
    assert (found.total("millrace_completions_total") +
            found.total("millrace_stand_in_batches_total")) == batches
    assert found.values("millrace_gpu_info", backend="software") == [1]
    assert found.total("millrace_gpu_handover_seconds_count") >= found.total(
        "millrace_completions_total")
    assert found.total("millrace_gpu_bytes_total") > 0
    timed = found.total("millrace_function_timed_packets_total", function="some")
    assert 0 < timed < found.total("millrace_function_packets_total", function="some")
    assert found.values("millrace_function_timed_seconds_total", function="some")[0] > 0


def check_pools(found, audit):
    assert audit["quiet"]
    assert found.total("millrace_pool_slots_free") == found.total("millrace_pool_slots") > 0
    assert found.total("millrace_pool_buffers_free") == found.total("millrace_pool_buffers") > 0
    assert found.total("millrace_link_depth_batches") == 0
    assert set(found.values("millrace_oldest_hole_seconds")) == {0}
    assert found.by("state", "millrace_function_rules", function="some") == {
        "loaded": 1, "refused": 0}
    assert not found.values("millrace_port_up")  # no port here has a link


def wait_high_water(topology):
    """Of the last ten seconds, so only under load."""
    def shown():
        found = topology.metrics()
        return all(max(found.values(f"millrace_{of}_high_water_10s_{unit}")) > 0 for of, unit in (
            ("link", "batches"), ("latency", "seconds"), ("rate", "packets_per_second")))
    wait_until(shown, PATIENCE, "high water marks")


def test_counters_never_run_backwards_whoever_is_killed(tmp_path):
    with Topology(tmp_path, inspected(tmp_path, 0, 0.05)) as topology:
        topology.endless = True
        topology.wait_received(10000)
        wait_high_water(topology)
        with Scraper(topology) as scraper:
            for name, next_life in (("front.0",) * 2, ("ingress.in.0",) * 2, ("egress.0",) * 2,
                                    ("standby",) * 2, ("deep.0.a", "deep.0.b")):
                topology.kill(name)
                topology.wait_alive(next_life)
                before = topology.audit()["received"]
                topology.wait_received(before + 2000)
            os.kill(telemetry_pid(topology.run_dir), signal.SIGKILL)
            seen = scraper.scrapes
            wait_until(lambda: scraper.scrapes > seen + 3, PATIENCE, "telemetry is back")
        assert not scraper.back
        found = topology.metrics()
        for group, worker in (("front", "0"), ("ingress", "0"), ("egress", "0"), ("standby", "0"),
                              ("deep", "0")):
            causes = {cause: found.total("millrace_restarts_total", group=group, worker=worker,
                                         cause=cause) for cause in ("crash", "hang", "asked")}
            assert causes == {"crash": 1, "hang": 0, "asked": 0}, group


def test_slow_scrapers_and_a_stopped_telemetry_hold_up_nobody(tmp_path):
    with Topology(tmp_path, inspected(tmp_path, 0, 0.05)) as topology:
        topology.endless = True
        topology.wait_received(1000)
        lives = lives_of_actors(topology)
        wait_until(lambda: answer_of(topology), PATIENCE, "telemetry answers")
        host, port = metrics.address_of(topology.run_dir).rsplit(":", 1)
        with contextlib.ExitStack() as stack:
            for _ in range(8):  # they ask and never read
                slow = stack.enter_context(socket.create_connection((host, int(port)), 10))
                slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                slow.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
            before = topology.audit()["received"]
            topology.wait_received(before + 5000)
        os.kill(telemetry_pid(topology.run_dir), signal.SIGSTOP)
        before = topology.audit()["received"]
        topology.wait_received(before + 5000)
        os.kill(telemetry_pid(topology.run_dir), signal.SIGKILL)
        before = topology.audit()["received"]
        topology.wait_received(before + 5000)
        assert lives_of_actors(topology) == lives
        found = wait_until(lambda: answer_of(topology), PATIENCE, "telemetry is back")
        assert found.total("millrace_unaccounted_packets_total") == 0
        announced = json.loads(pathlib.Path(topology.run_dir + ".telemetry.json").read_text())
        assert announced[0]["targets"] == [f"{host}:{port}"]
