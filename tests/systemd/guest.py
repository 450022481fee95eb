# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Runs inside the virtual machine of run.py, as a service: the package under a real systemd. Prints
"ok: NAME" or "FAILED: NAME: why" for each check, then ends the machine."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import traceback

UNIT = "millrace@default"
REBOOTED = pathlib.Path("/var/lib/millrace-rebooted")
CHECKS = {False: [], True: []}  # by whether it is the second boot

WIRE = """millrace: 1
name: wire
ports:
  a: { device: afpacket, interface: port-a, ring: 4096 }
  b: { device: afpacket, interface: port-b, ring: 4096 }
  t: { device: tap, interface: mill-tap }
paths:
  there: { from: a, to: b }
  back:  { from: b, to: a }
  up:    { from: t, to: t }
"""


def check(function=None, rebooted=False):
    if function is None:
        return lambda then: check(then, rebooted)
    CHECKS[rebooted].append(function)
    return function


def run(*words, good=True):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if good:
        assert done.returncode == 0, f"{' '.join(words)}: {done.stdout}{done.stderr}"
    return done


def wait_until(holds, seconds, what):
    """A processor that is emulated is slow."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = holds()
        if value:
            return value
        time.sleep(0.2)
    raise AssertionError(f"not within {seconds} s: {what}\n" + journal())


def show(what, unit=UNIT):
    return run("systemctl", "show", "-P", what, unit).stdout.strip()


def journal(unit=UNIT):
    return run("journalctl", "-o", "cat", "-n", "40", "-u", unit, good=False).stdout


def ask(command, name="default"):
    return json.loads(run("millrace", command, name, "--json").stdout)


def workers(name="default"):
    return {actor["name"]: actor["pid"] for actor in ask("status", name)["actors"] if actor["pid"]}


def restarted(count):
    return lambda: show("ActiveState") == "active" and int(show("NRestarts")) == count


def capabilities(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return [line.split()[1] for line in status.splitlines() if line.startswith("CapEff")][0]


def assert_default_runs():
    before = ask("audit")["received"]
    wait_until(lambda: ask("audit")["received"] > before, 30, "packets move")
    assert ask("audit")["unaccounted"] == 0


@check
def the_default_topology_starts():
    run("systemctl", "enable", "--now", UNIT)
    assert show("ActiveState") == "active" and show("Type") == "notify"
    assert_default_runs()


@check
def its_processes_have_no_capabilities():
    for name, pid in workers().items():
        assert int(capabilities(pid), 16) == 0, name


@check
def another_user_is_not_heard():
    words = "runuser", "-u", "nobody", "--", "millrace"
    for command in (["status", "default"], ["down", "default"], ["scale", "default", "front=2"]):
        assert run(*words, *command, good=False).returncode != 0
    assert_default_runs()


@check
def a_supervisor_that_is_killed_is_started_again_and_takes_over():
    before = workers()
    os.kill(int(show("MainPID")), signal.SIGKILL)
    wait_until(restarted(1), 60, "started again")
    assert workers() == before
    assert_default_runs()


@check
def a_supervisor_that_hangs_is_found_by_the_watchdog():
    before = workers()
    os.kill(int(show("MainPID")), signal.SIGSTOP)
    wait_until(restarted(2), 120, "started again")
    assert workers() == before
    assert_default_runs()


@check
def a_worker_that_is_killed_is_started_again():
    before = workers()["front.0"]
    os.kill(before, signal.SIGKILL)
    wait_until(lambda: workers().get("front.0") not in (None, before), 60, "another front.0")
    assert_default_runs()


@check
def a_file_with_an_error_is_refused_by_line_and_column():
    file = pathlib.Path("/etc/millrace/default.yaml")
    good = file.read_text(encoding="utf-8")
    file.write_text(good.replace("count: 1", "cuont: 1"), encoding="utf-8")
    assert run("systemctl", "restart", UNIT, good=False).returncode != 0
    assert "default.yaml:" in journal() and "cuont" in journal() and "count" in journal()
    file.write_text(good, encoding="utf-8")
    run("systemctl", "reset-failed", UNIT)
    run("systemctl", "start", UNIT)
    assert_default_runs()


def make_network():
    for side, address in (("a", "10.9.0.1/24"), ("b", "10.9.0.2/24")):
        run("ip", "netns", "add", side)
        run("ip", "link", "add", f"port-{side}", "type", "veth",
            "peer", "name", "eth", "netns", side)
        run("ip", "link", "set", f"port-{side}", "up")
        run("ip", "-n", side, "link", "set", "eth", "up")
        run("ip", "-n", side, "address", "add", address, "dev", "eth")


@check
def a_bump_in_the_wire_passes_pings_while_its_ingresses_are_killed():
    make_network()
    pathlib.Path("/etc/millrace/wire.yaml").write_text(WIRE, encoding="utf-8")
    run("systemctl", "start", "millrace@wire")
    wait_until(lambda: run("ip", "netns", "exec", "a", "ping", "-c1", "-W1", "10.9.0.2",
                           good=False).returncode == 0, 30, "a first ping")
    ping = ["ip", "netns", "exec", "a", "ping", "-q", "-i0.05", "-c300", "-W30", "10.9.0.2"]
    with subprocess.Popen(ping, stdout=subprocess.PIPE, text=True) as child:
        for name in ("ingress.a.0", "ingress.b.0"):
            time.sleep(4)
            os.kill(workers("wire")[name], signal.SIGKILL)
        text = child.communicate()[0]
    assert " 300 received" in text, text
    for name, pid in workers("wire").items():
        assert int(capabilities(pid), 16) == 0, name
    wait_until(lambda: ask("audit", "wire")["quiet"], 30, "quiet")
    audit = ask("audit", "wire")
    assert audit["received"] == audit["transmitted"] >= 600 and audit["unaccounted"] == 0, audit
    run("systemctl", "stop", "millrace@wire")
    assert "mill-tap" not in run("ip", "link").stdout, "the tap goes with its topology"


@check
def it_stops_in_order():
    pids = workers()
    run("systemctl", "stop", UNIT)
    assert show("ActiveState") == "inactive" and show("Result") == "success"
    assert not any(pathlib.Path(f"/proc/{pid}").exists() for pid in pids.values())
    assert not list(pathlib.Path("/dev/hugepages").iterdir())


@check(rebooted=True)
def it_is_up_after_a_boot():
    wait_until(lambda: show("ActiveState") == "active", 90, "active")
    assert_default_runs()


@check(rebooted=True)
def removing_the_package_ends_it():
    pids = workers()
    run("dpkg", "--purge", "millrace")
    assert not any(pathlib.Path(f"/proc/{pid}").exists() for pid in pids.values())
    assert not pathlib.Path("/usr/lib/millrace").exists()


def main():
    rebooted = REBOOTED.exists()
    for function in CHECKS[rebooted]:
        name = function.__name__.replace("_", " ")
        try:
            function()
            print(f"ok: {name}", flush=True)
        except Exception:  # pylint: disable=broad-except
            print(f"FAILED: {name}: {traceback.format_exc()}", flush=True)
    if rebooted:
        print("done: all", flush=True)
    REBOOTED.touch()
    os.sync()
    run("systemctl", "poweroff" if rebooted else "reboot", good=False)


if __name__ == "__main__":
    sys.exit(main())
