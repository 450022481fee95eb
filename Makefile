# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
.DEFAULT_GOAL := help
SHELL := /bin/bash
JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 60
NAME ?=
STRESS ?= --runs 1 --busy 2 --freeze 20 unit pipeline dashboards crash

configure = cmake -S . -B build/$(1) -G Ninja $(2)
compile = cmake --build build/$(1) -j $(JOBS)

.PHONY: help deps build run monitor test soak stress test-dashboards
.PHONY: check nvcc-check bench deb bundle asan tsan fuzz new-function undo clean

help: ## this list
	@echo "Millrace: a middlebox made of processes. Start with 'make run'."
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' Makefile
	@echo
	@echo "Variables: JOBS=$(JOBS) (compilers at a time), FUZZ_SECONDS=60"
	@echo "new-function: NAME=x, KIND=batch (the default) or packet"
	@echo "A bare Debian 12 with git, make and root or sudo is enough. Executables: build/release/bin"

deps: ## install what is missing: Debian packages, a Python environment, nvcc
	@orchestration/host/deps.sh

build: deps ## build/release/bin
	@$(call configure,release) >build/configure.log || { cat build/configure.log; exit 1; }
	@$(call compile,release)

run: deps ## the demonstration: curl, iperf3 through a router, a worker is killed; KEEP=1 stays
	@$(call configure,release) >build/configure.log || { cat build/configure.log; exit 1; }
	@$(call compile,release) --target programs
	@orchestration/host/demo.sh

monitor: deps ## Prometheus, and Grafana if installed, on what runs; DETACH=1 leaves them up
	@python3 dashboards/monitor.py $(if $(DETACH),--detach)

test: deps ## everything that can be tested on this machine
	@JOBS=$(JOBS) tests/run.sh

soak: build ## kills, changes, mutations by new seeds for SOAK_SECONDS (3600); prints them
	@orchestration/host/hugepages.sh
	@tests/soak.sh

stress: build ## tests on a machine that is busy and stands still at times; STRESS=its options
	@orchestration/host/hugepages.sh
	@build/venv/bin/python tests/runner/stress.py $(STRESS)

test-dashboards: build ## GRAFANA=its home: the dashboards in a real Grafana of 10 or later
	@orchestration/host/hugepages.sh
	@build/venv/bin/python tests/dashboards/grafana_check.py $(GRAFANA)

check: deps ## format, clang-tidy, headers alone, layouts under nvcc, the rules of the tree
	@JOBS=$(JOBS) tests/check.sh

nvcc-check: deps ## all device code for sm_80, sm_90 and PTX; layouts under g++ and nvcc
	@$(call configure,release) >build/configure.log || { cat build/configure.log; exit 1; }
	@$(call compile,release) --target device_code
	@python3 tests/tidy/compile.py layouts build/release

bench: build ## measure this machine
	@python3 tests/bench/run.py
	@python3 tests/bench/router.py
	@python3 tests/bench/stateful.py
	@python3 tests/bench/dpdk.py

deb: build ## build/deb/millrace.deb: programs, systemd unit, default topology, manual, completion
	@python3 orchestration/deploy/debian/build.py

bundle: deps ## build/bundle/millrace-bundle.tar.xz: runs on a bare machine
	@JOBS=$(JOBS) orchestration/host/bundle.sh

asan: deps ## build/asan: address and undefined-behaviour sanitizers, then the tests
	@$(call configure,asan,-DMILLRACE_SANITIZE=address) >build/configure.log || \
		{ cat build/configure.log; exit 1; }
	@$(call compile,asan)
	@orchestration/host/hugepages.sh
	@ctest --test-dir build/asan --output-on-failure --no-tests=error

tsan: deps ## build/tsan: thread sanitizer, then the tests
	@$(call configure,tsan,-DMILLRACE_SANITIZE=thread) >build/configure.log || \
		{ cat build/configure.log; exit 1; }
	@$(call compile,tsan)
	@orchestration/host/hugepages.sh
	@setarch -R ctest --test-dir build/tsan --output-on-failure --no-tests=error

fuzz: deps ## every parser for FUZZ_SECONDS under libFuzzer
	@JOBS=$(JOBS) FUZZ_SECONDS=$(FUZZ_SECONDS) tests/fuzz/run.sh

new-function: ## NAME=x [KIND=packet]: the folder of a new network function, ready to compile
	@test -n "$(NAME)" || { echo "make new-function NAME=x: NAME is missing" >&2; exit 2; }
	@python3 orchestration/host/new_function.py "$(NAME)" "$(or $(KIND),batch)"

undo: ## give back what runs took from this host: hugepages, files of dead runs
	@orchestration/host/undo.sh

clean: ## remove build/ except the Python environment
	@if [ -d build ]; then find build -mindepth 1 -maxdepth 1 ! -name venv -exec rm -rf {} +; fi
