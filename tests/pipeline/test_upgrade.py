# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""The processes of a running topology become those of another build: nothing is lost."""

import os
import re
import shutil
import subprocess

import pytest
import topology
from flows import Stream
from processes import PATIENCE, processes_of, wait_until
from test_changes import assert_flows_in_order, fused, scanned, with_state, witnessed
from topology import Topology, ask, millrace
from wire import Wire


def another_build(folder, **scripts):
    """A copy of this build's executables; scripts in the place of some, by `part="script"`, where
    REAL is the real one."""
    topology.copy_programs(folder)
    for part, script in scripts.items():
        program = folder / f"millrace-{part}"
        real = f"'{topology.BIN}/{program.name}'"
        program.write_text("#!/bin/sh\n" + script.replace("REAL", real))
    return folder


def folders(running):
    """Where the executables of its processes lie, without the supervisor's."""
    return {os.path.dirname(path) for path in processes_of(running.run_dir).values()
            if os.path.basename(path) != "millrace"}


def assert_goes_on(running):
    received = running.audit()["received"]
    running.wait_received(received + 2000)
    audit = running.audit()
    assert audit["unaccounted"] == 0 and audit["dropped"] == {} and not audit["problems"]


def test_every_process_is_replaced_and_nothing_is_lost(tmp_path):
    new = another_build(tmp_path / "new")
    text = with_state(tmp_path, workers="count: 1, max: 2")
    with Topology(tmp_path, text) as running:
        running.wait_received(2000)
        before, supervisor = running.lives(), running.supervisor()
        pids = set(processes_of(running.run_dir))
        done = ask("upgrade", running.name, "--from", new)
        print("\n".join(done["done"]))
        assert_goes_on(running)
        after = running.lives()
        assert after.keys() == before.keys()
        assert not pids - {supervisor} & set(processes_of(running.run_dir))
        assert folders(running) == {str(new)}
        assert all(life[2] == 0 for life in after.values()), "none was restarted: none failed"
        for actor in ("front.0", "ingress.in.0", "egress.0", "standby"):
            found = running.metrics().by("cause", "millrace_restarts_total", actor=actor)
            assert found["crash"] == found["hang"] == 0 < found["asked"], (actor, found)
        assert done["generation"] == 2
        assert ask("history", running.name)["generations"][-1]["what"] == f"upgrade {new}"
        assert running.status()["phase"] == "running" and running.audit()["by"] == "hub"
        refused = millrace("rollback", running.name, check=False)
        assert "there is no generation before 2" in refused.stderr, "the plan is that of the start"
        running.scale("front", 3)
        assert "front.2" in running.lives() and folders(running) == {str(new)}
        back = millrace("rollback", running.name, "1")
        assert f"generation 2 (upgrade {new}) stays" in back.stderr
        assert "front.2" not in running.lives() and folders(running) == {str(new)}
        packets, inversions = witnessed(running)
        assert packets > 0 and inversions == 0
        audit = running.drain()
        assert audit["transmitted"] == audit["received"]
    assert_flows_in_order(tmp_path / "out.pcap", audit["received"])


