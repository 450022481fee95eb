// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// route through the GPU and through the CPU, with tables of both families in which prefixes of all
// lengths nest, and packets to addresses around them. Without answers: those depend on neighbours,
// limits of rate and the clock, which both sides share.

#include <algorithm>
#include <cstdlib>
#include <random>
#include <set>

#include "services/functions/route/route_text.hpp"
#include "tests/gpu/gpu_test.hpp"
#include "tests/gpu/made_data.hpp"
#include "tests/unit/services/functions/route/route_packet.hpp"

namespace millrace {
namespace {

using test::compare, test::GpuWorld;

constexpr const char* kTopology = R"(
millrace: 1
name: routes
batch: { capacity: 256 }
ports:
  a: { device: "null", addresses: [10.1.0.1/24, "2001:db8::1/64"] }
  b: { device: "null", addresses: [192.0.2.2/30, "2001:db8:ffff::3/127"] }
workers:
  cpu: { kind: classifier }
  gpu: { kind: gpu, device: cuda }
functions:
  way: { type: route, table: routes.txt, answers: false, on: gpu }
paths:
  one: { from: [a], run: [way], slots: 64 }
)";

using Random = std::mt19937_64;

/// Prefixes as text and as addresses to aim at.
struct Prefixes {
  std::string text;
  std::vector<Ipv6Address> ipv6 = {{0x20010db8'00000000, 1}, {0x20010db8'ffff0000, 2}};
  std::vector<std::uint32_t> ipv4 = {0x0a010001, 0x0a0100ff, 0xc0000203};

