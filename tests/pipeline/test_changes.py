# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""What a user changes of a running topology: nothing is lost, order stays, the audit is exact."""

import os
import pathlib
import random
import re

import frames
import pytest
from processes import PATIENCE, wait_until
from topology import Topology, ask, millrace

# Of these two, no packet is dropped; one whose result is read by the other's rules may be.
FIRST = 'alert "MILLRACE"\n'
SECOND = 'drop "NEVER SEEN"\nalert "MILLRACE"\n'
ALL_DROPPED = 'drop "MILLRACE"\n'


def scanned(folder, count=0, on="gpu", rate_mpps=0.01):
    """Numbered packets through a match, which a GPU of its own mind computes or classifiers do; 0:
    without an end."""
    (folder / "scan.rules").write_text(FIRST)
    return f"""
ports:
  in:  {{ device: generate, numbered: true, flows: 64, count: {count}, rate_mpps: {rate_mpps} }}
  out: {{ device: pcap, out: {folder}/out.pcap }}
workers:
  front: {{ kind: classifier, count: 2, max: 4, dispatch: any }}
  gpu:   {{ kind: gpu, device: software, seed: 5, delay_us: 300, reorder: true, late: 20 }}
functions:
  scan: {{ type: match, rules: scan.rules, on: {on} }}
paths:
  main: {{ from: in, to: out, run: [scan] }}
"""


def with_more(folder, text, run="[mark, look, scan]"):
    """And three functions in front of it: what the first marks, the second looks at."""
    (folder / "mark.rules").write_text('class marked "MILLRACE"\n')
    (folder / "wall.rules").write_text("drop tcp any -> 192.0.2.77/32 port 1\n")
    on = re.search("scan: .* on: ([^}]*) }", text)[1]
    return text.replace("functions:", f"""\
functions:
  mark: {{ type: match, rules: mark.rules, classes: [marked], on: {on} }}
  look: {{ type: match, rules: scan.rules, when: class marked, on: {on} }}
  wall: {{ type: acl, rules: wall.rules, on: {on} }}""").replace("run: [scan", f"run: {run[:-1]}")


def fused(text):
    return "placement: fused\n" + re.sub("  gpu: .*\n", "", text)


def images(topology):
    return sorted(pathlib.Path("/dev/shm").glob(f"millrace-{topology.name}.*.image"))


@pytest.mark.parametrize("on", ["gpu", "front", "fused"])
def test_rules_are_reloaded_and_every_packet_meets_one_edition_of_them(tmp_path, on):
    text = scanned(tmp_path, on="front" if on == "fused" else on)
    if on == "fused":
        text = fused(text)
    with Topology(tmp_path, text) as running:
        lives = running.lives()
        for number in range(8):
            (tmp_path / "scan.rules").write_text(SECOND if number % 2 == 0 else FIRST)
            done = ask("reload", running.name, "scan")["done"]
            assert done == [f"table of scan: {2 - number % 2} entries, 0 refused"]
            running.wait_received(running.audit()["received"] + 1000)
        audit = running.drain()
        assert audit["dropped"] == {}, "a result was read by the rules of another table"
        assert running.lives() == lives
        assert len(images(running)) == 1, "old tables are gone"
    assert frames.numbers_in(tmp_path / "out.pcap") == list(range(audit["received"]))


def test_a_reload_that_changes_nothing_is_no_new_table(tmp_path):
    with Topology(tmp_path, scanned(tmp_path)) as running:
        def generation():
            return running.metrics().total("millrace_function_table_generation", function="scan")
        before = generation()
        ask("reload", running.name, "scan")
        assert generation() == before
        (tmp_path / "scan.rules").write_text(SECOND)
        ask("reload", running.name, "scan")
        wait_until(lambda: generation() == before + 1, PATIENCE, "another table")
        running.drain()


def test_after_a_reload_the_new_rules_count(tmp_path):
    with Topology(tmp_path, scanned(tmp_path)) as running:
        (tmp_path / "scan.rules").write_text(ALL_DROPPED)
        ask("reload", running.name)
        received = running.audit()["received"]
        running.kill("egress.0", "gpu.0.a")  # successors know the new table only
        running.wait_alive("egress.0", "gpu.0.b")
        running.wait_received(running.audit()["received"] + 2000)
        audit = running.drain()
        kept = frames.numbers_in(tmp_path / "out.pcap")
        assert audit["dropped"]["rule"] >= audit["received"] - received - 1
        assert kept == sorted(set(kept)), "in order"


@pytest.mark.parametrize("text, words", [
    (None, "scan.rules"), ('nonsense "x"\n' + FIRST, r"scan.rules:1: .*nonsense")])
