# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that run a compiler: clang-tidy on every source, every header alone, layouts under nvcc.

    compile.py lint|headers|layouts BUILD_DIRECTORY

What passed is remembered in MILLRACE_CACHE (~/.cache/millrace) with the hash of all that went in:
sources, command, compiler, the packages of this machine. So a second run looks only at what
changed, also in another clone. Exit 1 when something failed. JOBS: how many compilers at a time.
"""

import concurrent.futures
import dataclasses
import functools
import hashlib
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("shared", "io-worker", "services", "gpu-worker", "orchestration", "tests")
NOISE = (" warnings generated.", " warning generated.", "Suppressed ", "Use -header-filter=")


@dataclasses.dataclass(frozen=True)
class Job:
    """One run of a compiler."""

    name: str  # for people
    command: tuple  # what is run in ROOT; passes with status 0
    listing: tuple  # a command that prints a make rule with the files that are read
    text: str = ""  # standard input of both
    config: str = ""  # a file of ROOT that the result depends on too


def commands(build):
    """(source relative to ROOT, compiler arguments without output) of each source of the tree."""
    seen = set()
    for entry in json.loads((build / "compile_commands.json").read_text()):
        source = pathlib.Path(entry["file"]).resolve()
        if not source.is_relative_to(ROOT) or source.is_relative_to(build) or source in seen:
            continue
        seen.add(source)
        words = shlex.split(entry["command"])
        launcher = [at for at, word in enumerate(words) if word.endswith("ccache")]
        words = words[launcher[0] + 1:] if launcher else words
        if "-o" in words:
            at = words.index("-o")
            words = words[:at] + words[at + 2:]
        yield source.relative_to(ROOT), [w for w in words if w not in ("-c", entry["file"])]


def union_of_includes(build):
    """Every include path and forced include that some source is compiled with, in order."""
    found = []
    for _, words in commands(build):
        items = iter(words[1:])
        for word in items:
            option = (word,)
            if word in ("-isystem", "-include"):
                option = (word, next(items))
            elif not word.startswith(("-I", "-D", "-std=", "-march=", "-W")):
                continue
            if option not in found:
                found.append(option)
    return [word for option in found for word in option]


def files(*suffixes):
    """Files of the tree's source folders with one of the suffixes, relative to ROOT."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.name.endswith(suffixes):
                yield path.relative_to(ROOT)


@functools.cache
def version(program):
    return subprocess.run([program, "--version"], capture_output=True, text=True).stdout


@functools.cache
def packages():
    """Headers of the system belong to packages, or to the Python environment (CUDA)."""
    listing = subprocess.run(["dpkg-query", "-W"], capture_output=True, text=True).stdout
    wheels = sorted(path.name for path in ROOT.glob("build/venv/lib/python3*/site-packages/*info"))
    return listing + "\n".join(wheels)


def memory():
    """A folder that outlives the clone."""
    home = os.environ.get("MILLRACE_CACHE") or pathlib.Path.home() / ".cache/millrace"
    return Memory(pathlib.Path(home) / "checked")


