# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Files of rules and routes: builders read them, workers do not; what an accident made of one is
told and does not open a filter."""

import os
import pwd

import pytest
from processes import PATIENCE, wait_until
from topology import Topology, ask, millrace

FILES = {"wall.rules": "".join(f"drop udp 203.0.113.{n}/32 -> any\n" for n in range(4)),
         "scan.rules": 'alert "x"\n',
         "way.routes": "0.0.0.0/0 out 02:00:00:00:00:02\n"}


def guarded(folder, group="{ kind: classifier, count: 1, dispatch: any }"):
    """Every function that has files, on one group; an endless source."""
    for name, text in FILES.items():
        (folder / name).write_text(text)
    return f"""
ports:
  in:  {{ device: generate, flows: 16, rate_mpps: 0.002 }}
  out: {{ device: "null" }}
workers:
  only: {group}
functions:
  wall: {{ type: acl, rules: wall.rules, on: only }}
  scan: {{ type: match, rules: scan.rules, on: only }}
  way:  {{ type: route, table: way.routes, on: only }}
paths:
  main: {{ from: in, run: [wall, scan, way] }}
"""


def more_is_sent(running):
    before = running.audit()["transmitted"]
    wait_until(lambda: running.audit()["transmitted"] > before + 100, PATIENCE, "more is sent")


@pytest.mark.parametrize("group, worker, next_one", [
    ("{ kind: classifier, count: 1, dispatch: any }", "only.0", "only.0"),
    ("{ kind: gpu, device: software, seed: 1 }", "only.0.a", "only.0.b")])
def test_a_worker_comes_back_while_all_its_rule_files_are_away(tmp_path, group, worker, next_one):
    with Topology(tmp_path, guarded(tmp_path, group)) as running:
        running.endless = True
        more_is_sent(running)
        for name in FILES:
            (tmp_path / name).rename(tmp_path / f"{name}.away")
        running.kill(worker, "egress.0")
        running.wait_alive(next_one, "egress.0")
        more_is_sent(running)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root reads what others keep to themselves")
def test_rules_of_another_owner_are_for_the_builder_alone(tmp_path):
    text = guarded(tmp_path)
    other = pwd.getpwnam("nobody").pw_uid
    for name in FILES:
        (tmp_path / name).chmod(0o600)
        os.chown(tmp_path / name, other, -1)
    with Topology(tmp_path, text) as running:
        running.endless = True
        more_is_sent(running)
        (tmp_path / "wall.rules").write_text(FILES["wall.rules"] + "drop icmp any -> any\n")
        done = ask("reload", running.name, "wall")["done"]
        assert done == ["table of wall: 5 entries, 0 refused"]
        running.kill("only.0")
        running.wait_alive("only.0")
        more_is_sent(running)


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_was_cut_short_is_not_taken_unless_that_is_wanted(tmp_path, name):
    function = name.split(".", maxsplit=1)[0]
    with Topology(tmp_path, guarded(tmp_path)) as running:
        running.endless = True
        for command in (("reload", running.name), ("reload", running.name, function),
                        ("apply", running.file)):
            (tmp_path / name).write_text("")
            refused = millrace(*command, check=False)
            assert refused.returncode == 1, refused.stdout
            assert f"table of '{function}': 0 entries, under half of the" in refused.stderr
            assert "--accept-shrunk" in refused.stderr
        failed = [one["text"] for one in running.status()["events"]
                  if one["kind"] == "change_failed"]
        assert len(failed) == 3 and all("0 entries" in text for text in failed)
        more_is_sent(running)
        done = ask("reload", running.name, function, "--accept-shrunk")["done"]
        assert done[0] == f"table of {function}: 0 entries, 0 refused"
        assert done[1].strip() == f"{tmp_path / name}: no entry in it; is it whole?"
        (tmp_path / name).write_text(FILES[name])
        ask("reload", running.name, function)
        ask("rollback", running.name)  # there and back, whatever is smaller
        ask("rollback", running.name)
        more_is_sent(running)


def test_under_half_of_the_entries_is_refused_by_apply_too(tmp_path):
    with Topology(tmp_path, guarded(tmp_path)) as running:
        running.endless = True
        lines = FILES["wall.rules"].splitlines(keepends=True)
        (tmp_path / "wall.rules").write_text(lines[0])
        refused = millrace("apply", running.file, check=False)
        assert refused.returncode == 1
        assert "table of 'wall': 1 entries, under half of the 4" in refused.stderr
        (tmp_path / "wall.rules").write_text(lines[0] + lines[1])
        assert millrace("apply", running.file).returncode == 0, "a half is not under a half"
        (tmp_path / "wall.rules").write_text("")
        assert millrace("apply", running.file, "--accept-shrunk").returncode == 0


def sid(number, text="alert udp any any -> any any"):
    return f'{text} (msg:"{number}"; content:"word {number}"; sid:{number};)\n'


SMALL = {"small.rules": "drop udp 198.51.100.1/32 -> any\n", "small.words": 'alert "y"\n',
         "small.routes": "192.0.2.0/24 out 02:00:00:00:00:03\n",
         "small.fire": "drop udp 198.51.100.2/32 -> any\n", "small.sids": sid(1),
         "classes": "config classification: some,of a kind,2\n",
         "thresholds": "suppress gen_id 1, sig_id 1, track by_src, ip 192.0.2.1\n",
         "names": "d29yZA==\n"}
LARGE = {"large.rules": FILES["wall.rules"] * 25, "large.fire": FILES["wall.rules"] * 25,
         "large.words": "".join(f'alert "word {n}"\n' for n in range(100)),
         "large.routes": "".join(f"10.{n}.0.0/16 out 02:00:00:00:00:02\n" for n in range(100)),
         "large.sids": "".join(sid(n) for n in range(2, 100)) +
                       'alert dns any any -> any any (dns.query; dataset:isset,some,type string,'
                       'load names; sid:100;)\n'}
OF_FUNCTION = {"small.rules": "wall", "small.words": "scan", "small.routes": "way",
               "small.fire": "fire", "small.sids": "look", "classes": "look",
               "thresholds": "look", "names": "look"}


def of_two_files(folder):
    for name, text in (SMALL | LARGE).items():
        (folder / name).write_text(text)
    return """
