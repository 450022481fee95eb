# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Hosts on which something is wrong: one clear message, the command that mends it, nothing left."""

import contextlib
import itertools
import json
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile

import pytest

import processes
from topology import BIN

NUMBERS = itertools.count(1)
HUGE = pathlib.Path("/dev/hugepages")
SHM = pathlib.Path("/dev/shm")
RUN = pathlib.Path("/run/millrace")

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="makes mounts of its own: needs root")


class Case:
    """A small topology that ends by itself."""

    def __init__(self, folder, telemetry="127.0.0.1:0"):
        self.name = f"host-{os.getpid()}-{next(NUMBERS)}"
        self.file = folder / f"{self.name}.yaml"
        self.file.write_text(f"""millrace: 1
name: {self.name}
ports:
  in:  {{ device: generate, count: 5000 }}
  out: {{ device: "null" }}
paths:
  main: {{ from: in, to: out }}
telemetry: {{ listen: "{telemetry}" }}
""")

    def up(self, prefix=(), **options):
        words = [*prefix, BIN / "millrace", "up", self.file, "--until-done"]
        return subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False,
                              timeout=processes.PATIENCE, **options)

    def assert_nothing_left(self):
        processes.wait_none(str(RUN / self.name))
        assert not (RUN / self.name / "plan.bin").exists()
        assert not list(SHM.glob(f"millrace-{self.name}*"))
        assert not list(HUGE.glob(f"millrace-{self.name}*"))

    def assert_refused(self, done, *words):
        assert done.returncode == 1, done.stdout + done.stderr
        for word in words:
            assert word in done.stderr, done.stderr
        assert "millrace: " in done.stderr
        self.assert_nothing_left()


def in_own_mounts(commands):
    """Words that run a command after `commands`, in a mount namespace that ends with it."""
    return ["unshare", "--mount", "sh", "-ec", f'{commands}; exec "$@"', "sh"]


UNMOUNT = ("for at in $(awk '$3 == \"hugetlbfs\" {print $2}' /proc/mounts); do umount -l $at; "
           "done")


@needs_root
def test_no_hugetlbfs_is_needed(tmp_path):
    case = Case(tmp_path)
    done = case.up(in_own_mounts(UNMOUNT))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "5000" in done.stdout
    case.assert_nothing_left()


@needs_root
def test_a_small_hugetlbfs_is_no_limit(tmp_path):
    case = Case(tmp_path)
    (tmp_path / "huge").mkdir()
    small = f"mount -t hugetlbfs -o pagesize=2M,size=2M none {tmp_path}/huge"
    done = case.up(in_own_mounts(f"{UNMOUNT}; {small}"))
    assert done.returncode == 0, done.stdout + done.stderr
    case.assert_nothing_left()


@needs_root
def test_too_few_huge_pages_are_counted_with_the_command(tmp_path):
    case = Case(tmp_path)
    # 10 GB: more than the tests reserve.
    text = case.file.read_text().replace("to: out }", "to: out, buffers: 1048576 }")
    case.file.write_text(text.replace("count: 5000", "count: 5000, mtu: 9000"))
    done = case.up()
    case.assert_refused(done, "not enough free huge pages", "sysctl -w vm.nr_hugepages=",
                        "millrace doctor --fix")


@needs_root
def test_what_a_killed_run_left_is_removed(tmp_path):
    dead, case = Case(tmp_path), Case(tmp_path)
    (RUN / dead.name / "logs").mkdir(parents=True)
    done = case.up()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "removed what killed topologies had left" in done.stdout
    assert not (RUN / dead.name).exists()
    case.assert_nothing_left()


@needs_root
def test_one_processor_is_enough(tmp_path):
    case = Case(tmp_path)
    done = case.up(["taskset", "-c", str(min(os.sched_getaffinity(0)))])
    assert done.returncode == 0, done.stdout + done.stderr
    assert "5000" in done.stdout
    case.assert_nothing_left()


@needs_root
def test_a_user_without_rights_is_told_where_it_may_write(tmp_path):
    case = Case(tmp_path)
    pathlib.Path(tmp_path).chmod(0o755)
    nobody = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
    with reachable(tmp_path):
        bare = case.up(nobody, env={"PATH": os.environ["PATH"]})
        case.assert_refused(bare, "XDG_RUNTIME_DIR is not set", "--run-dir")
        runtime = tempfile.mkdtemp(prefix="millrace-")  # short: sockets lie in it
        os.chown(runtime, 65534, 65534)
        try:
            done = case.up(nobody, env={"PATH": os.environ["PATH"], "XDG_RUNTIME_DIR": runtime})
        finally:
            shutil.rmtree(runtime)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "5000" in done.stdout
        case.assert_nothing_left()


@contextlib.contextmanager
def reachable(folder):
    """All folders above may be entered by all users."""
    changed = []
    for path in [folder, *folder.parents]:
        mode = path.stat().st_mode & 0o7777
        if not mode & 0o001:
            changed.append((path, mode))
            path.chmod(mode | 0o005)
    try:
        yield
    finally:
        for path, mode in changed:
            path.chmod(mode)


@needs_root
def test_a_telemetry_port_in_use_is_named(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        case = Case(tmp_path, telemetry=f"127.0.0.1:{port}")
        done = case.up()
        case.assert_refused(done, f"127.0.0.1:{port}", "in use", "port 0 takes any free one")
        assert not (RUN / case.name).exists()


def doctor(*words, prefix=()):
    done = subprocess.run(list(map(str, [*prefix, BIN / "millrace", "doctor", *words, "--json"])),
                          capture_output=True, text=True, check=False, timeout=processes.PATIENCE)
    answer = json.loads(done.stdout)
    assert done.returncode == (0 if answer["ok"] else 1)
    return answer, {finding["check"]: finding for finding in answer["findings"]}


@needs_root
def test_the_doctor_mounts_what_is_missing_and_removes_what_is_dead(tmp_path):
    state = tmp_path / "state"
    prefix = ["env", f"MILLRACE_HOST_STATE={state}",
              *in_own_mounts(f"{UNMOUNT}; for at in /dev/shm {RUN} /run/dpdk; do mkdir -p $at; "
                             "mount -t tmpfs none $at; done; touch /dev/shm/millrace-dead.status")]
    case = Case(tmp_path)
    case.file.write_text(case.file.read_text().replace(
        'device: "null"', 'device: dpdk, devargs: net_null0'))
    answer, findings = doctor(case.file, prefix=prefix)
    assert not answer["ok"] and findings["hugetlbfs"]["can_fix"]
    assert findings["files of killed runs"]["health"] == "warning"
    answer, findings = doctor(case.file, "--fix", prefix=prefix)
    assert answer["ok"], answer
    assert any("mounted hugetlbfs" in done for done in answer["done"])
    assert findings["files of killed runs"]["found"] == "none"
    assert state.read_text() == f"mounted {HUGE}\n"


def test_the_doctor_looks_for_what_a_topology_needs(tmp_path):
    case = Case(tmp_path)
    _, small = doctor()
    _, needed = doctor(case.file)
    assert "16 needed" in small["huge pages"]["found"]
    assert "16 needed" not in needed["huge pages"]["found"]
