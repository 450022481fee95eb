# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""The supervisor dies: traffic goes on, and its successor goes on where it was."""

import signal

from ordeal import Ordeal
from processes import PATIENCE, is_running, wait_until
from test_crash import finish, path_under_load
from topology import Topology, ask, millrace


def pid_and_start(lives):
    return {name: life[:2] for name, life in lives.items()}


def test_who_died_while_nobody_supervised_comes_back(tmp_path, seed):
    with Topology(tmp_path, path_under_load(tmp_path, seed)) as running:
        ordeal = Ordeal(running, seed)
        ordeal.strike(["front.2"])
        lives = running.lives()
        running.kill_supervisor()
        refused = millrace("status", running.name, check=False)
        assert refused.returncode != 0 and "millrace adopt" in refused.stdout + refused.stderr
        running.kill("front.0", lives=lives)
        ordeal.struck.append("front.0")
        # The hub recovers what it left, without a supervisor.
        received = running.audit()["received"]
        wait_until(lambda: running.audit()["received"] > received + 1000, PATIENCE,
                   "traffic goes on")
        assert all(is_running(life[0]) for name, life in lives.items() if name != "front.0")
        millrace("up", running.file, "--detach")  # the same file: it is taken over
        ordeal.wait_back("front.0", lives)
        after = running.lives()
        lives.pop("front.0")
        assert pid_and_start(lives).items() <= pid_and_start(after).items()
        assert after["front.2"][2] == lives["front.2"][2] == 1, "restarts are still counted"
        assert after["front.0"][2] == 1
        finish(tmp_path, ordeal)


def test_a_successor_wants_as_many_workers_as_were_wanted(tmp_path, seed):
    with Topology(tmp_path, path_under_load(tmp_path, seed)) as running:
        ordeal = Ordeal(running, seed)
        running.scale("front", 1)
        running.adopt_after_kill()
        assert [name for name in running.lives() if name.startswith("front.")] == ["front.0"]
        running.kill("ingress.in.0")  # one that is not wanted would be back before it
        running.wait_alive("ingress.in.0")
        ordeal.struck.append("ingress.in.0")
        assert [name for name in running.lives() if name.startswith("front.")] == ["front.0"]
        running.scale("front", 3)
        ordeal.strike(["front.1"])
        finish(tmp_path, ordeal)


def test_a_file_that_says_something_else_takes_nothing_over(tmp_path, seed):
    with Topology(tmp_path, path_under_load(tmp_path, seed)) as running:
        ordeal = Ordeal(running, seed)
        running.kill_supervisor()
        text = running.file.read_text(encoding="utf-8")
        running.file.write_text(text.replace("reorder: true", "reorder: false"), encoding="utf-8")
        refused = millrace("up", running.file, "--detach", check=False)
        assert refused.returncode != 0 and "says something else" in refused.stderr
        running.file.write_text(text, encoding="utf-8")
        answer = ask("adopt", running.name, "--detach")
        assert any("taken over" in step["text"] for step in answer["steps"])
        assert ask("status", running.name)["phase"] == "running"
        finish(tmp_path, ordeal)


def test_down_ends_what_nobody_supervises(tmp_path, seed):
    with Topology(tmp_path, path_under_load(tmp_path, seed)) as running:
        running.endless = True
        running.wait_received(1000)
        running.kill("standby", number=signal.SIGKILL)
        running.kill_supervisor()
