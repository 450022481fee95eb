# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Banned calls, owners and do_work."""

import pytest

from bans import banned_calls, do_work, freed_by_owner, read_by_builders
from source import File


def findings(rule, text, path="services/a.cpp"):
    return [finding.message for finding in rule(File(path, text))]


@pytest.mark.parametrize("text, replacement", [
    ("strcpy(a, b);", "std::string"), ("sprintf(a, b);", "snprintf"), ("atoi(a);", "from_chars"),
    ("int x = rand();", "mt19937_64"), ("system(a);", "posix_spawn"), ("alloca(8);", "array"),
    ("assert(x);", "CHECK"), ("out << std::endl;", "'\\n'"), ("std::regex r;", "from_chars"),
    ("std::map<Actor*, int> m;", "index"), ("volatile int x;", "std::atomic"),
    ("using namespace std;", "using-declaration"), ("goto end;", "early return"),
    ("signal(SIGINT, f);", "sigaction"), ("localtime(&t);", "_r"), ("mktemp(a);", "mkstemp"),
    ("vfork();", "posix_spawn"), ("rte_panic(a);", "CHECK"), ("thread.detach();", "jthread"),
    ("pthread_cancel(t);", "stop flag"), ("auto* p = new Actor;", "make_unique"),
    ("delete p;", "owner"), ("delete[] p;", "owner"), ("malloc(8);", "std::vector"),
    ("check_cuda(cudaMalloc(&p, 8));", "gpu-worker/cuda"),
    ("check_cuda(cudaHostAlloc(&p, 8, 0));", "gpu-worker/cuda"),
    ("std::cout << 1;", "logger")])
def test_a_banned_call_fails_with_its_replacement_named(text, replacement):
    messages = findings(banned_calls, f"void f() {{ {text} }}")
    assert len(messages) == 1 and replacement in messages[0]


@pytest.mark.parametrize("text", [
    "snprintf(a, 3, b);", "static_assert(x);", "void f() = delete;", "new (place) Actor(1);",
    "brand();", "my_system(1);", "// goto, strcpy(a, b)", 'log("system(1)");', "sigaction(1);",
    "Actor& operator=(const Actor&) = delete;", "std::map<std::string, int> m;",
    "subsystem(1);", "renew(a);", "child.signal(9);", "signal(SIGPIPE, SIG_IGN);",
    "operator delete[](memory);", "delete_module(name);"])
def test_what_looks_similar_is_allowed(text):
    assert findings(banned_calls, text) == []


@pytest.mark.parametrize("call, replacement", [
    ("cudaFree(p)", "cudaFreeAsync"), ("cuMemFree(p)", "cudaFreeAsync"),
    ("cudaHostUnregister(p)", "host_memory"), ("cudaFreeHost(p)", "host_memory"),
    ("cudaDeviceSynchronize()", "cudaStreamSynchronize"), ("cuCtxSynchronize()", "Stream"),
    ("cudaDeviceReset()", "end of the process"), ("cudaMemPoolTrimTo(p, 0)", "end of the process"),
    ("cuModuleUnload(m)", "end of the process"),
    ("cudaMemcpy(a, b, 8, kind)", "Async"), ("cudaMemset(a, 0, 8)", "Async"),
    ("cudaMemcpyToSymbol(a, b, 8)", "Async"), ("cudaStreamCreate(&s)", "make_stream"),
    ("cudaMemsetAsync(a, 0, 8, cudaStreamLegacy)", "make_stream")])
@pytest.mark.parametrize("path", ["gpu-worker/cuda/gpu.cpp", "tests/gpu/a_test.cpp"])
def test_what_hangs_beside_a_resident_kernel_is_banned_everywhere(call, replacement, path):
    messages = findings(banned_calls, f"void f() {{ check_cuda({call}); }}", path)
    assert len(messages) == 1 and replacement in messages[0]


