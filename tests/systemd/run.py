#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""The Debian package on a machine of its own, with the systemd of a bare Debian 12: installed by
apt from Debian's own packages, booted, and asked what guest.py asks. By hand, as it needs packages
that nothing else needs (debootstrap, qemu-system-x86), root, some 3 GB and five minutes:

    make deb && sudo apt-get install debootstrap qemu-system-x86
    sudo tests/systemd/run.py --folder /var/tmp/millrace-vm
"""

import argparse
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PACKAGES = ("systemd", "systemd-sysv", "dbus", "udev", "kmod", "linux-image-cloud-amd64", "procps",
            "iproute2", "iputils-ping", "python3")
BOOT_SECONDS = 900  # of an emulated machine
UNIT = """[Unit]
Description=Checks of the Millrace package
After=multi-user.target

[Service]
Type=oneshot
ExecStart=/usr/bin/python3 /guest.py
StandardOutput=journal+console
StandardError=journal+console
"""


def run(*words, **more):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True,
                          check=False, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}:\n{done.stdout}{done.stderr}")
    return done.stdout


def make_root(folder, package):
    """A bare Debian 12 with the package and the checks in it."""
    base, root = folder / "base", folder / "root"
    if not (base / "boot").exists():
        print("debootstrap: some minutes, once", flush=True)
        shutil.rmtree(base, ignore_errors=True)
        run("debootstrap", "--variant=minbase", f"--include={','.join(PACKAGES)}", "bookworm",
            base)
    shutil.rmtree(root, ignore_errors=True)
    run("cp", "-a", base, root)
    shutil.copy(package, root / "millrace.deb")
    shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
    print(run("chroot", root, "apt-get", "install", "-y", "--no-install-recommends",
              "/millrace.deb").splitlines()[-1], flush=True)
    shutil.copy(HERE / "guest.py", root)
    unit = root / "etc/systemd/system/guest.service"
    unit.write_text(UNIT, encoding="ascii")
    wants = root / "etc/systemd/system/multi-user.target.wants"
    wants.mkdir(parents=True, exist_ok=True)
    (wants / unit.name).symlink_to(unit.relative_to(root).as_posix().join(("/", "")))
    return root


def boot(folder, root, accelerator):
    """What the machine says until it ends."""
    words = ["qemu-system-x86_64", "-accel", accelerator,
             "-cpu", "host" if accelerator == "kvm" else "max", "-smp", "2", "-m", "3072",
             "-nographic", "-no-reboot", "-kernel", next(root.glob("boot/vmlinuz-*")),
             "-initrd", next(root.glob("boot/initrd.img-*")),
             "-append", "root=/dev/vda rw console=ttyS0 quiet loglevel=3 "
                        "systemd.mask=serial-getty@ttyS0.service",
             "-drive", f"file={folder / 'disk.img'},format=raw,if=virtio", "-nic", "none"]
    said = []
    with subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True,
                          errors="replace") as machine:
        watchdog = subprocess.Popen(["sh", "-c", f"sleep {BOOT_SECONDS}; kill {machine.pid}"])
        for line in machine.stdout:
            said.append(line.strip())
            print("  " + said[-1], flush=True)
        watchdog.kill()
        watchdog.wait()
    return said


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=pathlib.Path, required=True, help="for the machine's disk")
    parser.add_argument("--package", type=pathlib.Path, default=ROOT / "build/deb/millrace.deb")
    parser.add_argument("--accelerator", choices=("tcg", "kvm"), default="tcg",
                        help="tcg: any host (default); kvm: faster")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    root = make_root(options.folder, options.package)
    disk = options.folder / "disk.img"
    disk.unlink(missing_ok=True)
    run("mke2fs", "-q", "-t", "ext4", "-d", root, disk, "3G")
    said = boot(options.folder, root, options.accelerator)
    said += boot(options.folder, root, options.accelerator)
    good = sum("ok: " in line for line in said)
    bad = sum("FAILED: " in line for line in said)
    ended = any(line.endswith("done: all") for line in said)
    print(f"{good} passed, {bad} failed" + ("" if ended else "; it did not come to its end"))
    return 0 if ended and bad == 0 and good > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