class Memory:
    """What passed: for each job a file with the names it read and the hash of all that went in."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def anywhere(self, words):
        """What is the same in each clone of the tree."""
        return repr(words).replace(str(ROOT), "")

    def path(self, job):
        words = self.anywhere((job.name, job.command))
        return self.folder / hashlib.sha256(words.encode()).hexdigest()

    def digest(self, job, names):
        outside = version(job.command[0]) + packages()
        digest = hashlib.sha256((self.anywhere(job) + outside).encode())
        for name in [*names, job.config] if job.config else names:
            digest.update(f"\0{name}\0".encode() + (ROOT / name).read_bytes())
        return digest.hexdigest()

    def passed(self, job):
        try:
            digest, *names = self.path(job).read_text().split("\n")
            return digest == self.digest(job, names)
        except OSError:  # never run, or a file that it read is gone
            return False

    def reads(self, job):
        """Files of the tree that the job reads; None where the compiler cannot say."""
        listing = subprocess.run(job.listing, input=job.text, capture_output=True, text=True,
                                 cwd=ROOT)
        if listing.returncode != 0:
            return None
        names = {pathlib.Path(os.path.normpath(ROOT / name))
                 for name in listing.stdout.replace("\\\n", " ").split()[1:]}
        return sorted(str(name.relative_to(ROOT)) for name in names
                      if name.is_relative_to(ROOT) and name.is_file())

    def run(self, job):
        """(status, output) of the job, or of the memory of it. Only what passed is remembered."""
        if self.passed(job):
            return 0, ""
        names = self.reads(job)
        digest = names and self.digest(job, names)  # before: an edit meanwhile is looked at again
        done = subprocess.run(job.command, input=job.text, capture_output=True, text=True, cwd=ROOT)
        if digest and done.returncode == 0:
            self.path(job).write_text("\n".join([digest, *names]))
        killed = f"ended by signal {-done.returncode}\n" if done.returncode < 0 else ""
        return done.returncode, killed + done.stdout + done.stderr


def run_all(jobs, memory):
    """Runs the jobs; prints what failed; True if nothing did. No job is a failure too."""
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
        for job, (status, output) in zip(jobs, pool.map(memory.run, jobs)):
            if status != 0:
                failed += 1
                lines = [line for line in output.split("\n") if not any(n in line for n in NOISE)]
                print(f"{job.name}: FAILED", *lines, sep="\n")
    print(f"{len(jobs) - failed} passed, {failed} failed")
    return failed == 0 and bool(jobs)


def lint(build):
    """clang-tidy on every source but the tests, and on the headers that they include."""
    jobs = []
    for source, words in commands(build):
        if source.parts[0] != "tests":
            tidy = ("clang-tidy", "--quiet", str(source), "--", *words[1:])
            jobs.append(Job(str(source), tidy, (*words, "-MM", str(source)), config=".clang-tidy"))
    return run_all(jobs, memory())


def headers(build):
    """Every header compiles alone, with the include paths of the build."""
    options = union_of_includes(build)
    with_cuda = any("cu13" in word or "cuda" in word for word in options)
    jobs = []
    for name in files(".hpp"):
        if name.is_relative_to("gpu-worker/cuda") and not with_cuda:
            print(f"{name}: skipped, this build has no CUDA headers")
            continue
        compiler = ("g++", *options, f"-I{ROOT}", "-x", "c++", "-")
        jobs.append(Job(str(name), (*compiler, "-fsyntax-only"), (*compiler, "-MM"),
                        f'#include "{name}"\n'))
    return run_all(jobs, memory())


def find_nvcc():
    """nvcc of a toolkit or of the Python environment, or None."""
    wheels = ROOT.glob("build/venv/lib/python3*/site-packages/nvidia/cu13/bin/nvcc")
    for path in (shutil.which("nvcc"), "/usr/local/cuda/bin/nvcc", *wheels):
        if path and pathlib.Path(path).exists():
            return str(path)
    return None


def layouts(build):
    """Every .cu compiles under nvcc. *_layout_check.cu compile under g++ too: what one of the two
    lays out differently fails an assert there."""
    warnings = ("-Wall", "-Wextra", "-Wno-missing-field-initializers")
    jobs = []
    for name in files("_layout_check.cu"):
        compiler = ("g++", "-std=c++20", *warnings, "-Werror", f"-I{ROOT}", "-x", "c++", str(name))
        jobs.append(Job(f"{name} (g++)", (*compiler, "-fsyntax-only"), (*compiler, "-MM")))
    nvcc = find_nvcc()
    if nvcc is None:
        print("nvcc: skipped, there is none on this machine ('make deps' brings one)")
    for name in files(".cu") if nvcc else ():
        compiler = (nvcc, "-std=c++20", "-arch=compute_90", "--expt-relaxed-constexpr",
                    "-I", str(ROOT), "-ccbin", "g++", "-Werror", "all-warnings",
                    "-Xcompiler=" + ",".join(warnings), str(name))
        jobs.append(Job(f"{name} (nvcc)", (*compiler, "-ptx", "-o", "/dev/null"),
                        (*compiler, "-MM")))
    return run_all(jobs, memory())


def main():
    check = {"lint": lint, "headers": headers, "layouts": layouts}[sys.argv[1]]
    sys.exit(0 if check(pathlib.Path(sys.argv[2]).resolve()) else 1)


if __name__ == "__main__":
    main()
