# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Banned calls, owners and do_work."""

import pytest

from bans import banned_calls, do_work, freed_by_owner
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
    ("cudaMalloc(&p, 8);", "gpu-worker/cuda"), ("cudaDeviceSynchronize();", "Stream"),
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


def test_tests_may_allocate_and_print():
    assert findings(banned_calls, "int* p = new int; std::cout << 1;", "tests/unit/a.cpp") == []


def test_owners_of_device_memory_may_call_cuda():
    assert findings(banned_calls, "cudaMalloc(&p, 8);", "gpu-worker/cuda/pool.cpp") == []


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