def test_a_bad_table_changes_nothing_and_says_why(tmp_path, text, words):
    with Topology(tmp_path, scanned(tmp_path)) as running:
        rules = tmp_path / "scan.rules"
        if text is None:
            rules.unlink()
        else:
            rules.write_text(text)
        refused = millrace("reload", running.name, "scan", check=False)
        assert refused.returncode == 1 and re.search(words, refused.stderr), refused.stderr
        rules.write_text(FIRST)
        assert len(images(running)) == 1
        ask("reload", running.name, "scan")
        running.wait_received(1000)
        audit = running.drain()
        assert audit["transmitted"] == audit["received"]


def test_what_has_no_table_cannot_be_reloaded(tmp_path):
    with Topology(tmp_path, scanned(tmp_path, 1000)) as running:
        refused = millrace("reload", running.name, "scam", check=False)
        assert refused.returncode == 1 and "did you mean 'scan'?" in refused.stderr


def with_state(folder, count=0, workers="count: 1, max: 4"):
    """As scanned(), and behind the GPU a function with state, whose lanes have one writer each."""
    return scanned(folder, count).replace("functions:", f"""\
  deep:  {{ kind: classifier, {workers}, dispatch: flow }}
functions:
  witness: {{ type: record, on: deep }}""").replace(
        "run: [scan]", "run: [scan, witness], lanes: 8")


def witnessed(running):
    """(packets, inversions) of the recorder."""
    return [running.metrics().total("millrace_function_number_hits_total", function="witness",
                                    number=number) for number in ("0", "1")]


def assert_flows_in_order(capture, count):
    numbers = frames.numbers_in(capture)
    assert sorted(numbers) == list(range(count)), "each once"
    last = {}
    for data, number in zip(frames.read_capture(capture), numbers):
        assert last.get(frames.flow_key(data), -1) < number, "packets of a flow overtook each other"
        last[frames.flow_key(data)] = number


def test_groups_with_state_scale_lane_by_lane_several_at_once(tmp_path):
    with Topology(tmp_path, with_state(tmp_path)) as running:
        for deep, front in ((3, 4), (1, 1), (4, 2), (2, 3)):
            done = ask("scale", running.name, f"deep={deep}", f"front={front}")["done"]
            assert len(done) == 2 and done[0].endswith(f"-> {deep} workers"), done
            alive = [actor["name"] for actor in running.status()["actors"]
                     if actor["state"] == "alive"]
            assert sum(name.startswith("deep.") for name in alive) == deep
            assert sum(name.startswith("front.") for name in alive) == front
            running.wait_received(running.audit()["received"] + 5000)
        audit = running.drain()
        count = audit["received"]
        assert audit["transmitted"] == count
        assert witnessed(running) == [count, 0]
        done = running.metrics().by("worker", "millrace_batches_total", group="deep")
        assert min(done.values()) > 0, "each had lanes for a while"
        discarded = running.metrics().total("millrace_recovery_lane_states_discarded_total")
        assert discarded == 0 and running.lives()["deep.0"][2] == 0
    assert_flows_in_order(tmp_path / "out.pcap", count)


def test_one_group_that_cannot_scale_keeps_all_as_they_are(tmp_path):
    with Topology(tmp_path, with_state(tmp_path, 1000)) as running:
        refused = millrace("scale", running.name, "front=1", "deep=5", check=False)
        assert refused.returncode == 1 and "can have 1 to 4 workers" in refused.stderr
        assert "front.1" in running.lives()


def rewrite(running, text):
    """The topology's file says something else from now on."""
    running.write(text)


def test_apply_changes_what_differs_and_history_leads_back(tmp_path):
    text = scanned(tmp_path)
    with Topology(tmp_path, text) as running:
        first = running.status()
        assert first["generation"] == 1 and not first["differs"]
        (tmp_path / "more.rules").write_text(ALL_DROPPED)
        rewrite(running, text.replace("scan.rules", "more.rules").replace("count: 2,", "count: 3,"))
        changes = ask("plan", running.file, "--diff")["changes"]
        assert [line.split(":")[0] for line in changes] == ["function scan", "group front"]
        done = ask("apply", running.file)
        assert done["generation"] == 2 and "front: 2 -> 3 workers" in done["done"]
        assert ask("plan", running.file, "--diff")["changes"] == []
        status = running.status()
        assert status["generation"] == 2 and status["hash"] != first["hash"]
        assert "front.2" in running.lives()
        before = running.audit()["received"]
        running.wait_received(before + 2000)
        (tmp_path / "scan.rules").write_text(ALL_DROPPED)  # of then, not of now, is what counts
        assert ask("rollback", running.name, 1)["generation"] == 3
        assert "front.2" not in running.lives()
        at = running.audit()
        running.wait_received(at["received"] + 5000)
        dropped = running.drain()["dropped"]["rule"]
        assert 2000 <= dropped <= at["received"], "only while more.rules counted"
        generations = ask("history", running.name)["generations"]
        assert [one["generation"] for one in generations] == [1, 2, 3]
        assert generations[2]["what"] == "rollback 1"
        metrics = running.metrics()
        assert metrics.total("millrace_config_generation") == 3
        assert metrics.total("millrace_reloads_total", result="done") == 2


