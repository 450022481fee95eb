// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/driver/eal.hpp"

#include <pthread.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <sched.h>

#include <string>
#include <vector>

#include "shared/base/error.hpp"
#include "shared/base/huge_pages.hpp"
#include "shared/base/run_words.hpp"
#include "shared/driver/buffer_handler.hpp"
#include "shared/driver/port_args.hpp"
#include "shared/layout/mapping.hpp"

namespace millrace {
namespace {

constexpr std::uint64_t kPrimaryPages = 8;  ///< huge pages that EAL takes for its own tables

int first_of(const cpu_set_t& cpus) {
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &cpus)) return cpu;
  }
  throw Error("this process may run on no CPU");
}

void refuse_without_pages(const Plan& plan) {
  const HugePages pages = huge_pages().value_or(HugePages{});
  const std::uint64_t wanted = kPrimaryPages + (send_cache_bytes(plan) + kHugePage - 1) / kHugePage;
  if (pages.free >= wanted && pages.allowed >= wanted) return;
  throw Error("DPDK needs huge pages for itself: " + too_few_huge_pages(pages, wanted));
}

std::string folder_of_pages() {
  if (const auto mount = huge_mount()) return mount->folder;
  throw Error(
      "DPDK's drivers want a hugetlbfs with 2 MB pages, none is mounted; mend: mkdir -p "
      "/dev/hugepages && mount -t hugetlbfs -o pagesize=2M none /dev/hugepages");
}

std::vector<std::string> words_for(const Plan& plan, std::uint32_t actor, int cpu) {
  const bool primary = plan.actors[actor].kind == ActorKind::kHub;
  std::vector<std::string> words = {
      "millrace",       primary ? "--proc-type=primary" : "--proc-type=secondary",
      "--file-prefix",  dpdk_prefix(plan.name),
      "--huge-dir",     folder_of_pages(),
      "--lcores",       std::to_string(actor) + "@" + std::to_string(cpu),
      "--iova-mode=va", "--log-level",
      "error"};
  // dpdk-telemetry.py and the like ask the primary, which knows all ports.
  if (!primary) words.emplace_back("--no-telemetry");
  bool pci = false;
  for (const PlanPort& port : plan.ports) {
    if (!is_dpdk(port)) continue;
    const PortArgs args = port_args(port);
    if (args.virtual_device) continue;
    pci = true;
    words.insert(words.end(), {"-a", args.devargs});
  }
  if (!pci) words.emplace_back("--no-pci");
  return words;
}

}  // namespace

Eal::Eal(const Plan& plan, std::uint32_t actor, const std::string& run_dir)
    : primary_(plan.actors[actor].kind == ActorKind::kHub) {
  if (primary_) refuse_without_pages(plan);
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (const int error = pthread_getaffinity_np(pthread_self(), sizeof allowed, &allowed)) {
    throw system_error("read the CPU affinity", error);
  }
  std::vector<std::string> words = words_for(plan, actor, first_of(allowed));
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  const int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  const int result = rte_eal_init(count, arguments.data());
  const int error = rte_errno;
  pthread_setaffinity_np(pthread_self(), sizeof allowed, &allowed);
  if (result >= 0) return;
  const std::string what = std::string("start DPDK: ") + rte_strerror(error);
  if (!primary_) {
    const std::string run = words_for_run(plan.name, run_dir);
    throw Error(what + "; the hub is its primary process: is it alive? millrace status " + run +
                "; without it the topology wants a planned restart: millrace down " + run);
  }
  throw Error(what + "; left behind by a killed run: rm -r /var/run/dpdk/" +
              dpdk_prefix(plan.name) + "; its own words are above");
}

Eal::~Eal() {
  if (primary_) rte_eal_cleanup();
}

}  // namespace millrace
