// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The table against two oracles that share nothing with it: a linear search and DPDK's rte_fib.

#include <gtest/gtest.h>
#include <rte_fib.h>
#include <rte_memory.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <random>

#include "services/functions/builder/private_eal.hpp"
#include "services/functions/route/route_rib.hpp"
#include "services/functions/route/route_text.hpp"
#include "tests/places.hpp"
#include "tests/unit/services/functions/route/route_fixture.hpp"

namespace millrace {
namespace {

namespace fs = std::filesystem;

struct Prefix {
  std::uint32_t address;
  std::uint32_t length;
  std::uint32_t hop;  ///< goes through the MAC address, so that no number of the table is an oracle
};

std::uint32_t mask_of(std::uint32_t length) {
  return length == 0 ? 0 : ~std::uint32_t{0} << (32 - length);
}

std::string text_of(const std::vector<Prefix>& prefixes) {
  std::string text;
  for (const Prefix& prefix : prefixes) {
    char mac[32];
    std::snprintf(mac, sizeof mac, "02:00:%02x:%02x:%02x:%02x", prefix.hop >> 24,
                  prefix.hop >> 16 & 255, prefix.hop >> 8 & 255, prefix.hop & 255);
    text += ipv4_text(prefix.address) + "/" + std::to_string(prefix.length) + " wan " + mac + "\n";
  }
  return text;
}

/// 0: no route; else what text_of() put in.
std::uint32_t hop_in(const BuiltRoutes& routes, std::uint32_t address) {
  const RouteHop& hop = routes.hop_of(address);
  if (hop.reason != 0) return 0;
  return std::uint32_t{hop.mac[2]} << 24 | hop.mac[3] << 16 | hop.mac[4] << 8 | hop.mac[5];
}

std::uint32_t linear_search(const std::vector<Prefix>& prefixes, std::uint32_t address) {
  const Prefix* best = nullptr;
  for (const Prefix& prefix : prefixes) {
    const bool covers = (address & mask_of(prefix.length)) == prefix.address;
    if (covers && (best == nullptr || prefix.length > best->length)) best = &prefix;
  }
  return best == nullptr ? 0 : best->hop;
}

/// Prefixes that nest and touch, in few networks so that they meet.
std::vector<Prefix> random_prefixes(std::mt19937& random, std::size_t count) {
  std::vector<Prefix> prefixes;
  while (prefixes.size() < count) {
    const std::uint32_t length = random() % 10 == 0 ? random() % 9 : 8 + random() % 25;
    const std::uint32_t near = 0x0a000000 | (random() & 0x00030303) | (random() & 0xff);
    const std::uint32_t address = (random() % 8 == 0 ? random() : near) & mask_of(length);
    const bool routed = !(never_routed(address) && never_routed(address | ~mask_of(length)));
    const bool fresh = linear_search({{address, length, 1}}, address) == 1 &&
                       std::ranges::none_of(prefixes, [&](const Prefix& other) {
                         return other.address == address && other.length == length;
                       });
    if (routed && fresh) {
      prefixes.push_back({address, length, static_cast<std::uint32_t>(prefixes.size() + 1)});
    }
  }
  return prefixes;
}

TEST(RouteLookup, EqualsALinearSearchOverRandomTables) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    const std::vector<Prefix> prefixes = random_prefixes(random, 1 + random() % 300);
    const BuiltRoutes routes(text_of(prefixes), {});
    ASSERT_EQ(routes.report().accepted, prefixes.size()) << routes.report().refusals[0];
    for (int i = 0; i < 20'000; ++i) {
      // Half of the addresses lie at an edge of a prefix.
      const Prefix& prefix = prefixes[random() % prefixes.size()];
      const std::uint32_t last = prefix.address | ~mask_of(prefix.length);
      const std::uint32_t edges[] = {prefix.address, prefix.address - 1, last, last + 1};
      const std::uint32_t address = i % 2 == 0 ? edges[random() % 4] : 0x0a000000 | random() >> 14;
      ASSERT_EQ(hop_in(routes, address), linear_search(prefixes, address))
          << ipv4_text(address) << ", seed " << seed;
    }
  }
}

struct FreeRib {
  void operator()(rte_fib* fib) const { rte_fib_free(fib); }
};
using Fib = std::unique_ptr<rte_fib, FreeRib>;

Fib make_fib(const std::vector<Prefix>& prefixes) {
  start_private_eal();
  rte_fib_conf conf{};
  conf.type = RTE_FIB_DIR24_8;
  conf.default_nh = 0;
  conf.max_routes = static_cast<int>(2 * prefixes.size() + 16);
  conf.dir24_8.nh_sz = RTE_FIB_DIR24_8_4B;
  conf.dir24_8.num_tbl8 = 1 << 15;
  Fib fib(rte_fib_create("oracle", SOCKET_ID_ANY, &conf));
  for (const Prefix& prefix : prefixes) {
    rte_fib_add(fib.get(), prefix.address, static_cast<std::uint8_t>(prefix.length), prefix.hop);
  }
  return fib;
}