ports:
  in:  { device: generate, flows: 16, rate_mpps: 0.002 }
  out: { device: "null" }
workers:
  only: { kind: classifier, count: 1, dispatch: flow }
functions:
  wall: { type: acl, rules: [large.rules, small.rules], on: only }
  scan: { type: match, rules: [large.words, small.words], on: only }
  seen: { type: flow, on: only }
  fire: { type: firewall, rules: [large.fire, small.fire], default: pass, on: only }
  look: { type: ids, rules: [large.sids, small.sids], classification: classes,
          thresholds: thresholds, on: only }
  way:  { type: route, table: [large.routes, small.routes], on: only }
paths:
  main: { from: in, run: [wall, scan, seen, fire, look, way] }
"""


def test_a_small_file_beside_a_large_one_is_compared_by_itself(tmp_path):
    with Topology(tmp_path, of_two_files(tmp_path)) as running:
        running.endless = True
        for name, function in OF_FUNCTION.items():
            (tmp_path / name).write_text("# nothing\n")
            # Only a reload reads a dataset: no setting of the topology names its file.
            commands = [("reload", running.name, function), ("apply", running.file)]
            for command in commands[:1] if name == "names" else commands:
                refused = millrace(*command, check=False)
                assert refused.returncode == 1, f"{name}: {refused.stdout}"
                assert f"table of '{function}': under half of the entries" in refused.stderr
                assert (f"  {tmp_path / name}: 0 entries, 1 in the one in use"
                        in refused.stderr.splitlines()), refused.stderr
                assert "--accept-shrunk" in refused.stderr
            (tmp_path / name).write_text(SMALL[name])
        (tmp_path / "small.words").write_text("")
        done = ask("reload", running.name, "scan", "--accept-shrunk")["done"]
        assert done[0] == "table of scan: 100 entries, 0 refused"
        ask("reload", running.name, "scan")  # what is in use has none of it either
        ask("rollback", running.name, "1")  # a copy stands for it
        refused = millrace("reload", running.name, "scan", check=False)
        assert refused.returncode == 1, refused.stdout
        assert f"{tmp_path}/small.words: 0 entries, 1 in the one in use" in refused.stderr
        more_is_sent(running)


def test_a_restart_looks_at_the_new_tables_before_anything_ends(tmp_path):
    with Topology(tmp_path, guarded(tmp_path)) as running:
        running.endless = True
        lives = running.lives()
        text = running.file.read_text()
        running.file.write_text(text.replace("flows: 16", "flows: 17"))
        for broken, why in (("", "0 entries, under half of the 4"),
                            (FILES["wall.rules"] + "drop nonsense\n", "--accept-refused"),
                            ("\0", "a zero byte")):
            (tmp_path / "wall.rules").write_text(broken)
            refused = millrace("apply", running.file, "--restart", check=False)
            assert refused.returncode == 1 and why in refused.stderr, refused.stderr
            assert running.lives() == lives
        left = [name for name in os.listdir("/dev/shm")
                if name.startswith(f"millrace-{running.name}.") and ".0.image" in name]
        assert not left and not [one for one in os.listdir(running.run_dir) if "check" in one]
        (tmp_path / "wall.rules").write_text("")
        done = ask("apply", running.file, "--restart", "--accept-shrunk")["done"]
        assert done[-1].startswith("restarted: ")


def test_a_start_with_one_empty_file_of_two_says_which(tmp_path):
    text = of_two_files(tmp_path)
    (tmp_path / "small.fire").write_text("")
    with Topology(tmp_path, text) as running:
        running.endless = True
        warned = [one for one in running.status()["events"] if one["kind"] == "table_empty"]
        assert len(warned) == 1
        assert warned[0]["text"].startswith(
            f"table of fire has no entries of {tmp_path}/small.fire; were its files cut short")


def test_a_start_with_an_empty_file_says_so(tmp_path):
    text = guarded(tmp_path)
    (tmp_path / "wall.rules").write_text("# all of it is to come\n")
    with Topology(tmp_path, text) as running:
        running.endless = True
        assert f"{tmp_path}/wall.rules: no entry in it" in running.said
        warned = [one for one in running.status()["events"] if one["kind"] == "table_empty"]
        assert len(warned) == 1 and warned[0]["text"].startswith("table of wall has no entries")


@pytest.mark.parametrize("name", FILES)
def test_a_pipe_in_the_place_of_a_file_is_refused_and_holds_nothing_up(tmp_path, name):
    function = name.split(".", maxsplit=1)[0]
    with Topology(tmp_path, guarded(tmp_path)) as running:
        running.endless = True
        (tmp_path / name).unlink()
        os.mkfifo(tmp_path / name)
        for command in (("validate", running.file), ("apply", running.file),
                        ("reload", running.name, function)):
            refused = millrace(*command, check=False)
            assert refused.returncode == 1 and str(tmp_path / name) in refused.stderr, command
        wait_until(lambda: running.status()["differs"], PATIENCE, "the supervisor has looked at it")
        more_is_sent(running)


def test_a_topology_in_a_pipe_or_a_device_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe.yaml")
    for path in (tmp_path / "pipe.yaml", "/dev/zero", tmp_path):
        refused = millrace("validate", path, check=False)
        assert refused.returncode != 0 and f"{path}: it is a" in refused.stderr, refused.stderr


def test_text_of_another_encoding_is_refused_and_keeps_the_table_in_use(tmp_path):
    with Topology(tmp_path, guarded(tmp_path)) as running:
        running.endless = True
        (tmp_path / "wall.rules").write_text(FILES["wall.rules"], encoding="utf-16")
        refused = millrace("reload", running.name, "wall", check=False)
        assert refused.returncode == 1
        assert f"{tmp_path}/wall.rules:1: text of UTF-16" in refused.stderr
        marked = FILES["wall.rules"].replace("\n", "\r\n")
        (tmp_path / "wall.rules").write_text(marked, encoding="utf-8-sig", newline="")
        done = ask("reload", running.name, "wall")["done"]
        assert done == ["table of wall: 4 entries, 0 refused"]
