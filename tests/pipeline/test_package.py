# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""The Debian package in a root of its own: installed, its unit checked, its default topology run as
systemd would run it."""

import configparser
import gzip
import os
import re
import shutil
import signal
import socket
import subprocess
import sys

import processes
from processes import PATIENCE, wait_until
from topology import BIN, ROOT, ask

import pytest

UNIT = ROOT / "orchestration/deploy/debian/millrace@.service"
EXPOSURE_MAX = 36  # of systemd-analyze security, times ten: "OK"


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """A root directory with nothing but the package, installed by dpkg."""
    folder = tmp_path_factory.mktemp("package")
    build = subprocess.run([sys.executable, ROOT / "orchestration/deploy/debian/build.py",
                            "--bin", BIN, "--out", folder / "out"],
                           capture_output=True, text=True, check=False)
    assert build.returncode == 0, build.stdout + build.stderr
    target = folder / "root"
    for part in ("info", "updates"):
        (target / "var/lib/dpkg" / part).mkdir(parents=True)
    (target / "var/lib/dpkg/status").touch()
    # Its dependencies are on the host: there they are looked for by the loader.
    done = subprocess.run(["dpkg", f"--root={target}", "--force-depends", "--force-not-root",
                           "--force-script-chrootless", "--install", folder / "out/millrace.deb"],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    status = (target / "var/lib/dpkg/status").read_text()
    assert "Package: millrace\nStatus: install ok installed" in status
    return target


def test_every_library_is_in_a_package_of_this_release(root):
    shown = subprocess.run(["dpkg", f"--root={root}", "--status", "millrace"],
                           capture_output=True, text=True, check=True).stdout
    depends = next(line for line in shown.splitlines() if line.startswith("Depends: "))
    names = [item.split()[0] for item in depends.removeprefix("Depends: ").split(", ")]
    assert "libc6" in names and len(names) == len(set(names))
    linked = set()
    for program in (root / "usr/lib/millrace").iterdir():
        said = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
        linked |= {os.path.realpath(path) for path in re.findall(r"=> (/\S+)", said)}
    for name in names:
        files = subprocess.run(["dpkg-query", "-L", name], capture_output=True, text=True,
                               check=True).stdout.split("\n")
        # Not one with a library of the same name for another machine.
        assert linked & {os.path.realpath(path) for path in files}, name


def test_it_says_whose_it_is_and_what_it_is_made_of(root):
    documents = root / "usr/share/doc/millrace"
    assert "Copyright: 2026" in (documents / "copyright").read_text()
    assert (documents / "copyright.libdpdk-dev").exists(), "that is linked in"
    changes = gzip.decompress((documents / "changelog.gz").read_bytes()).decode()
    assert re.match(r"millrace \(\S+\) unstable; ", changes) and "\n -- The Millrace" in changes


def test_every_command_has_a_manual_page(root):
    pages = {path.name: gzip.decompress(path.read_bytes()).decode()
             for path in (root / "usr/share/man/man1").iterdir()}
    assert {"millrace.1.gz", "millrace-up.1.gz", "millrace-capture.1.gz"} <= set(pages)
    assert len(pages) > 10
    for name, text in pages.items():
        assert text.startswith(".TH ") and ".SH NAME" in text, name
    assert "\\-\\-detach" in pages["millrace-up.1.gz"]


def complete(root, *words):
    script = (f"source {root}/usr/share/bash-completion/completions/millrace; COMP_WORDS=(\"$@\"); "
              "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _millrace; echo \"${COMPREPLY[@]}\"")
    return subprocess.run(["bash", "-c", script, "bash", "millrace", *words], capture_output=True,
                          text=True, check=True).stdout.split()


def test_the_shell_completes_commands_and_options(root):
    assert complete(root, "ca") == ["capture"]
    assert "--detach" in complete(root, "up", "--d")
    assert complete(root, "up", "--nothing") == []


def unit_of(root, folder):
    """The unit with the paths of this root, under a name that has an instance."""
    text = (root / "usr/lib/systemd/system/millrace@.service").read_text()
    path = folder / "millrace@default.service"
    path.write_text(text.replace("/usr/bin/", f"{root}/usr/bin/"))
    return path


def test_the_unit_goes_on_trying_until_its_interfaces_are_there():
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str
    unit.read(UNIT)
    assert "network-online.target" in unit["Unit"]["Wants"].split()
    assert "network-online.target" in unit["Unit"]["After"].split()
    assert unit["Unit"]["StartLimitIntervalSec"] == "0", "it would be given up at last"
    assert unit["Service"]["Restart"] == "on-failure"
    assert unit["Service"]["RestartSec"] == "1s", "what cannot start costs little meanwhile"


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs systemd-analyze")
def test_the_unit_is_sound_and_gives_few_rights(root, tmp_path):
    unit = unit_of(root, tmp_path)
    verify = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], capture_output=True,
                            text=True, check=False)
    assert verify.returncode == 0 and str(unit.name) not in verify.stderr, verify.stderr
    security = subprocess.run(["systemd-analyze", "security", "--offline=yes", "--no-pager",
                               f"--threshold={EXPOSURE_MAX}", unit],
                              capture_output=True, text=True, check=False)
    assert security.returncode == 0, security.stdout[-200:]


class Service:
    """What systemd does of the unit: starts it, hears what it says."""

    def __init__(self, root, folder):
        self.name = f"package-{os.getpid()}"
        self.run_dir = folder / "run" / self.name
        self.folder = folder
        text = (root / "etc/millrace/default.yaml").read_text()
        self.file = folder / "default.yaml"
        # As long as one may set: no process is replaced because this host stands still.
        self.file.write_text(text.replace("name: default ", f"name: {self.name} ") +
                             "heartbeat_limit: 60s\n")
        shutil.copy(root / "etc/millrace/default.rules", folder)
        unit = (root / "usr/lib/systemd/system/millrace@.service").read_text()
        start = next(line for line in unit.splitlines() if line.startswith("ExecStart="))
        self.command = (start.removeprefix("ExecStart=").replace("/usr/bin/", f"{root}/usr/bin/")
                        .replace("/etc/millrace/%i.yaml", str(self.file))
                        .replace("/run/millrace/%i", str(self.run_dir)).split())
        self.millrace = root / "usr/bin/millrace"
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(folder / "notify"))
        self.socket.settimeout(PATIENCE)
        self.process = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run([self.millrace, "down", self.name, "--run-dir", self.run_dir],
                       capture_output=True, check=False)
        if self.process is not None:
            self.process.communicate(timeout=PATIENCE)
        self.socket.close()

    def start(self):
        environment = dict(os.environ, NOTIFY_SOCKET=str(self.folder / "notify"),
                           WATCHDOG_USEC="1000000")
        self.process = subprocess.Popen(self.command, env=environment, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE, text=True)
        self.wait_for("READY=1")

    def wait_for(self, word):
        while word not in self.socket.recv(4096).decode().split("\n"):
            assert self.process.poll() is None, self.process.stderr.read()

    def actors(self):
        status = ask("status", self.name, "--run-dir", self.run_dir)
        return {actor["name"]: actor["pid"] for actor in status["actors"] if actor["pid"]}


def test_the_default_topology_starts_and_outlives_its_supervisor(root, tmp_path):
    with Service(root, tmp_path) as service:
        service.start()
        service.wait_for("WATCHDOG=1")
        before = service.actors()
        assert "front.0" in before
        programs = set(processes.processes_of(str(service.run_dir)).values())
        assert all(str(program).startswith(f"{root}/usr/lib/millrace/") for program in programs)
        service.process.send_signal(signal.SIGKILL)
        service.process.communicate()
        service.file.write_text("millrace: [")  # an edit that is not applied, nor right
        service.start()
        assert service.actors() == before
        service.wait_for("WATCHDOG=1")
        service.process.send_signal(signal.SIGTERM)
        service.wait_for("STOPPING=1")
        assert service.process.wait(timeout=PATIENCE) == 0
        wait_until(lambda: not any(map(processes.is_running, before.values())), PATIENCE,
                   "all gone")


def test_it_is_removed_without_a_trace_but_what_was_changed(root, tmp_path):
    copy = tmp_path / "root"
    shutil.copytree(root, copy, symlinks=True)
    done = subprocess.run(["dpkg", f"--root={copy}", "--force-not-root", "--force-depends",
                           "--force-script-chrootless", "--purge", "millrace"],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    left = [path for path in copy.rglob("*") if path.is_file()
            and "var/lib/dpkg" not in str(path) and "var/log" not in str(path)]
    assert left == []
