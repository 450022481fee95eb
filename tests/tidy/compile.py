# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that run a compiler: clang-tidy on every source, every header alone, layouts under nvcc.

    compile.py lint|headers|layouts BUILD_DIRECTORY

What passed is remembered in BUILD_DIRECTORY/checked by the hash of everything that went in, so a
second run looks only at what changed. Exit 1 when something failed.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("shared", "io-worker", "services", "gpu-worker", "orchestration")


def commands(build):
    """(source relative to ROOT, compiler arguments without output) of the sources of the tree."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        source = pathlib.Path(entry["file"]).resolve()
        if not source.is_relative_to(ROOT) or source.is_relative_to(build):
            continue
        words = shlex.split(entry["command"])
        if "ccache" in words[0]:
            words = words[1:]
        if "-o" in words:
            at = words.index("-o")
            words = words[:at] + words[at + 2:]
        yield source.relative_to(ROOT), [w for w in words if w not in ("-c", entry["file"])]


def union_of_includes(build):
    """Every include path and forced include that some source is compiled with, in order."""
    found = []
    for source, words in commands(build):
        if source.parts[0] == "tests":
            continue
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


def fingerprint(words, text):
    """Hash of a job: its command and the text of every file of the tree that it reads.

    None where the dependencies cannot be found; such a job is always run."""
    listing = subprocess.run([*words, "-MM"], input=text, capture_output=True,
                             text=True, cwd=ROOT)
    if listing.returncode != 0:
        return None
    digest = hashlib.sha256(repr((words, text)).encode())
    digest.update((ROOT / ".clang-tidy").read_bytes())
    for name in sorted(set(listing.stdout.replace("\\\n", " ").split()[1:])):
        if (ROOT / name).is_file():
            digest.update((ROOT / name).read_bytes())
    return digest.hexdigest()


def run_all(jobs, memory):
    """Runs (name, fingerprint words, command, stdin) jobs; prints failures; True if none failed."""
    memory.mkdir(parents=True, exist_ok=True)

    def one(job):
        name, words, command, text = job
        key = fingerprint(words, text)
        if key and (memory / key).exists():
            return name, 0, ""
        done = subprocess.run(command, input=text, capture_output=True, text=True, cwd=ROOT)
        if key and done.returncode == 0:
            (memory / key).touch()
        return name, done.returncode, done.stdout + done.stderr

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
        for name, status, output in pool.map(one, jobs):
            if status != 0:
                failed += 1
                print(f"{name}: FAILED\n{output}")
    print(f"{len(jobs) - failed} passed, {failed} failed")
    return failed == 0


def lint(build):
    """clang-tidy on every source but the tests."""
    jobs = []
    for source, words in commands(build):
        if source.parts[0] != "tests":
            tidy = ["clang-tidy", "--quiet", "-p", str(build), str(ROOT / source)]
            jobs.append((str(source), [*words, str(source)], tidy, ""))
    return run_all(jobs, build / "checked")


def header_job(name, compiler):
    """A job that compiles one header alone."""
    return str(name), compiler, [*compiler, "-fsyntax-only"], f'#include "{name}"\n'


def headers(build):
    """Every header compiles alone, with the include paths of the build."""
    options = union_of_includes(build)
    with_cuda = any("cu13" in word or "cuda" in word for word in options)
    jobs = []
    for name in files(".hpp"):
        if name.is_relative_to("gpu-worker/cuda") and not with_cuda:
            print(f"{name}: skipped, this build has no CUDA headers")
            continue
        jobs.append(header_job(name, ["g++", *options, f"-I{ROOT}", "-x", "c++", "-"]))
    return run_all(jobs, build / "checked")


def find_nvcc():
    """nvcc of a toolkit or of the Python environment, or None."""
    wheels = ROOT.glob("build/venv/lib/python3*/site-packages/nvidia/cu13/bin/nvcc")
    for path in (shutil.which("nvcc"), "/usr/local/cuda/bin/nvcc", *wheels):
        if path and pathlib.Path(path).exists():
            return str(path)
    return None


def layouts(build):
    """Every .cu compiles under nvcc: layout checks assert there what g++ asserted."""
    nvcc = find_nvcc()
    if nvcc is None:
        print("skipped: no nvcc on this machine ('make deps' brings one)")
        return True
    options = ["-std=c++20", "-arch=compute_90", "-I", str(ROOT), "-ccbin", "g++", "-Werror",
               "all-warnings", "-Xcompiler=-Wall,-Wextra,-Wno-missing-field-initializers"]
    jobs = []
    for name in files(".cu"):
        words = [nvcc, *options, str(name)]
        jobs.append((str(name), words, [*words, "-ptx", "-o", "/dev/null"], ""))
    return run_all(jobs, build / "checked")


def main():
    check = {"lint": lint, "headers": headers, "layouts": layouts}[sys.argv[1]]
    sys.exit(0 if check(pathlib.Path(sys.argv[2]).resolve()) else 1)


if __name__ == "__main__":
    main()
