// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "io-worker/ports/port.hpp"

/// Device `generate`: Ethernet, IPv4 and UDP, or TCP SYNs, made on the spot. Settings: README.md.

namespace millrace {

inline constexpr std::uint32_t kGenerateSizeMin = 60;  ///< bytes without FCS
inline constexpr std::uint32_t kGenerateSizeCountMax = 16;
inline constexpr std::uint32_t kGenerateDestinationCountMax = 256;
inline constexpr std::uint32_t kGenerateSourceCountMax = 1 << 17;  ///< 198.18.0.0/15 (RFC 2544)
inline constexpr std::uint32_t kGenerateSourcePortFirst = 1024;
/// A source address has flows of as many source ports.
inline constexpr std::uint32_t kGenerateSourcePortCount = 65536 - kGenerateSourcePortFirst;

/// An IPv4 prefix: `address` with all host bits zero, `host_mask` with all of them one.
struct Ipv4Prefix {
  std::uint32_t address = 0;
  std::uint32_t host_mask = 0;
};

struct GenerateSettings {
  std::vector<std::uint64_t> sizes;  ///< bytes without FCS; which one a packet has is random
  std::uint64_t flows = 0;
  std::uint64_t sources = 0;  ///< addresses that packets come from
  bool syn = false;  ///< each packet a TCP SYN with random source, destination, ports and number
  std::uint64_t seed = 0;
  std::uint64_t count = 0;  ///< packets of each queue; 0: endless
  double rate_mpps = 0;     ///< of each queue; 0: as fast as they are taken
  bool numbered = false;
  std::uint32_t stream = 0;  ///< number in numbered packets; queue q has stream + q
  std::uint32_t queues = 0;
  std::vector<Ipv4Prefix> destinations;
};

/// Throws Error for a bad setting.
GenerateSettings generate_settings(const PlanPort& port);
void check_generate(const PlanPort& port);
PortQueues generate_queues(const PlanPort& port);

/// Packet `ordinal` of a queue is a function of seed, queue and ordinal (and the time, when
/// numbered), so a later life goes on exactly. Throws Error when a size does not fit the buffers.
std::unique_ptr<RxQueue> open_generate_rx(const PlanPort& port, std::uint32_t queue,
                                          const BufferSource& pool, bool restarted);

}  // namespace millrace
