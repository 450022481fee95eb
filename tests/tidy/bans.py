# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Banned calls, each with what to write instead, and what stays out of do_work."""

import re

from functions import functions_of
from source import CPP, Finding

# (pattern in the bare text, what to use, paths where it is allowed)
BANNED = (
    (r"\b(?:strcpy|strcat|strncpy|strncat)\s*\(", "std::string or std::span", ()),
    (r"\b(?:v?sprintf|gets|strtok)\s*\(", "std::string, or snprintf with its result checked", ()),
    (r"\b(?:atoi|atol|atoll|atof)\s*\(", "std::from_chars, which tells errors", ()),
    (r"(?<![:\w.>])s?rand\s*\(", "std::mt19937_64 with a named seed", ()),
    (r"\balloca\s*\(", "a fixed array with a named limit", ()),
    (r"(?<![\w.>_])assert\s*\(", "CHECK (shared/base/check.hpp)", ()),
    (r"\bstd::endl\b", r"'\n'", ()),
    (r"\bstd::regex\b", "std::from_chars and string_view: std::regex recurses on input", ()),
    (r"\bstd::(?:list|map|set)\s*<[^>]*\*", "an index: pointers order by address", ()),
    (r"\bvolatile\b(?!\s*\()", "std::atomic", ("gpu-worker/", "shared/ring/")),
    (r"\busing\s+namespace\b", "a using-declaration or the full name", ()),
    (r"\bgoto\b", "an early return or an owner type", ()),
    (r"\bsignal\s*\(\s*SIG\w+\s*,\s*+(?!SIG_)", "sigaction or signalfd", ()),
    (r"\b(?:localtime|gmtime|ctime|asctime)\s*\(", "the _r variants", ()),
    (r"\bmktemp\s*\(", "mkstemp or memfd_create", ()),
    (r"\bvfork\s*\(", "posix_spawn", ()),
    (r"\brte_(?:exit|panic)\s*\(", "an Error at start, CHECK for a bug", ()),
    (r"\bstd::async\b|\.detach\s*\(\)", "std::jthread with an owner", ()),
    (r"\bpthread_cancel\b", "a stop flag that the thread reads", ()),
)
# What waits for a resident kernel, which never ends, and what it is waited for with. Everywhere but
# in the files that end after the kernel has.
BESIDE_A_KERNEL = (
    (r"\b(?:cudaFree|cudaFreeArray|cudaFreeMipmappedArray|cuMemFree(?:_v2)?)\s*\(",
     "cudaFreeAsync: it hangs beside a resident kernel", ()),
    (r"\b(?:cudaHostUnregister|cudaFreeHost|cuMemHostUnregister|cuMemFreeHost)\s*\(",
     "the owners of host_memory.hpp: it hangs beside a resident kernel",
     ("gpu-worker/cuda/host_memory.hpp",)),
    (r"\b(?:cuda(?:Device|Thread)Synchronize|cuCtxSynchronize)\s*\(",
     "cudaStreamSynchronize: it hangs beside a resident kernel", ()),
    (r"\b(?:cudaDeviceReset|cudaThreadExit|cudaDeviceSetLimit|cu(?:Module|Library)Unload"
     r"|cudaLibraryUnload|cuDevicePrimaryCtxReset(?:_v2)?|cudaMemPool(?:Destroy|TrimTo))\s*\(",
     "the end of the process: it waits for a resident kernel", ()),
    (r"\bcudaMem(?:cpy|set|cpyToSymbol|cpyFromSymbol|cpyPeer|cpy2D|cpy3D|set2D|set3D)\s*\(",
     "its Async form on a stream of one's own: the default stream waits for kernels", ()),
    (r"\bcudaStreamCreate(?:WithPriority)?\s*\(",
     "make_stream(): other streams wait for the default one", ()),
    (r"\bcudaStream(?:Legacy|PerThread)\b", "make_stream(): the default stream waits for kernels",
     ()),
    (r"<<<(?:[^,>]*,){0,2}[^,>]*>>>",
     "a stream as the fourth: the default stream waits for kernels", ()),
    (r"(?:^|[;{}])\s*cu(?:da)?[A-Z]\w*\s*\(", "check_cuda(), or note_cuda() where an owner ends",
     ("tests/bench/",)),
)
# Only in folders of the product: tests may do these.
BANNED_IN_PRODUCT = (
    (r"\b(?:system|popen)\s*\(", "posix_spawn with an argument list", ()),
    (r"\bnew\s+(?!\()[\w:]", "std::make_unique or an owner type", ()),
    (r"(?<!=)(?<!= )(?<!operator )\bdelete\b\s*(?:\[\s*\])?\s*[\w(*]", "an owner type", ()),
    (r"\b(?:malloc|calloc|realloc)\s*\(", "std::vector or an owner type", ()),
    (r"\bcuda(?:Malloc\w*|HostAlloc|HostRegister|FreeAsync|StreamDestroy)\s*\(",
     "the owners in gpu-worker/cuda/", ("gpu-worker/cuda/",)),
    (r"<<<", "functions.cuh: the first launch of another kernel hangs beside a resident one",
     ("gpu-worker/resident/resident.cu",)),
    (r"\bstd::c(?:out|err)\b", "the logger, or std::fputs in the CLI", ("orchestration/",)),
)
OWNED = re.compile(r"\brte_(fib6?|rib6?|acl|hash|mempool|lpm6?)_free\s*\(")