def restamp(program):
    """Gives an executable another build id; what it was and is, as metrics tell it."""
    image = bytearray(program.read_bytes())
    at = image.index(b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0") + 16
    before = image[at:at + 8].hex()
    image[at] ^= 0xff
    program.write_bytes(image)
    return before, image[at:at + 8].hex()


def test_metrics_tell_which_build_plays_whom(tmp_path):
    new = another_build(tmp_path / "new")
    before, after = restamp(new / "millrace-classifier")

    def builds(actor):
        found = running.metrics().by("build", "millrace_worker_info", actor=actor)
        return [build for build in found if build != "none"]

    text = with_state(tmp_path, workers="count: 1, max: 2")
    with Topology(tmp_path, text) as running:
        assert builds("front.0") == builds("deep.0") == [before]
        others = {actor: builds(actor) for actor in ("hub", "ingress.in.0", "egress.0")}
        assert all(len(build) == 1 and build != [before] for build in others.values())
        ask("upgrade", running.name, "--from", new)
        assert builds("front.0") == builds("deep.0") == [after]
        assert {actor: builds(actor) for actor in others} == others
        running.drain()


@pytest.mark.parametrize("placement", ["split", "fused"])
def test_order_and_every_packet_of_a_numbered_source(tmp_path, placement):
    new = another_build(tmp_path / "new")
    text = scanned(tmp_path, on="front")
    if placement == "fused":
        text = fused(text)
    with Topology(tmp_path, text) as running:
        running.wait_received(1000)
        ask("upgrade", running.name, "--from", new)
        assert folders(running) == {str(new)}
        running.wait_received(running.audit()["received"] + 1000)
        audit = running.drain()
        assert audit["transmitted"] == audit["received"]
    assert_flows_in_order(tmp_path / "out.pcap", audit["received"])


def test_another_layout_is_refused_before_anything_changes(tmp_path):
    new = another_build(tmp_path / "new", classifier=(
        'REAL "$@" | sed -E "s/status ([0-9]+) [0-9]+/status \\1 4711/"\n'))
    with Topology(tmp_path, scanned(tmp_path)) as running:
        lives = running.lives()
        refused = millrace("upgrade", running.name, "--from", new, check=False)
        assert refused.returncode == 1
        assert f"{new}/millrace-classifier has another memory layout" in refused.stderr
        assert "layout 4711" in refused.stderr
        assert f"{new}/millrace apply FILE --restart" in refused.stderr
        os.remove(new / "millrace-telemetry")
        shutil.copy(topology.BIN / "millrace-classifier", new / "millrace-classifier")
        refused = millrace("upgrade", running.name, "--from", new, check=False)
        assert refused.returncode == 1 and "no executable" in refused.stderr
        assert running.lives() == lives and running.status()["generation"] == 1
        assert_goes_on(running)
        running.drain()


@pytest.mark.parametrize("part, who", [("classifier", "front.0"), ("hub", "hub")])
def test_a_build_that_does_not_start_replaces_nothing(tmp_path, part, who):
    new = another_build(tmp_path / "new", **{part: (
        'for word in "$@"; do [ "$word" = --layout ] && exec REAL "$@"; done\n'
        f'[ {part} = hub ] && [ "$4" != 0 ] && exec REAL "$@"\n'
        "echo no such luck >&2; exit 3\n")})
    with Topology(tmp_path, scanned(tmp_path)) as running:
        lives = running.lives()
        refused = millrace("upgrade", running.name, "--from", new, check=False)
        assert refused.returncode == 1, refused.stdout
        assert re.search(f"{who} of {new} ended at its start\n.*no such luck", refused.stderr, re.S)
        assert running.lives()[who] == lives[who]
        wait_until(lambda: running.lives().keys() == lives.keys(), PATIENCE, "all are there again")
        assert running.status()["generation"] == 1
        assert_goes_on(running)
        if part == "classifier":  # the first of all
            assert folders(running) == {str(topology.BIN)}
        # A process that dies comes back of the build that runs.
        running.kill(who if who != "hub" else "standby")
        running.wait_alive(who if who != "hub" else "standby")
        running.drain()


def test_who_supervised_dies_in_the_middle_and_the_next_one_ends_it(tmp_path):
    waits = tmp_path / "waits"
    # A hub or standby of the new build does not come before the supervisor has died.
    new = another_build(tmp_path / "new", hub=(
        'for word in "$@"; do [ "$word" = --layout ] && exec REAL "$@"; done\n'
        f": > {waits}\nwhile kill -0 $PPID 2>/dev/null; do sleep 0.05; done\n"))
    with Topology(tmp_path, scanned(tmp_path, on="front")) as running:
        words = [topology.BIN / "millrace", "upgrade", running.name, "--from", new]
        asker = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(waits.exists, PATIENCE, "those before it are of the new build")
        running.kill_supervisor()
        assert asker.wait(timeout=PATIENCE) != 0, "it was not told that it is done"
        both = {str(new), str(topology.BIN)}
        wait_until(lambda: folders(running) == both, PATIENCE, "the one that waited has ended")
        (new / "millrace-hub").unlink()
        shutil.copy(topology.BIN / "millrace-hub", new)
        millrace("adopt", running.name, "--detach")
        assert_goes_on(running)
        ask("upgrade", running.name, "--from", new)
        assert folders(running) == {str(new)}
        assert_goes_on(running)
        running.drain()


@pytest.mark.parametrize("device", ["afpacket", "tap"])
def test_connections_over_interfaces_survive(tmp_path, device):
    """What comes to an interface while it is not read is lost to the kernel; nothing else is."""
    (tmp_path / "all.rules").write_text('alert "never to be seen"\n')
    new = another_build(tmp_path / "new")
    with Wire(device=device) as wire:
        text = f"""
ports:
  a: {{ device: {device}, interface: {wire.port_a} }}
  b: {{ device: {device}, interface: {wire.port_b} }}
workers:
  front: {{ kind: classifier, count: 1, max: 2, dispatch: any }}
functions:
  look: {{ type: match, rules: all.rules, on: front }}
paths:
  main: {{ from: [a, b], run: [look] }}
"""
        with wire.between(tmp_path, text) as running:
            wire.a.wait_for(wire.b.ip)
            with Stream(wire, tmp_path) as stream:
                done = ask("upgrade", running.name, "--from", new)
                stream.goes_on()
                stream.end()
            print("\n".join(done["done"]))
            assert folders(running) == {str(new)}
            assert running.settle()["dropped"] == {}
            running.kill("front.0")  # what dies from now on comes back of the new build
            running.wait_alive("front.0")
            assert folders(running) == {str(new)}
