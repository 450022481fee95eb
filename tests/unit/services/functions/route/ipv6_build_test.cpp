// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The trie against oracles that share nothing with it: a linear search, DPDK's rte_fib6, and the
// expected next hops of the shared Internet table.

#include "services/functions/route/ipv6_build.hpp"

#include <gtest/gtest.h>
#include <rte_fib6.h>
#include <rte_memory.h>

#include <chrono>
#include <cstdlib>
#include <random>

#include "services/functions/builder/private_eal.hpp"
#include "tests/places.hpp"
#include "tests/unit/services/functions/route/route_fixture.hpp"

namespace millrace {
namespace {

namespace fs = std::filesystem;

struct Prefix {
  Ipv6Address address;
  std::uint32_t length;
  std::uint32_t hop;  ///< goes through the MAC address, so that no number of the table is an oracle
};

std::string text_of(const std::vector<Prefix>& prefixes) {
  std::string text;
  for (const Prefix& prefix : prefixes) {
    char mac[32];
    std::snprintf(mac, sizeof mac, "02:00:%02x:%02x:%02x:%02x", prefix.hop >> 24,
                  prefix.hop >> 16 & 255, prefix.hop >> 8 & 255, prefix.hop & 255);
    text += ipv6_text(prefix.address) + "/" + std::to_string(prefix.length) + " wan " + mac + "\n";
  }
  return text;
}

/// 0: no route; else what text_of() put in.
std::uint32_t hop_in(const BuiltRoutes& routes, Ipv6Address address) {
  const RouteHop& hop = routes.hop_of(address);
  if (hop.reason != 0) return 0;
  return std::uint32_t{hop.mac[2]} << 24 | hop.mac[3] << 16 | hop.mac[4] << 8 | hop.mac[5];
}

/// Bit by bit, from the left.
bool covers(const Prefix& prefix, Ipv6Address address) {
  for (std::uint32_t bit = 0; bit < prefix.length; ++bit) {
    const std::uint32_t both = prefix.address.byte(bit / 8) ^ address.byte(bit / 8);
    if ((both >> (7 - bit % 8) & 1) != 0) return false;
  }
  return true;
}

std::uint32_t linear_search(const std::vector<Prefix>& prefixes, Ipv6Address address) {
  const Prefix* best = nullptr;
  for (const Prefix& prefix : prefixes) {
    if (best != nullptr && prefix.length <= best->length) continue;
    if (covers(prefix, address)) best = &prefix;
  }
  return best == nullptr ? 0 : best->hop;
}

/// Prefixes of all lengths that nest and touch, in few networks so that they meet.
std::vector<Prefix> random_prefixes(std::mt19937_64& random, std::size_t count) {
  std::vector<Prefix> prefixes;
  Ipv6Rib seen;
  while (prefixes.size() < count) {
    const std::uint32_t length = random() % 4 == 0 ? 8 * (2 + random() % 15) : 4 + random() % 125;
    Ipv6Address near = {0x20010000'00000000 | (random() & 0x0303030303030303),
                        random() & 0x0303030303030303};
    if (!prefixes.empty() && random() % 2 == 0) near = prefixes[random() % prefixes.size()].address;
    near = {near.high ^ (random() & random() & random() & 0x00ffffff'ffffffff),
            near.low ^ (random() & random() & random())};
    const auto hop = static_cast<std::uint32_t>(1 + random() % 1'000'000);
    const Prefix prefix{near & ipv6_mask(length), length, hop};
    std::uint32_t first = 0;
    if (!seen.insert({prefix.address, static_cast<std::uint8_t>(length), 0}, 0, first)) continue;
    prefixes.push_back(prefix);
  }
  return prefixes;
}

/// An address at an edge of a prefix, or near one.
Ipv6Address random_address(std::mt19937_64& random, const std::vector<Prefix>& prefixes) {
  const Prefix& prefix = prefixes[random() % prefixes.size()];
  const Ipv6Address mask = ipv6_mask(prefix.length);
  const Ipv6Address noise = {random() & ~mask.high, random() & ~mask.low};
  const Ipv6Address in = {prefix.address.high | noise.high, prefix.address.low | noise.low};
  switch (random() % 4) {
    case 0:
      return prefix.address;
    case 1:
      return {prefix.address.high | ~mask.high, prefix.address.low | ~mask.low};
    case 2:
      return in;
    default: {
      const std::uint64_t bit = std::uint64_t{1} << random() % 64;
      return random() % 2 == 0 ? Ipv6Address{in.high ^ bit, in.low}
                               : Ipv6Address{in.high, in.low ^ bit};
    }
  }
}

TEST(Ipv6Lookup, EqualsALinearSearchOverRandomTables) {
  std::size_t found = 0;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 random(seed);
    const std::vector<Prefix> prefixes = random_prefixes(random, 1 + random() % 300);
    const BuiltRoutes routes(text_of(prefixes), {});
    ASSERT_EQ(routes.report().accepted, prefixes.size()) << routes.report().refusals[0];
    for (int i = 0; i < 10'000; ++i) {
      const Ipv6Address address = random_address(random, prefixes);
      const std::uint32_t expected = linear_search(prefixes, address);
      found += expected != 0 ? 1 : 0;
      ASSERT_EQ(hop_in(routes, address), expected) << ipv6_text(address) << ", seed " << seed;
    }
  }
  EXPECT_GT(found, 100'000u);
}

TEST(Ipv6Lookup, EachCountOfRunsOfANodeIsRight) {
  for (const std::uint32_t count : {1u, 2u, 5u, 6u, 7u, 63u, 64u, 65u, 128u, 255u, 256u}) {
    std::vector<Prefix> prefixes;
    for (std::uint64_t i = 0; i < count; ++i) {
      prefixes.push_back(
          {{0x20010d'00'00000000 | i << 32, 0}, 32, static_cast<std::uint32_t>(i) + 1});
    }
    const BuiltRoutes routes(text_of(prefixes), {});
    const Ipv6Node& node = routes.table().ipv6.nodes[0];
    EXPECT_EQ(node.more == 0, count + (count < 256 ? 1 : 0) <= kIpv6NodeEntries) << count;
    for (std::uint64_t i = 0; i < 256; ++i) {
      const Ipv6Address address = {0x20010d'00'00000000 | i << 32 | 0x1234, i};
      ASSERT_EQ(hop_in(routes, address), i < count ? i + 1 : 0) << i << " of " << count;
    }
  }
}

TEST(Ipv6Lookup, OneAddressTakesANodeForEachByteBehindTheFirstThree) {
  std::vector<Ipv6Route> routes = {{{0x20010db8'00000000, 1}, 128, 9}};
  const Ipv6Trie trie = build_ipv6_trie(routes);
  EXPECT_EQ(trie.nodes.size(), 13u);
  EXPECT_EQ(trie.runs.size(), 1u);
  ASSERT_EQ(trie.roots.size(), 1u);
  EXPECT_EQ(trie.roots[0].first, 0x20010du);
}

struct FreeFib {
  void operator()(rte_fib6* fib) const { rte_fib6_free(fib); }
};
using Fib = std::unique_ptr<rte_fib6, FreeFib>;
using Bytes = std::array<std::uint8_t, 16>;

Bytes bytes_of(Ipv6Address address) {
  Bytes bytes;
  for (std::uint32_t i = 0; i < 16; ++i) bytes[i] = static_cast<std::uint8_t>(address.byte(i));
  return bytes;
}

Fib make_fib(const std::vector<Prefix>& prefixes) {
  start_private_eal();
  rte_fib6_conf conf{};
  conf.type = RTE_FIB6_TRIE;
  conf.max_routes = static_cast<int>(2 * prefixes.size() + 16);
  conf.trie.nh_sz = RTE_FIB6_TRIE_4B;
  conf.trie.num_tbl8 = 1 << 19;  // it reserves far more than it takes
  Fib fib(rte_fib6_create("oracle6", SOCKET_ID_ANY, &conf));
  for (const Prefix& prefix : prefixes) {
    const Bytes bytes = bytes_of(prefix.address);
    const auto length = static_cast<std::uint8_t>(prefix.length);
    if (rte_fib6_add(fib.get(), bytes.data(), length, prefix.hop) != 0) return nullptr;
  }
  return fib;
}

std::uint64_t look_up(const Fib& fib, Ipv6Address address) {
  Bytes bytes = bytes_of(address);
  std::uint64_t hop = 0;
  rte_fib6_lookup_bulk(fib.get(), reinterpret_cast<std::uint8_t(*)[16]>(bytes.data()), &hop, 1);
  return hop;
}

TEST(Ipv6Lookup, EqualsRteFib6OverRandomAddresses) {
  std::mt19937_64 random(7);
  const std::vector<Prefix> prefixes = random_prefixes(random, 2000);
  const BuiltRoutes routes(text_of(prefixes), {});
  ASSERT_EQ(routes.report().accepted, prefixes.size()) << routes.report().refusals[0];
  const Fib fib = make_fib(prefixes);
  ASSERT_NE(fib, nullptr);
  for (int i = 0; i < 500'000; ++i) {
    const Ipv6Address address = random_address(random, prefixes);
    ASSERT_EQ(hop_in(routes, address), look_up(fib, address)) << ipv6_text(address);
  }
}

/// The Internet's table, where ../shared is; made readable by tar and gzip, not by our code.
class Ipv6InternetTable : public testing::Test {
 protected:
  void SetUp() override {
    const fs::path archive = test::shared_folder() / "data/routes.tar.xz";
    if (!fs::exists(archive)) GTEST_SKIP() << archive << " is not there";
    const std::string command = "tar -xJf " + archive.string() + " -C " + folder_.file("") +
                                " && gunzip " + folder_.file("routes/bgp-2024-ipv6*.gz");
    ASSERT_EQ(std::system(command.c_str()), 0);
    std::ifstream in(folder_.file("routes/bgp-2024-ipv6.txt"));
    std::string line;
    for (std::uint32_t number = 0; std::getline(in, line); ++number) {
      const std::size_t slash = line.find('/');
      prefixes_.push_back({ipv6(line.substr(0, slash).c_str()),
                           static_cast<std::uint32_t>(std::stoul(line.substr(slash + 1))),
                           number % 253 + 1});
    }
    ASSERT_EQ(prefixes_.size(), 160'147u);
  }

  RouteFolder folder_;
  std::vector<Prefix> prefixes_;
};

TEST_F(Ipv6InternetTable, BuildsInSecondsAndGivesTheExpectedNextHops) {
  const std::string text = text_of(prefixes_);
  const auto start = std::chrono::steady_clock::now();
  const BuiltRoutes routes(text, {});
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  RecordProperty("build_ms", static_cast<int>(seconds.count() * 1000));
  std::printf("built in %.2f s\n", seconds.count());
  EXPECT_LT(seconds.count(), 30) << "seconds, also with a sanitizer";
  ASSERT_EQ(routes.report().accepted, prefixes_.size());

  std::ifstream in(folder_.file("routes/bgp-2024-ipv6-lookups.tsv"));
  std::string address, longest, hop;
  std::size_t count = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("#")) continue;
    std::istringstream words(line);
    words >> address >> longest >> hop;
    const bool none = hop.find_first_not_of("0123456789") != std::string::npos || hop.empty();
    ASSERT_EQ(hop_in(routes, ipv6(address.c_str())), none ? 0 : std::stoul(hop)) << line;
    ++count;
  }
  EXPECT_EQ(count, 100'000u);
}

TEST_F(Ipv6InternetTable, EqualsRteFib6AndTakesLittleRoom) {
  const BuiltRoutes routes(text_of(prefixes_), {});
  const Fib fib = make_fib(prefixes_);
  ASSERT_NE(fib, nullptr);
  std::mt19937_64 random(3);
  for (int i = 0; i < 1'000'000; ++i) {
    const Ipv6Address address = random_address(random, prefixes_);
    ASSERT_EQ(hop_in(routes, address), look_up(fib, address)) << ipv6_text(address);
  }
  Ipv6Rib rib;
  std::uint32_t first = 0;
  for (const Prefix& prefix : prefixes_) {
    rib.insert({prefix.address, static_cast<std::uint8_t>(prefix.length), prefix.hop}, 0, first);
  }
  const Ipv6Trie trie = build_ipv6_trie(rib.in_order());
  std::printf("%zu nodes, %zu runs\n", trie.nodes.size(), trie.runs.size());
  EXPECT_LT(trie.nodes.size() * sizeof(Ipv6Node) + trie.runs.size() * 4, 8u << 20);
}

}  // namespace
}  // namespace millrace
