// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/builder/private_eal.hpp"

#include <pthread.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <sched.h>
#include <unistd.h>

#include <array>
#include <mutex>
#include <string>

#include "shared/base/error.hpp"

namespace millrace {
namespace {

/// MB of address space: the RIB of kPrefixCountMax prefixes and an rte_fib beside it.
constexpr const char* kMemoryMegabytes = "2048";

int first_of(const cpu_set_t& cpus) {
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &cpus)) return cpu;
  }
  throw Error("this process may run on no CPU");
}

void start() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (const int error = pthread_getaffinity_np(pthread_self(), sizeof allowed, &allowed)) {
    throw system_error("read the CPU affinity", error);
  }
  std::string core = "0@" + std::to_string(first_of(allowed));
  std::array<std::string, 14> words = {"millrace-builder",  "--no-shconf",
                                       "--no-huge",         "-m",
                                       kMemoryMegabytes,    "--no-pci",
                                       "--no-telemetry",    "--iova-mode=va",
                                       "--lcores",          core,
                                       "--log-level=error", "--force-max-simd-bitwidth=512",
                                       "--file-prefix",     "millrace-builder"};
  std::array<char*, words.size() + 1> arguments{};
  for (std::size_t i = 0; i < words.size(); ++i) arguments[i] = words[i].data();
  const int result = rte_eal_init(static_cast<int>(words.size()), arguments.data());
  pthread_setaffinity_np(pthread_self(), sizeof allowed, &allowed);
  if (result < 0) throw system_error("start a private EAL", rte_errno);
  // EAL makes this folder even for a process that keeps nothing in it.
  rmdir(rte_eal_get_runtime_dir());
}

}  // namespace

void start_private_eal() {
  static std::once_flag once;
  std::call_once(once, start);
}

}  // namespace millrace