@pytest.mark.parametrize("launch, count", [
    ("kernel<<<1, 2>>>(a)", 1), ("kernel<<<blocks, 2, bytes>>>(a)", 1),
    ("kernel<<<blocks, 2, sizeof(Block), stream>>>(a)", 0)])
def test_a_kernel_starts_on_a_stream_of_ones_own(launch, count):
    text = f"void f() {{ {launch}; }}"
    assert len(findings(banned_calls, text, "gpu-worker/resident/resident.cu")) == count


def test_there_is_one_kernel():
    text = "void f() { kernel<<<1, 2, 3, stream>>>(a); }"
    assert len(findings(banned_calls, text, "services/functions/acl/a.cu")) == 1


@pytest.mark.parametrize("text", [
    "void f() { cudaFreeAsync(p, s); }", "void f() {\n  g();\n  cudaEventRecord(e, s);\n}"])
def test_a_call_of_cuda_is_checked(text):
    messages = findings(banned_calls, text, "gpu-worker/cuda/gpu.cpp")
    assert len(messages) == 1 and "check_cuda" in messages[0]
    checked = text.replace("cuda", "check_cuda(cuda", 1).replace(");", "), a);", 1)
    assert findings(banned_calls, checked, "gpu-worker/cuda/gpu.cpp") == []


def test_the_owners_of_pinned_memory_may_give_it_back():
    text = "void f() { note_cuda(cudaHostUnregister(p), a); }"
    assert findings(banned_calls, text, "gpu-worker/cuda/host_memory.hpp") == []


def test_tests_may_allocate_and_print():
    assert findings(banned_calls, "int* p = new int; std::cout << 1;", "tests/unit/a.cpp") == []


def test_owners_of_device_memory_may_call_cuda():
    text = "check_cuda(cudaMallocAsync(&p, 8, s));"
    assert findings(banned_calls, text, "gpu-worker/cuda/pool.cpp") == []


def test_a_table_is_freed_where_it_is_created():
    assert findings(freed_by_owner, "void f() { rte_fib_free(x); }") != []
    assert findings(freed_by_owner, "auto x = rte_fib_create(); rte_fib_free(x);") == []


@pytest.mark.parametrize("text", [
    "throw 1;", "auto p = std::make_unique<int>(1);", "v.push_back(1);", "std::string s;",
    "std::lock_guard guard(m);", "spdlog::info(1);", "usleep(1);", "printf(a);"])
def test_do_work_neither_allocates_nor_locks_nor_logs_nor_throws(text):
    source = f"int Actor::do_work() noexcept {{\n  {text}\n}}\n"
    found = list(do_work(File("services/a.cpp", source)))
    assert [finding.line for finding in found] == [2]
    assert findings(do_work, f"int Actor::start() {{\n  {text}\n}}\n") == []


def test_do_work_is_noexcept():
    assert findings(do_work, "int A::do_work() { return 0; }") == ["do_work is not noexcept"]
    assert findings(do_work, "int A::do_work() noexcept { return 0; }") == []


def test_no_noexcept_function_throws():
    assert findings(do_work, "int f() noexcept { throw 1; }") != []
    assert findings(do_work, "int f() noexcept { try { g(); } catch (...) { return 1; } }") == []


@pytest.mark.parametrize("text, count", [
    ("void f() { std::ifstream in(path); }", 1), ("void f() { whole_file(path, 9); }", 1),
    ("void f() { ::open(path, 0); }", 1), ("Acl make_acl() { check_rule_files(f); }", 1),
    ("void build_acl() { read_rule_file(path); }", 0), ("void f() { reopen(path); }", 0),
    ("void check_acl() { check_rule_files(f); }", 0),
    ("RouteSet load_routes() { read_text_file(path, 9); }", 0)])
def test_a_function_reads_files_of_operators_in_its_builder_alone(text, count):
    assert len(findings(read_by_builders, text, "services/functions/acl/acl.cpp")) == count
    assert findings(read_by_builders, text, "services/functions/text_file.cpp") == []
    assert findings(read_by_builders, text, "services/hub/main.cpp") == []
