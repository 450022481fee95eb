// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rte_fib.h>
#include <rte_memory.h>

#include <cstdint>
#include <fstream>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "services/functions/builder/private_eal.hpp"
#include "services/functions/route/route_text.hpp"
#include "shared/base/error.hpp"

/// IPv4 prefixes, addresses in them, and rte_fib with them: what `route` is measured beside.

namespace millrace {

struct FibPrefix {
  std::uint32_t address = 0;  ///< host byte order
  std::uint8_t length = 0;    ///< bits
};

/// `count` (at most 2^22) different /24 networks of 128.0.0.0/2.
inline std::vector<FibPrefix> made_prefixes(std::size_t count) {
  std::vector<FibPrefix> all(count);
  for (std::size_t i = 0; i < count; ++i) {
    // An odd factor permutes the 2^22 networks.
    all[i] = {0x80000000u | static_cast<std::uint32_t>(i * 2'654'435u & 0x3fffff) << 8, 24};
  }
  return all;
}

/// Those of IPv4 that may be routed, of a file of prefixes or of a route table: the first word of a
/// line counts. Throws Error.
inline std::vector<FibPrefix> read_prefixes(const std::string& path) {
  std::ifstream file(path);
  std::vector<FibPrefix> all;
  std::string reason;
  for (std::string line; std::getline(file, line);) {
    line.resize(std::min(line.size(), line.find_first_of(" \t\r#")));
    line += " drop";
    RouteLine route;
    if (parse_route_line(line, route, reason) != RouteLineKind::kRoute || route.is_ipv6) continue;
    all.push_back({route.prefix, route.length});
  }
  if (all.empty()) throw Error(path + " holds no prefix of IPv4");
  return all;
}

/// A route table of them, to `port`, with 80 next hops.
inline std::string routes_text(std::span<const FibPrefix> prefixes, const std::string& port) {
  std::string text;
  for (std::size_t i = 0; i < prefixes.size(); ++i) {
    text += ipv4_text(prefixes[i].address) + "/" + std::to_string(prefixes[i].length) + " " + port +
            " 02:00:00:00:00:" + std::to_string(10 + i % 80) + "\n";
  }
  return text;
}

/// Random ones of random prefixes; none that may not be routed.
inline std::vector<std::uint32_t> addresses_in(std::span<const FibPrefix> prefixes,
                                               std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::uint32_t> addresses;
  while (addresses.size() < count) {
    const FibPrefix& prefix = prefixes[random() % prefixes.size()];
    const auto host = static_cast<std::uint32_t>(0xffffffffull >> prefix.length);
    const std::uint32_t address = prefix.address | (static_cast<std::uint32_t>(random()) & host);
    if (!never_routed(address)) addresses.push_back(address);
  }
  return addresses;
}

/// An rte_fib of DIR-24-8 with entries of 4 bytes. Throws Error.
class Fib {
 public:
  explicit Fib(std::span<const FibPrefix> prefixes) {
    start_private_eal();
    rte_fib_conf conf{};
    conf.type = RTE_FIB_DIR24_8;
    conf.max_routes = static_cast<int>(2 * prefixes.size() + 16);
    conf.dir24_8.nh_sz = RTE_FIB_DIR24_8_4B;
    conf.dir24_8.num_tbl8 = 1 << 15;
    fib_ = rte_fib_create("bench", SOCKET_ID_ANY, &conf);
    if (fib_ == nullptr) throw Error("rte_fib_create failed");
    for (std::size_t i = 0; i < prefixes.size(); ++i) {
      if (rte_fib_add(fib_, prefixes[i].address, prefixes[i].length, 1 + i % 80) == 0) continue;
      rte_fib_free(fib_);
      throw Error("rte_fib_add failed");
    }
  }
  Fib(const Fib&) = delete;
  Fib& operator=(const Fib&) = delete;
  ~Fib() { rte_fib_free(fib_); }

  void look_up(std::span<std::uint32_t> addresses, std::span<std::uint64_t> hops) const {
    rte_fib_lookup_bulk(fib_, addresses.data(), hops.data(), static_cast<int>(addresses.size()));
  }

 private:
  rte_fib* fib_ = nullptr;
};

}  // namespace millrace