def test_an_unconfirmed_change_takes_itself_back(tmp_path):
    text = scanned(tmp_path)
    with Topology(tmp_path, text) as running:
        running.wait_received(1000)
        rewrite(running, text.replace("count: 2,", "count: 3,"))
        ask("apply", running.file, "--confirm", 600)
        assert 0 < running.status()["confirm_seconds"] <= 601 and "front.2" in running.lives()
        refused = millrace("scale", running.name, "front=1", check=False)
        assert refused.returncode == 1 and "waits to be confirmed" in refused.stderr
        ask("confirm", running.name)
        status = running.status()
        assert status["generation"] == 2 and status["confirm_seconds"] == 0
        assert "front.2" in running.lives() and not status["differs"]
        rewrite(running, text)
        ask("apply", running.file, "--confirm", 2)
        wait_until(lambda: running.status()["generation"] == 4, PATIENCE, "taken back")
        assert "front.2" in running.lives()
        wait_until(lambda: running.status()["differs"], PATIENCE, "the file says something else")
        wait_until(lambda: running.metrics().total("millrace_config_differs") == 1, PATIENCE,
                   "that it is told")
        audit = running.drain()
        assert audit["transmitted"] == audit["received"]


def test_what_cannot_change_while_it_runs_is_named_and_needs_a_restart(tmp_path):
    text = scanned(tmp_path)
    with Topology(tmp_path, text) as running:
        running.endless = True
        lives = running.lives()
        rewrite(running, text.replace("max: 4", "max: 5").replace("scan.rules", "none.rules"))
        refused = millrace("apply", running.file, check=False)
        assert refused.returncode == 1 and "none.rules" in refused.stderr
        rewrite(running, text.replace("max: 4", "max: 5"))
        refused = millrace("apply", running.file, check=False)
        assert refused.returncode == 1 and "needs --restart" in refused.stderr
        assert "group front: max 4 -> 5" in refused.stderr
        assert running.lives() == lives
        done = ask("apply", running.file, "--restart")["done"]
        assert re.match(r"restarted: no traffic for at most [\d.]+ s", done[-1])
        assert not set(lives.values()) & set(running.lives().values())
        running.scale("front", 5)


def test_what_is_restarted_cannot_wait_to_be_confirmed(tmp_path):
    text = scanned(tmp_path, 1000)
    with Topology(tmp_path, text) as running:
        lives = running.lives()
        rewrite(running, text.replace("max: 4", "max: 5"))
        words = ("apply", running.file, "--restart", "--confirm", "9")
        refused = millrace(*words, check=False)
        assert refused.returncode == 1 and "--confirm: a restart cannot" in refused.stderr
        assert running.lives() == lives and running.status()["generation"] == 1
        rewrite(running, text.replace("count: 2,", "count: 3,"))  # needs none
        assert ask(*words)["generation"] == 2
        ask("confirm", running.name)


def test_another_stand_in_of_a_gpu_is_a_difference(tmp_path):
    text = scanned(tmp_path, 1000, on="[gpu, deep]").replace("  gpu: ", """\
  deep:  { kind: classifier }
  slow:  { kind: classifier }
  gpu: """)
    with Topology(tmp_path, text) as running:
        assert ask("plan", running.file, "--diff")["restart"] == []
        rewrite(running, text.replace("[gpu, deep]", "[gpu, slow]"))
        found = ask("plan", running.file, "--diff")["restart"]
        assert "group gpu: the group beside it (on)" in found


def test_after_a_rollback_a_reload_reads_what_people_write(tmp_path):
    rules = tmp_path / "scan.rules"
    with Topology(tmp_path, scanned(tmp_path)) as running:
        rules.write_text(SECOND)
        ask("reload", running.name)
        ask("rollback", running.name)  # the file says something else now: a copy is in use
        rules.write_text(SECOND + FIRST)
        done = ask("reload", running.name, "scan")["done"]
        assert done == ["table of scan: 3 entries, 0 refused"]
        rules.write_text(ALL_DROPPED)
        ask("reload", running.name, "--accept-shrunk")
        received = running.audit()["received"]
        running.wait_received(received + 1000)
        audit = running.drain()
        assert audit["dropped"]["rule"] >= audit["received"] - received >= 1000