# A worker starts though operators' files are away, or are for the builder alone.
FUNCTIONS = "services/functions/"
READERS = tuple(FUNCTIONS + name for name in ("text_file.", "rule_files.", "image_file.",
                                              "ids/signature_names."))  # a builder's own file
OPENS = r"\bstd::ifstream\b|\bfopen\s*\(|::open\s*\(|\b(?:whole_file|open_regular_file)\s*\("
READS = re.compile(r"\b(?:read_text_file|read_rule_file|check_rule_files)\s*\(")
READING = ("build_", "check_", "load_")

# What do_work and all below it must not do.
SLOW = (
    (r"\bthrow\b", "throws"),
    (r"\bnew\s+(?!\()[\w:]|\bstd::make_(?:unique|shared)\b|\bmalloc\s*\(", "allocates"),
    (r"\.(?:push_back|emplace_back|resize|reserve|insert|emplace)\s*\(", "may allocate"),
    (r"\bstd::(?:string|vector|map|unordered_map|function|deque)\b\s*[<({\w]", "may allocate"),
    (r"\bstd::(?:lock_guard|unique_lock|scoped_lock|shared_lock)\b|\.lock\s*\(\)", "locks"),
    (r"\b(?:spdlog|fmt)::|\bf?printf\s*\(|\bstd::c(?:out|err)\b|\blog_\w+\s*\(", "logs"),
    (r"\b(?:sleep_for|sleep_until|usleep|nanosleep|sleep)\s*\(", "sleeps"),
)


def matches(file, pattern, allowed):
    if file.path.startswith(tuple(allowed)):
        return
    for match in re.finditer(pattern, file.bare):
        yield file.line_of(match.start()), match.group().strip(" (")


def banned_calls(file):
    if not file.path.endswith(CPP):
        return
    rules = BANNED + BESIDE_A_KERNEL + (BANNED_IN_PRODUCT if file.in_product else ())
    for pattern, instead, allowed in rules:
        for line, call in matches(file, pattern, allowed):
            yield Finding("banned", file.path, line, f"'{call}' is banned: use {instead}")


def freed_by_owner(file):
    """A DPDK table is freed in the file that creates it, by its owner type."""
    if not (file.path.endswith(CPP) and file.in_product):
        return
    for match in OWNED.finditer(file.bare):
        if not re.search(rf"\brte_{match.group(1)}_create", file.bare):
            yield Finding("owner", file.path, file.line_of(match.start()),
                          f"'{match.group()[:-1]}' outside its owner's file")


def do_work(file):
    """Nothing allocates, locks, logs or throws in do_work; no noexcept function throws."""
    if not (file.path.endswith(CPP) and file.in_product):
        return
    for function in functions_of(file):
        hot = function.name.split("::")[-1] == "do_work"
        if hot and "noexcept" not in function.head:
            yield Finding("do-work", file.path, function.first_line, "do_work is not noexcept")
        quiet = "noexcept" in function.head and "try" not in function.body
        for pattern, what in SLOW if hot else SLOW[:1] if quiet else ():
            for match in re.finditer(pattern, function.body):
                line = function.last_line - function.body.count("\n", match.start())
                yield Finding("do-work", file.path, line,
                              f"{function.name} {what}: '{match.group().strip(' (')}'")


def read_by_builders(file):
    """Rule and route files are read by one reader, in the builder's functions alone."""
    if not (file.path.startswith(FUNCTIONS) and file.path.endswith(CPP)):
        return
    for line, call in matches(file, OPENS, READERS):
        yield Finding("files", file.path, line, f"'{call}': use read_text_file, in the builder")
    if file.path.startswith(READERS):
        return
    for function in functions_of(file):
        if READS.search(function.body) and not function.name.startswith(READING):
            yield Finding("files", file.path, function.first_line,
                          f"{function.name} reads an operator's file; only the builder does: "
                          f"{', '.join(name + '...' for name in READING)}")


FILE_RULES = (banned_calls, freed_by_owner, do_work, read_by_builders)
