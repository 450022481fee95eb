// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// A filter of any text is compiled or refused at a place within it; what is compiled is sound and
// answers about any packet as libpcap does. The packet is what follows the first zero byte.

#include <pcap/pcap.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "orchestration/planner/filter.hpp"
#include "shared/base/check.hpp"
#include "shared/base/packet_filter.hpp"

namespace millrace {
namespace {

int read_one(const uint8_t* data, size_t size) {
  const std::span<const uint8_t> all(data, size);
  const auto end = std::find(all.begin(), all.end(), 0);
  const std::string text(all.begin(), end);
  const std::vector<uint8_t> packet(end == all.end() ? end : end + 1, all.end());
  FilterProblem problem;
  const auto filter = compile_filter(text, problem);
  if (!filter) {
    MILLRACE_CHECK(problem.at <= text.size() && !problem.found.empty());
    return 0;
  }
  MILLRACE_CHECK(is_sound_filter(filter->program));
  for (const FilterWarning& warning : filter->warnings) {
    MILLRACE_CHECK(warning.at <= text.size() && !warning.text.empty());
  }
  std::vector<bpf_insn> code;
  for (const std::uint64_t word : filter->program) {
    code.push_back({static_cast<u_short>(word >> 48), static_cast<u_char>(word >> 40),
                    static_cast<u_char>(word >> 32), static_cast<u_int>(word)});
  }
  const auto wire = static_cast<u_int>(packet.size());
  const bool theirs = bpf_filter(code.data(), packet.data(), wire, wire) != 0;
  MILLRACE_CHECK(filter_takes(filter->program, std::as_bytes(std::span(packet)), wire) == theirs);
  return 0;
}

}  // namespace
}  // namespace millrace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return millrace::read_one(data, size);
}