def test_who_reads_the_same_file_is_reloaded_with_it(tmp_path):
    text = scanned(tmp_path, on="front").replace(
        "functions:", "functions:\n  look: { type: match, rules: scan.rules, on: front }").replace(
        "[scan]", "[look, scan]")
    with Topology(tmp_path, text) as running:
        running.endless = True
        (tmp_path / "scan.rules").write_text(SECOND)
        done = ask("reload", running.name, "scan")["done"]
        assert done == [f"table of {name}: 2 entries, 0 refused" for name in ("scan", "look")]
        assert ask("apply", running.file)["done"] == ["nothing differs"], "of both it is true"


class Operator:
    """Changes a running topology at random, and knows what has to come of it."""

    def __init__(self, running, folder, seed):
        self.running, self.folder = running, folder
        self.chance = random.Random(seed)
        self.text = running.file.read_text(encoding="utf-8").split("\n", 2)[2]
        self.generation = 1

    def scale(self):
        groups = [f"{name}={self.chance.randint(1, 4)}" for name in ("front", "deep")]
        chosen = self.chance.sample(groups, self.chance.randint(1, 2))
        self.done("scale", self.running.name, *chosen)

    def reload(self):
        (self.folder / "scan.rules").write_text(self.chance.choice([FIRST, SECOND]))
        self.done("reload", self.running.name, "scan")

    def apply(self):
        (self.folder / "more.rules").write_text(self.chance.choice([FIRST, SECOND]))
        text = self.text.replace("count: 2,", f"count: {self.chance.randint(1, 4)},")
        if self.chance.random() < 0.5:
            text = text.replace("scan.rules", "more.rules")
        if self.chance.random() < 0.5:
            run = self.chance.choice(["[mark, look, scan]", "[scan, mark]", "[wall, scan]"])
            text = with_more(self.folder, text, run)
        rewrite(self.running, text)
        self.done("apply", self.running.file)

    def rollback(self):
        if self.generation > 1:  # else there is nothing to go back to
            self.done("rollback", self.running.name)

    def done(self, *words):
        answer = ask(*words)
        if words[0] != "apply" or answer["done"] != ["nothing differs"]:
            self.generation += 1
        assert answer["generation"] == self.generation

    def run(self, count):
        kinds = [self.scale, self.scale, self.reload, self.reload, self.apply, self.rollback]
        for _ in range(count):
            self.chance.choice(kinds)()


def test_random_changes_under_load_lose_nothing(tmp_path, seed):
    """MILLRACE_CHANGES=200 by hand; fewer otherwise."""
    changes = int(os.environ.get("MILLRACE_CHANGES", "12"))
    with Topology(tmp_path, with_state(tmp_path)) as running:
        operator = Operator(running, tmp_path, seed)
        operator.run(changes)
        running.wait_received(running.audit()["received"] + 1000)
        audit = running.drain()
        assert audit["transmitted"] == audit["received"]
        packets, inversions = witnessed(running)
        assert inversions == 0 and packets > 0
        ends = {actor["last_end"] for actor in running.status()["actors"]}
        assert ends <= {"", "exited with 0"}, "a worker that left did not end well"
        functions = [image.name.split(".")[1] for image in images(running)]
        assert len(functions) == len(set(functions)), "of each function one table"
        assert running.status()["generation"] == operator.generation
    numbers = frames.numbers_in(tmp_path / "out.pcap")
    assert sorted(numbers) == list(range(audit["received"]))


def test_a_group_with_autoscale_follows_its_load(tmp_path):
    text = scanned(tmp_path, 0, on="front", rate_mpps=0.001).replace(
        "count: 2, max: 4", "count: 3, autoscale: { min: 1, max: 3, down: 60 }")
    with Topology(tmp_path, text) as running:
        running.endless = True
        (tmp_path / "scan.rules").write_text(SECOND)
        ask("reload", running.name, "scan")
        steps = lambda: [one["what"] for one in ask("history", running.name)["generations"]]
        wait_until(lambda: "autoscale front=2" in steps(), PATIENCE, "one less")
        assert steps()[:3] == ["start", "reload scan", "autoscale front=2"]
        assert "front.2" not in running.lives()
        ask("rollback", running.name)
        assert "rollback 1" in steps()[3:5], "what a user did is taken back"
        audit = running.audit()
        assert audit["unaccounted"] == 0 and not audit["dropped"] and not audit["problems"]
