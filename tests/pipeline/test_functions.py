# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Functions come to a path that runs, go from it and change places: nothing is lost, order stays, a
batch meets one list of them."""

import json
import random
import time

import frames
import pytest
from processes import PATIENCE, wait_until
from test_changes import fused, images, rewrite, scanned, with_more
from topology import Topology, ask, millrace, start


def seen_by(running):
    """Packets by function that has looked at them, of those that are there."""
    return running.metrics().by("function", "millrace_function_packets_total")


def more_arrives(running):
    running.wait_received(running.audit()["received"] + 3000)


@pytest.mark.parametrize("on", ["gpu", "front", "fused"])
def test_functions_come_and_go_and_a_batch_meets_one_list_of_them(tmp_path, on):
    text = scanned(tmp_path, on="front" if on == "fused" else on)
    if on == "fused":
        text = fused(text)
    with Topology(tmp_path, text) as running:
        lives = running.lives()
        rewrite(running, with_more(tmp_path, text))
        changes = ask("plan", running.file, "--diff")
        assert changes["restart"] == [] and len(changes["changes"]) == 4, changes
        assert ask("apply", running.file)["generation"] == 2
        assert ask("plan", running.file, "--diff")["changes"] == []
        more_arrives(running)
        rewrite(running, with_more(tmp_path, text, "[wall, scan, mark, look]"))
        assert len(ask("apply", running.file)["done"]) == 1, "another order, nothing else"
        more_arrives(running)
        rewrite(running, with_more(tmp_path, text, "[wall, scan]"))
        ask("apply", running.file)
        seen = seen_by(running)
        assert seen["mark"] > 0 and seen["wall"] > 0
        wait_until(lambda: (seen := seen_by(running))["mark"] == seen["look"], PATIENCE,
                   "each batch has met both, or none")
        assert ask("rollback", running.name, 1)["generation"] == 5
        assert set(seen_by(running)) == {"scan"} and running.lives() == lives
        wait_until(lambda: len(images(running)) == 1, PATIENCE, "old tables are gone")
        more_arrives(running)
        ask("rollback", running.name, 2)
        more_arrives(running)
        wait_until(lambda: seen_by(running)["mark"] > seen["mark"], PATIENCE,
                   "it goes on where it was")
        audit = running.drain()
        assert audit["transmitted"] == audit["received"]
    assert frames.numbers_in(tmp_path / "out.pcap") == list(range(audit["received"]))


@pytest.mark.parametrize("on", ["gpu", "front"])
def test_drop_reasons_come_with_their_function_and_have_its_names_everywhere(tmp_path, on):
    text = scanned(tmp_path, on=on)
    (tmp_path / "lost.routes").write_text("192.0.2.0/24 drop\n")
    with Topology(tmp_path, text) as running:
        running.wait_received(1000)
        names = running.metrics().by("reason", "millrace_drops_total")
        assert "rule" in names and "no_route" not in names
        rewrite(running, text.replace("functions:", f"""functions:
  lost: {{ type: route, table: lost.routes, answers: false, on: {on} }}""")
                .replace("run: [scan]", "run: [lost, scan]"))
        ask("apply", running.file)
        more_arrives(running)

        def rates():
            looks = millrace("top", running.name, "--json", "--interval", "0.5", "--count", "2")
            return json.loads(looks.stdout.splitlines()[-1])["dropped_per_s"]
        found = wait_until(rates, PATIENCE, "a rate")
        assert found["no_route"] > 0 and set(found) == {"no_route"}
        traced = json.loads(millrace("trace", running.name, "--seconds", PATIENCE, "--json").stdout)
        assert traced["reason"] == "no_route"
        assert ask("rollback", running.name, 1)["generation"] == 3
        (tmp_path / "scan.rules").write_text('drop "MILLRACE"\n')
        ask("reload", running.name, "scan")
        more_arrives(running)
        dropped = running.drain()["dropped"]
        assert set(dropped) == {"no_route", "rule"} and dropped["no_route"] > 3000
        seen = running.metrics()
        assert dropped == {reason: seen.total("millrace_drops_total", reason=reason,
                                              cause="policy", by="function") for reason in dropped}
        assert dropped["rule"] == seen.total("millrace_function_drops_total", reason="rule",
                                             function="scan")


def test_a_function_that_came_unconfirmed_goes_again(tmp_path):
    text = scanned(tmp_path, on="gpu")
    with Topology(tmp_path, text) as running:
        rewrite(running, with_more(tmp_path, text))
        ask("apply", running.file, "--confirm", 600)
        assert set(seen_by(running)) == {"mark", "look", "wall", "scan"}
        assert running.status()["confirm_seconds"] > 0
        assert ask("rollback", running.name)["generation"] == 3
        assert set(seen_by(running)) == {"scan"}
        more_arrives(running)
        ask("apply", running.file, "--confirm", 600)
        ask("confirm", running.name)
        more_arrives(running)
        wait_until(lambda: seen_by(running)["mark"] > 3000, PATIENCE, "it looks at packets")
        assert running.status()["generation"] == 4
        audit = running.drain()
        assert audit["transmitted"] == audit["received"]
    assert frames.numbers_in(tmp_path / "out.pcap") == list(range(audit["received"]))


def test_workers_die_while_a_function_comes(tmp_path, seed):
    chance = random.Random(seed)
    text = scanned(tmp_path, on="gpu")
    with Topology(tmp_path, text) as running:
        with_more(tmp_path, text)
        for number in range(4):
            rewrite(running, with_more(tmp_path, text) if number % 2 == 0 else text)
            applying = start("apply", running.file)
            time.sleep(chance.uniform(0, 0.5))
            lives = running.lives()
            running.kill(chance.choice([name for name in sorted(lives) if name.startswith(
                ("front.", "gpu.", "egress."))]), lives=lives)
            applying.wait(timeout=2 * PATIENCE)
            ask("apply", running.file)  # again, if a death took it back
            running.wait_alive("front.0", "front.1", "egress.0")
        more_arrives(running)
        assert set(seen_by(running)) == {"scan"}
        audit = running.drain()
        assert set(audit["dropped"]) <= {"worker_lost", "egress_lost"}
    numbers = frames.numbers_in(tmp_path / "out.pcap")
    assert numbers == sorted(set(numbers)), "in order"


def test_a_function_that_comes_back_out_of_service_says_so(tmp_path):
    text = scanned(tmp_path, on="front")
    with Topology(tmp_path, text) as running:
        rewrite(running, with_more(tmp_path, text))
        ask("apply", running.file)
        ask("function", running.name, "wall", "out")
        rewrite(running, text)
        ask("apply", running.file)
        rewrite(running, with_more(tmp_path, text))
        last = ask("apply", running.file)["done"][-1]
        assert last == ("out of service: wall; put it back: "
                        f"millrace function {running.name} wall in")
        running.drain()


def test_a_function_that_cannot_come_changes_nothing(tmp_path):
    text = scanned(tmp_path, on="front")
    with Topology(tmp_path, text) as running:
        more = with_more(tmp_path, text)
        (tmp_path / "mark.rules").write_text('class unheard_of "MILLRACE"\n')
        rewrite(running, more)
        refused = millrace("apply", running.file, check=False)
        assert refused.returncode == 1 and "unheard_of" in refused.stderr, refused.stderr
        assert running.status()["generation"] == 1 and len(images(running)) == 1
        rewrite(running, more.replace("type: acl, rules: wall.rules", "type: record").replace(
            "run: [mark", "run: [wall, mark").replace("dispatch: any", "dispatch: flow"))
        refused = millrace("apply", running.file, check=False)
        assert "function wall comes, and has state" in refused.stderr, refused.stderr
        assert not running.drain()["dropped"]