TEST(RouteLookup, EqualsRteFibOverRandomAddresses) {
  std::mt19937 random(7);
  const std::vector<Prefix> prefixes = random_prefixes(random, 2000);
  const BuiltRoutes routes(text_of(prefixes), {});
  const Fib fib = make_fib(prefixes);
  ASSERT_NE(fib, nullptr);
  for (int i = 0; i < 1'000'000; ++i) {
    std::uint32_t address = i % 4 == 0 ? random() : 0x0a000000 | (random() & 0x03ffffff);
    std::uint64_t expected = 0;
    rte_fib_lookup_bulk(fib.get(), &address, &expected, 1);
    ASSERT_EQ(hop_in(routes, address), expected) << ipv4_text(address);
  }
}

/// The Internet's table, where ../shared is; made readable by tar and gzip, not by our code.
class InternetTable : public testing::Test {
 protected:
  void SetUp() override {
    const fs::path archive = test::shared_folder() / "data/routes.tar.xz";
    if (!fs::exists(archive)) GTEST_SKIP() << archive << " is not there";
    const std::string command = "tar -xJf " + archive.string() + " -C " + folder_.file("") +
                                " && gunzip " + folder_.file("routes/bgp-2024-ipv4*.gz");
    ASSERT_EQ(std::system(command.c_str()), 0);
    read_prefixes();
  }

  void read_prefixes() {
    std::ifstream in(folder_.file("routes/bgp-2024-ipv4.txt"));
    std::string line;
    for (std::uint32_t number = 0; std::getline(in, line); ++number) {
      unsigned a = 0, b = 0, c = 0, d = 0, length = 0;
      ASSERT_EQ(std::sscanf(line.c_str(), "%u.%u.%u.%u/%u", &a, &b, &c, &d, &length), 5) << line;
      prefixes_.push_back({a << 24 | b << 16 | c << 8 | d, length, number % 253 + 1});
    }
    ASSERT_EQ(prefixes_.size(), 901'899u);
  }

  RouteFolder folder_;
  std::vector<Prefix> prefixes_;
};

TEST_F(InternetTable, BuildsInSecondsAndGivesTheExpectedNextHops) {
  const std::string text = text_of(prefixes_);
  const auto start = std::chrono::steady_clock::now();
  const BuiltRoutes routes(text, {});
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  RecordProperty("build_ms", static_cast<int>(seconds.count() * 1000));
  std::printf("built in %.2f s\n", seconds.count());
  EXPECT_LT(seconds.count(), 30) << "seconds, also with a sanitizer";
  ASSERT_EQ(routes.report().accepted, 901'899u);

  std::ifstream in(folder_.file("routes/bgp-2024-ipv4-lookups.tsv"));
  std::string line;
  std::size_t count = 0;
  while (std::getline(in, line)) {
    unsigned a = 0, b = 0, c = 0, d = 0, hop = 0;
    if (line.starts_with("#")) continue;
    const int fields = std::sscanf(line.c_str(), "%u.%u.%u.%u %*s %u", &a, &b, &c, &d, &hop);
    if (fields < 5) hop = 0;  // no match
    ASSERT_GE(fields, 4) << line;
    ASSERT_EQ(hop_in(routes, a << 24 | b << 16 | c << 8 | d), hop) << line;
    ++count;
  }
  EXPECT_GT(count, 10'000u);
}

TEST_F(InternetTable, EqualsRteFib) {
  const BuiltRoutes routes(text_of(prefixes_), {});
  const Fib fib = make_fib(prefixes_);
  ASSERT_NE(fib, nullptr);
  std::mt19937 random(3);
  for (int i = 0; i < 3'000'000; ++i) {
    std::uint32_t address = random();
    std::uint64_t expected = 0;
    rte_fib_lookup_bulk(fib.get(), &address, &expected, 1);
    ASSERT_EQ(hop_in(routes, address), expected) << ipv4_text(address);
  }
}

TEST(RouteRib, GivesItsPrefixesShorterOnesFirstAndKnowsTheFirstTag) {
  RouteRib rib(8);
  std::uint32_t first = 0;
  EXPECT_TRUE(rib.insert({0x0a000000, 16, 1}, 11, first));
  EXPECT_TRUE(rib.insert({0x0a000000, 8, 2}, 12, first));
  EXPECT_TRUE(rib.insert({0, 0, 3}, 13, first));
  EXPECT_FALSE(rib.insert({0x0a000000, 8, 4}, 14, first));
  EXPECT_EQ(first, 12u);
  rib.replace({0x0a000000, 16, 5});
  rib.replace({0x0a000001, 32, 6});
  const std::vector<RibRoute> routes = rib.by_length();
  ASSERT_EQ(routes.size(), 4u);
  const std::uint32_t lengths[] = {0, 8, 16, 32};
  const std::uint32_t hops[] = {3, 2, 5, 6};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(routes[i].length, lengths[i]);
    EXPECT_EQ(routes[i].hop, hops[i]);
  }
}

}  // namespace
}  // namespace millrace
