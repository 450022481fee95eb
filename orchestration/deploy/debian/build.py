#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""`make deb`: a Debian package of what was built. Manual pages and completion are made from what
the executables say of themselves, dependencies from what they are linked with."""

import argparse
import email.utils
import gzip
import pathlib
import re
import shutil
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
PROGRAMS = ("millrace", "millrace-hub", "millrace-io-worker", "millrace-classifier",
            "millrace-gpu-worker", "millrace-fused", "millrace-builder", "millrace-telemetry",
            "millrace-events", "millrace-routes")
CONFIGURATION = ("default.yaml", "default.rules")
LINKED_IN = ("libdpdk-dev", "libvectorscan-dev", "libnuma-dev")  # archives
MAINTAINER = "The Millrace authors <security@millrace.invalid>"


def output_of(*words, cwd=None):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True,
                          check=True, cwd=cwd).stdout


def commit(what):
    """Of the last commit, as `git log --format` calls it; empty outside of a checkout."""
    done = subprocess.run(["git", "-C", ROOT, "log", "-1", f"--format={what}",
                           "--date=format:%Y%m%d%H%M%S"], capture_output=True, text=True,
                          check=False)
    return done.stdout.strip()


def version():
    """Of the project, with the second and name of the commit."""
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    number = re.search(r"project\(millrace VERSION ([\d.]+)", text).group(1)
    which = commit("%cd.%h")
    return f"{number}~{which}" if which else number


def dependencies(programs):
    """Packages of the libraries that they need, each from the version on that has the symbols that
    they use. dpkg-shlibdeps wants the folder of a source package."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "debian")
        source.mkdir()
        (source / "control").write_text(
            "Source: millrace\n\nPackage: millrace\nArchitecture: any\n")
        words = output_of("dpkg-shlibdeps", "-O", *programs, cwd=folder)
    return words.strip().removeprefix("shlibs:Depends=").split(", ")


# What the CLI says of itself.

def help_of(program, *words):
    return output_of(program, *words, "--help")


def commands_of(program):
    """[(name, summary)] of the subcommands."""
    text = help_of(program).partition("Subcommands:")[2]
    return re.findall(r"^  ([a-z][a-z-]*) +(\S.*)$", text, re.MULTILINE)


def options_of(text):
    """All spellings of the options in a help text, whose examples may name those of others."""
    options = text.partition("Options:")[2].partition("\n\n")[0]
    return sorted(set(re.findall(r"(?<![\w-])(--?[A-Za-z][\w-]*)", options)))


def roff(text):
    return "\n".join("\\&" + line.replace("\\", "\\e").replace("-", "\\-")
                     for line in text.splitlines())


def manual_page(name, summary, text, commands=()):
    page = [f'.TH {name.upper()} 1 "" "Millrace {version()}" "Millrace manual"',
            ".SH NAME", f"{roff(name)[2:]} \\- {roff(summary)[2:]}",
            ".SH SYNOPSIS AND OPTIONS", ".nf", roff(text.strip()), ".fi"]
    if commands:
        page += [".SH SEE ALSO", *(f".BR millrace\\-{command} (1)" for command in commands)]
    return "\n".join(page) + "\n"


def write_manual(program, folder):
    pages = {"millrace": manual_page("millrace", "a middlebox made of processes", help_of(program),
                                     [name for name, _ in commands_of(program)])}
    for name, summary in commands_of(program):
        pages[f"millrace-{name}"] = manual_page(f"millrace-{name}", summary,
                                                help_of(program, name))
    for name, text in pages.items():
        write_zipped(folder / f"{name}.1.gz", text)


def write_completion(program, path):
    commands = [name for name, _ in commands_of(program)]
    cases = "\n".join(f"    {name}) options=\"{' '.join(options_of(help_of(program, name)))}\" ;;"
                      for name in commands)
    path.parent.mkdir(parents=True)
    path.write_text((HERE / "completion.bash").read_text(encoding="utf-8")
                    .replace("@COMMANDS@", " ".join(commands)).replace("@CASES@", cases),
                    encoding="utf-8")


# The package.

def install(source, target, mode):
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    target.chmod(mode)


def write_zipped(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.GzipFile(path, "wb", mtime=0) as file:
        file.write(text.encode())


def write_documents(folder):
    """What is linked in as an archive has to be named with its licence too."""
    for name in ("README.md", "CHANGELOG.md", "SECURITY.md"):
        install(ROOT / name, folder / name, 0o644)
    install(HERE / "copyright", folder / "copyright", 0o644)
    for name in LINKED_IN:
        source = pathlib.Path("/usr/share/doc") / name / "copyright"
        if source.exists():
            install(source, folder / f"copyright.{name}", 0o644)
    date = commit("%cD") or email.utils.formatdate()
    write_zipped(folder / "changelog.gz", f"""millrace ({version()}) unstable; urgency=medium

  * What has changed is in CHANGELOG.md beside this file.

 -- {MAINTAINER}  {date}
""")


def fill(tree, bin_folder):
    for name in PROGRAMS:
        install(bin_folder / name, tree / "usr/lib/millrace" / name, 0o755)
        output_of("strip", tree / "usr/lib/millrace" / name)
    (tree / "usr/bin").mkdir(parents=True)
    (tree / "usr/bin/millrace").symlink_to("../lib/millrace/millrace")
    install(HERE / "millrace@.service", tree / "usr/lib/systemd/system/millrace@.service", 0o644)
    for name in CONFIGURATION:
        install(HERE / name, tree / "etc/millrace" / name, 0o644)
    write_documents(tree / "usr/share/doc/millrace")
    program = tree / "usr/lib/millrace/millrace"
    write_manual(program, tree / "usr/share/man/man1")
    write_completion(program, tree / "usr/share/bash-completion/completions/millrace")


def write_control(tree):
    control = tree / "DEBIAN"
    control.mkdir()
    kib = sum(path.stat().st_size for path in tree.rglob("*") if path.is_file()) // 1024
    programs = [tree / "usr/lib/millrace" / name for name in PROGRAMS]
    (control / "control").write_text(
        f"""Package: millrace
Version: {version()}
Architecture: {output_of("dpkg", "--print-architecture").strip()}
Maintainer: {MAINTAINER}
Installed-Size: {kib}
Depends: {", ".join(dependencies(programs))}
Recommends: ethtool, iproute2
Section: net
Priority: optional
Description: middlebox made of processes
 Packets go in batches through functions (route, match, acl) that run in
 processes of their own, on CPUs and GPUs. A process that dies costs what it
 had in hand, is started again, and every packet is accounted for.
""", encoding="utf-8")
    (control / "conffiles").write_text(
        "".join(f"/etc/millrace/{name}\n" for name in CONFIGURATION), encoding="utf-8")
    for name in ("postinst", "prerm", "postrm"):
        install(HERE / name, control / name, 0o755)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build/deb")
    options = parser.parse_args()
    tree = options.out / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True, mode=0o755)
    fill(tree, options.bin.resolve())
    write_control(tree)
    for path in tree.rglob("*"):
        if path.is_dir():
            path.chmod(0o755)
    package = options.out / "millrace.deb"
    output_of("dpkg-deb", "--root-owner-group", "-Zxz", "-z1", "--build", tree, package)
    print(package)


if __name__ == "__main__":
    main()