  void add(const std::string& prefix, std::uint64_t hop) {
    if (hop % 16 == 0) {
      text += prefix + " drop\n";
    } else if (hop % 16 == 1) {  // a group
      text += prefix + next_hop(hop) + " weight 3," + next_hop(hop + 1) + "," + next_hop(hop + 2) +
              "\n";
    } else {
      text += prefix + next_hop(hop) + "\n";
    }
  }
  static std::string next_hop(std::uint64_t hop) {
    char mac[24];
    std::snprintf(mac, sizeof mac, "02:00:00:00:%02x:%02x", static_cast<unsigned>(hop / 256 % 256),
                  static_cast<unsigned>(hop % 256));
    return (hop % 2 == 0 ? " a " : " b ") + std::string(mac);
  }
};

Prefixes random_prefixes(Random& random, std::size_t count) {
  Prefixes prefixes;
  std::set<std::string> seen;
  while (seen.size() < count) {
    const auto length = static_cast<std::uint32_t>(random() % 3 == 0 ? 8 * (2 + random() % 15)
                                                                     : 9 + random() % 120);
    Ipv6Address address = prefixes.ipv6[random() % prefixes.ipv6.size()];
    address = {address.high ^ (random() & random() & random() & ~(0xffffull << 48)),
               address.low ^ (random() & random() & random())};
    address = address & ipv6_mask(length);
    if (never_routed(address)) continue;
    const std::string ipv6 = ipv6_text(address) + "/" + std::to_string(length);
    if (seen.insert(ipv6).second) prefixes.add(ipv6, random() % 999);
    prefixes.ipv6.push_back(address);
    const auto bits = static_cast<std::uint32_t>(9 + random() % 24);
    const std::uint32_t ipv4 = (0x0a000000 | (random() & 0x070707)) & ~0u << (32 - bits);
    const std::string text = ipv4_text(ipv4) + "/" + std::to_string(bits);
    if (seen.insert(text).second) prefixes.add(text, random() % 999);
    prefixes.ipv4.push_back(ipv4);
  }
  if (random() % 2 == 0) prefixes.add("::/0", 1);
  if (random() % 2 == 0) prefixes.add("0.0.0.0/0", 2);
  return prefixes;
}

/// Around an address of `prefixes`; now and then one that is never routed.
Ipv6Address random_ipv6(Random& random, const Prefixes& prefixes) {
  constexpr Ipv6Address kSpecial[] = {{0, 0},
                                      {0, 1},
                                      {0, 0xffff'0a010005},
                                      {0xfe80ull << 48, 5},
                                      {0xff02ull << 48, 1},
                                      {0xfec0ull << 48, 1}};
  if (random() % 16 == 0) return kSpecial[random() % 6];
  const Ipv6Address near = prefixes.ipv6[random() % prefixes.ipv6.size()];
  const Ipv6Address noise = {random() & random() & random(), random() & random()};
  const auto mask = ipv6_mask(static_cast<std::uint32_t>(random() % 129));
  return {near.high ^ (noise.high & ~mask.high), near.low ^ (noise.low & ~mask.low)};
}

Frame random_packet(Random& random, const Prefixes& prefixes) {
  Frame frame;
  if (random() % 4 != 0) {
    Ipv6FrameSpec spec{.destination = random_ipv6(random, prefixes)};
    if (random() % 4 == 0) spec.source = random_ipv6(random, prefixes);
    if (random() % 16 == 0) spec.destination_mac_first = 0x33;
    spec.hop_limit = static_cast<std::uint8_t>(random() % 8 == 0 ? random() % 3 : random());
    spec.payload = static_cast<std::uint16_t>(random() % 4 == 0 ? 0 : random() % 80);
    if (random() % 4 == 0) spec.next_header = 0;
    frame = make_ipv6_frame(spec);
    if (random() % 8 == 0) put16(frame, 18, random() % 100);
  } else {
    FrameSpec spec{.destination = prefixes.ipv4[random() % prefixes.ipv4.size()] ^
                                  static_cast<std::uint32_t>(random() & random() & 0x01010303)};
    spec.ttl = static_cast<std::uint8_t>(random());
    spec.option_words = static_cast<std::uint8_t>(random() % 8 == 0 ? random() % 11 : 0);
    frame = make_frame(spec);
  }
  if (random() % 8 == 0) frame[12 + random() % 30] ^= std::byte(1 << random() % 8);
  if (random() % 8 == 0) frame.resize(random() % frame.size());
  if (random() % 8 == 0) frame.resize(frame.size() + random() % 20);
  return frame;
}

class RouteOnGpu : public test::GpuTest {
 protected:
  static void compare_batches(const GpuWorld& world, const Prefixes& prefixes, Random& random,
                              std::uint32_t batches) {
    FunctionStages cpu(world.context("cpu.0"));
    ResidentDevice gpu(world.context("gpu.0.a"), 0);
    for (std::uint32_t batch = 0; batch < batches; ++batch) {
      std::vector<Frame> frames(1 + random() % 256);
      for (Frame& frame : frames) frame = random_packet(random, prefixes);
      compare(world, gpu, cpu, frames, batch);
      if (HasFatalFailure()) return;
    }
  }
};

TEST_F(RouteOnGpu, RandomTablesOfBothFamilies) {
  const std::uint32_t sets = test::many(20);
  Random random(17);
  for (std::uint32_t set = 0; set < sets; ++set) {
    const Prefixes prefixes = random_prefixes(random, 1 + random() % 400);
    const GpuWorld world(kTopology, {{"routes.txt", prefixes.text}});
    compare_batches(world, prefixes, random, 100);
    if (HasFatalFailure()) FAIL() << "table " << set;
  }
}

std::vector<std::string> lines_of(const char* path) {
  std::vector<std::string> lines;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// Real prefixes where MILLRACE_PREFIXES names a file with one a line, else made ones.
TEST_F(RouteOnGpu, ALargeTable) {
  const char* const given = std::getenv("MILLRACE_PREFIXES");
  std::mt19937 seed(31);
  const std::vector<std::string> lines =
      given == nullptr ? test::made_prefixes(seed, 150'000, 50'000) : lines_of(given);
  ASSERT_FALSE(lines.empty()) << given;
  Prefixes prefixes;
  for (std::size_t number = 0; number < lines.size(); ++number) {
    const std::string address = lines[number].substr(0, lines[number].find('/'));
    prefixes.add(lines[number], number % 253 + 1);
    Ipv6Address ipv6;
    std::uint32_t ipv4 = 0;
    if (parse_ipv6(address, ipv6)) prefixes.ipv6.push_back(ipv6);
    if (parse_ipv4(address, ipv4)) prefixes.ipv4.push_back(ipv4);
  }
  Random random(19);
  compare_batches(GpuWorld(kTopology, {{"routes.txt", prefixes.text}}), prefixes, random,
                  test::many(4000));
  std::printf("%zu prefixes, %s\n", lines.size(), given == nullptr ? "made" : given);
}

}  // namespace
}  // namespace millrace
