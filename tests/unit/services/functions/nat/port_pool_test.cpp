// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/nat/port_pool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include "services/functions/nat/nat_address.hpp"
#include "shared/layout/mapping.hpp"

namespace millrace::port_pool_test {
namespace {

constexpr std::array<std::uint64_t, 2> kSecret = {3, 4};
constexpr std::uint32_t kAddresses[] = {0xcb007101, 0xcb007102};  // 203.0.113.1, .2
constexpr std::uint32_t kInside = 0x0a000000, kRemote = 0xc0000209;
constexpr std::uint8_t kIcmp = 1, kTcp = 6, kUdp = 17, kSctp = 132;

FlowTuple from_inside(std::uint32_t host, std::uint16_t port, std::uint8_t protocol = kUdp,
                      std::uint32_t remote = kRemote) {
  return {.source = nat_bytes(kInside + host),
          .destination = nat_bytes(remote),
          .source_port = port,
          .destination_port = 53,
          .protocol = protocol,
          .version = 4};
}
FlowTuple from_outside(std::uint32_t remote, std::uint32_t address, std::uint16_t port,
                       std::uint8_t protocol = kUdp) {
  return {.source = nat_bytes(remote),
          .destination = nat_bytes(address),
          .source_port = 4000,
          .destination_port = port,
          .protocol = protocol,
          .version = 4};
}

/// State and undo log of a lane.
struct Lane {
  explicit Lane(PortPoolShape of = {}, std::uint32_t lane = 0, std::uint32_t lines = 4096)
      : shape(with_addresses(of)),
        bytes(PortPool::bytes_for(shape)),
        memory(Mapping::create_anonymous(bytes + LaneUndoLog::bytes_for(lines))),
        state{{memory.base(), bytes},
              LaneUndoLog({memory.base() + bytes, LaneUndoLog::bytes_for(lines)}, lines,
                          {memory.base(), bytes})},
        pool(state, shape, lane, kSecret) {}

  static PortPoolShape with_addresses(PortPoolShape shape) {
    if (shape.addresses.empty()) shape.addresses = kAddresses;
    return shape;
  }
  std::vector<std::byte> copy() const { return {state.bytes.begin(), state.bytes.end()}; }

  PortPoolShape shape;
  std::size_t bytes;
  Mapping memory;
  LaneState state;
  PortPool pool;
};

using Opened = PortPool::Opened;

TEST(PortPool, AHostMayHaveAnIpv6Address) {
  Lane lane;
  FlowTuple tuple = from_inside(0, 5000);
  tuple.source = {0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  FlowTuple other = tuple;
  other.source[15] = 2;  // the first four bytes are alike
  const auto one = lane.pool.map(tuple), two = lane.pool.map(other);
  ASSERT_EQ(one.what, Opened::kDone);
  EXPECT_NE(one.mapping, two.mapping);
  EXPECT_EQ(lane.pool.outside_of(other.source), two.address);
  const auto inside = lane.pool.enter(from_outside(kRemote, two.address, two.port));
  ASSERT_TRUE(inside);
  EXPECT_EQ(inside->address, other.source);
  EXPECT_EQ(inside->port, 5000);
}

TEST(PortPool, AMappingIsTheSameWhateverTheOtherEnd) {
  Lane lane;
  const auto one = lane.pool.map(from_inside(1, 5000, kUdp, kRemote));
  const auto other = lane.pool.map(from_inside(1, 5000, kUdp, kRemote + 1));
  ASSERT_EQ(one.what, Opened::kDone);
  EXPECT_EQ(std::tuple(other.mapping, other.address, other.port),
            std::tuple(one.mapping, one.address, one.port));
  EXPECT_EQ(lane.pool.count(), 1u);
  lane.pool.unmap(one.mapping, kRemote);
  EXPECT_EQ(lane.pool.count(), 1u);
  lane.pool.unmap(one.mapping, kRemote + 1);
  EXPECT_EQ(lane.pool.count(), 0u);
  EXPECT_EQ(lane.pool.blocks().taken(), 0u);
  EXPECT_FALSE(lane.pool.enter(from_outside(kRemote, one.address, one.port)));
}

TEST(PortPool, APortIsKeptWhereItIsFree) {
  Lane lane({.addresses = std::span(kAddresses).first(1)});
  EXPECT_EQ(lane.pool.map(from_inside(1, 5000)).port, 5000);
  EXPECT_EQ(lane.pool.map(from_inside(1, 5000, kTcp)).port, 5000);
  EXPECT_EQ(lane.pool.map(from_inside(1, 5000, kIcmp)).port, 5000);
  EXPECT_EQ(lane.pool.map(from_inside(1, 5001)).port, 5001);
  const auto second = lane.pool.map(from_inside(2, 5000));  // the block is the other host's
  EXPECT_EQ(second.what, Opened::kDone);
  EXPECT_NE(second.port / 64, 5000 / 64);
  EXPECT_EQ(second.port % 2, 0);
  const auto low = lane.pool.map(from_inside(3, 53));
  EXPECT_GE(low.port, 1024);
  EXPECT_EQ(low.port % 2, 1);
}

TEST(PortPool, EachHostHasOneAddressAndPortsOfItsLane) {
  constexpr std::uint32_t kLanes = 3;
  std::set<std::tuple<std::uint32_t, std::uint16_t>> all;
  std::map<std::uint32_t, std::uint32_t> host_of_block;  // address << 16 | block
  for (std::uint32_t number = 0; number < kLanes; ++number) {
    Lane lane({.lanes = kLanes, .mappings = 4000}, number);
    for (std::uint32_t host = number; host < 60; host += kLanes) {
      std::set<std::uint32_t> addresses;
      for (std::uint16_t port = 2000; port < 2100; ++port) {
        const auto done = lane.pool.map(from_inside(host, port));
        ASSERT_EQ(done.what, Opened::kDone);
        ASSERT_EQ(done.port / 64 % kLanes, number);
        ASSERT_TRUE(all.emplace(done.address, done.port).second);
        addresses.insert(done.address);
        const std::uint32_t block = (done.address & 0xff) << 16 | done.port / 64u;
        ASSERT_EQ(host_of_block.emplace(block, host).first->second, host);
      }
      EXPECT_EQ(addresses.size(), 1u);
    }
  }
}

TEST(PortPool, UdpKeepsItsParityWhileThereIsSuchAPort) {
  Lane lane({.addresses = std::span(kAddresses).first(1), .last_port = 1024 + 63, .block = 8});
  std::uint32_t same = 0;
  for (std::uint32_t i = 0; i < 64; ++i) {
    const auto done = lane.pool.map(from_inside(1, static_cast<std::uint16_t>(20'000 + 2 * i)));
    ASSERT_EQ(done.what, Opened::kDone) << i;
    same += done.port % 2 == 0 ? 1 : 0;
    if (i < 32) {
      ASSERT_EQ(same, i + 1);
    }
  }
  EXPECT_EQ(same, 32u);
  EXPECT_EQ(lane.pool.map(from_inside(1, 1)).what, Opened::kExhausted);
  EXPECT_EQ(lane.pool.map(from_inside(2, 1)).what, Opened::kExhausted);
  EXPECT_EQ(lane.pool.map(from_inside(1, 1, kTcp)).what, Opened::kDone);
  EXPECT_EQ(lane.pool.map(from_inside(1, 1, kSctp)).what, Opened::kDone);
  EXPECT_EQ(lane.pool.count(), 66u);
}

TEST(PortPool, AHostHasNoMoreMappingsThanItsLimit) {
  Lane lane({.host_limit = 3});
  for (std::uint16_t i = 0; i < 3; ++i) {
    EXPECT_EQ(lane.pool.map(from_inside(1, 3000 + i)).what, Opened::kDone);
  }
  EXPECT_EQ(lane.pool.map(from_inside(1, 3003)).what, Opened::kHostLimit);
  EXPECT_EQ(lane.pool.map(from_inside(1, 3002)).what, Opened::kDone);  // one that there is
  EXPECT_EQ(lane.pool.map(from_inside(2, 3003)).what, Opened::kDone);
}

TEST(PortPool, ALaneHasNoMoreMappingsThanItsRoom) {
  Lane lane({.mappings = 5});
  for (std::uint16_t i = 0; i < 5; ++i) {
    EXPECT_EQ(lane.pool.map(from_inside(i, 3000)).what, Opened::kDone);
  }
  EXPECT_EQ(lane.pool.map(from_inside(6, 3000)).what, Opened::kFull);
  EXPECT_EQ(lane.pool.map(from_inside(4, 3000)).what, Opened::kDone);
}

TEST(PortPool, LetsInWhatTheFilteringSays) {
  for (const NatFiltering filtering :
       {NatFiltering::kEndpoint, NatFiltering::kAddress, NatFiltering::kAddressPort}) {
    Lane lane({.filtering = filtering});
    const auto done = lane.pool.map(from_inside(1, 5000));
    const auto known = lane.pool.enter(from_outside(kRemote, done.address, done.port));
    const auto stranger = lane.pool.enter(from_outside(kRemote + 1, done.address, done.port));
    EXPECT_EQ(known.has_value(), filtering != NatFiltering::kAddressPort);
    EXPECT_EQ(stranger.has_value(), filtering == NatFiltering::kEndpoint);
    EXPECT_FALSE(lane.pool.enter(from_outside(kRemote, done.address, done.port, kTcp)));
    EXPECT_FALSE(lane.pool.enter(from_outside(kRemote, done.address, done.port + 1)));
    if (!known) continue;
    EXPECT_EQ(known->address, nat_bytes(kInside + 1));
    EXPECT_EQ(known->port, 5000);
    lane.pool.unmap(done.mapping, kRemote);
    EXPECT_EQ(lane.pool.count(), 1u);  // the flow that came from outside is there
    EXPECT_TRUE(lane.pool.enter(from_outside(kRemote, done.address, done.port)));
  }
}

/// The same in slow, obvious code: what has to hold of mappings, not which port one has.
class Both {
 public:
  explicit Both(std::uint32_t seed)
      : random_(seed),
        lane_({.last_port = 1024 + 400,
               .block = 16,
               .lanes = 2,
               .mappings = 60,
               .host_limit = 9,
               .filtering = seed % 2 == 0 ? NatFiltering::kAddress : NatFiltering::kEndpoint},
              1) {}

  /// A batch of changes, sometimes taken back.
  void batch(std::uint64_t number) {
    lane_.state.undo.begin(0, number);
    const std::vector<std::byte> before = lane_.copy();
    const auto flows_before = flows_;
    for (std::uint32_t i = upto(12); i > 0; --i) change();
    if (random_() % 3 == 0) {
      ASSERT_EQ(lane_.state.undo.undo(0, number), LaneUndoLog::Undone::kAll);
      ASSERT_EQ(lane_.copy(), before);
      flows_ = flows_before;
    }
    compare();
  }
  void close_all() {
    for (const Flow& flow : flows_) lane_.pool.unmap(flow.mapping, flow.remote);
    EXPECT_EQ(lane_.pool.count(), 0u);
    EXPECT_EQ(lane_.pool.blocks().taken(), 0u);
  }

 private:
  struct Flow {
    std::uint32_t mapping, host, remote, address;
    std::uint16_t inside, outside;
    std::uint8_t protocol;
    auto key() const { return std::tuple(host, inside, protocol); }
  };

  std::uint32_t upto(std::uint32_t limit) { return static_cast<std::uint32_t>(random_() % limit); }
  void change() {
    if (!flows_.empty() && random_() % 2 == 0) {
      const std::size_t which = random_() % flows_.size();
      lane_.pool.unmap(flows_[which].mapping, flows_[which].remote);
      flows_.erase(flows_.begin() + static_cast<std::ptrdiff_t>(which));
      return;
    }
    Flow flow{.mapping = 0,
              .host = upto(12),
              .remote = kRemote + upto(3),
              .address = 0,
              .inside = static_cast<std::uint16_t>(1000 + random_() % 500),
              .outside = 0,
              .protocol = random_() % 2 == 0 ? kUdp : kTcp};
    const auto there = std::ranges::find(flows_, flow.key(), &Flow::key);
    const auto done =
        lane_.pool.map(from_inside(flow.host, flow.inside, flow.protocol, flow.remote));
    if (there != flows_.end()) {
      ASSERT_EQ(done.what, Opened::kDone);
      ASSERT_EQ(done.mapping, there->mapping);
    }
    std::set<std::uint32_t> mappings, of_host;
    for (const Flow& one : flows_) {
      mappings.insert(one.mapping);
      if (one.host == flow.host) of_host.insert(one.mapping);
    }
    if (there == flows_.end()) {
      ASSERT_EQ(done.what == Opened::kHostLimit, of_host.size() == 9 && mappings.size() < 60);
      ASSERT_EQ(done.what == Opened::kFull, mappings.size() == 60);
    }
    if (done.what != Opened::kDone) return;
    flow.mapping = done.mapping;
    flow.address = done.address;
    flow.outside = done.port;
    flows_.push_back(flow);
  }
  void compare() {
    std::map<std::uint32_t, Flow> mappings;
    std::map<std::uint32_t, std::uint32_t> address_of_host;
    std::map<std::tuple<std::uint32_t, std::uint32_t>, std::uint32_t> host_of_block;
    for (const Flow& flow : flows_) mappings.emplace(flow.mapping, flow);
    std::set<std::tuple<std::uint32_t, std::uint16_t, std::uint8_t>> outside;
    for (const auto& [number, flow] : mappings) {
      ASSERT_TRUE(outside.emplace(flow.address, flow.outside, flow.protocol).second);
      ASSERT_EQ(address_of_host.emplace(flow.host, flow.address).first->second, flow.address);
      ASSERT_GE(flow.outside, 1024);
      ASSERT_LE(flow.outside, 1424);
      ASSERT_EQ(flow.outside / 16 % 2, 1);
      const auto block = std::tuple(flow.address, flow.outside / 16u);
      ASSERT_EQ(host_of_block.emplace(block, flow.host).first->second, flow.host);
      const auto found =
          lane_.pool.enter(from_outside(flow.remote, flow.address, flow.outside, flow.protocol));
      ASSERT_TRUE(found);
      ASSERT_EQ(std::tuple(found->mapping, found->address, found->port),
                std::tuple(number, nat_bytes(kInside + flow.host), flow.inside));
      lane_.pool.unmap(number, flow.remote);
    }
    ASSERT_EQ(lane_.pool.count(), mappings.size());
    ASSERT_EQ(lane_.pool.blocks().taken(), host_of_block.size());
  }

  std::mt19937 random_;
  Lane lane_;
  std::vector<Flow> flows_;
};

TEST(PortPool, DoesWhatAListDoesAlsoWhenBatchesAreTakenBack) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    Both both(seed);
    for (std::uint64_t number = 1; number < 300; ++number) {
      both.batch(number);
      if (testing::Test::HasFatalFailure()) return;
    }
    both.close_all();
  }
}

TEST(PortPool, OneCallChangesNoMoreLinesThanItSays) {
  std::mt19937 random(9);
  Lane open({.mappings = 300, .filtering = NatFiltering::kAddress}, 0, PortPool::kLinesOfMap);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> flows;
  for (std::uint32_t i = 1; i < 3000; ++i) {
    const bool closes = !flows.empty() && random() % 2 == 0;
    open.state.undo.begin(0, i);
    if (closes) {
      const std::size_t which = random() % flows.size();
      open.pool.unmap(flows[which].first, flows[which].second);
      flows.erase(flows.begin() + static_cast<std::ptrdiff_t>(which));
    } else {
      const auto remote = static_cast<std::uint32_t>(kRemote + random() % 5);
      const auto done = open.pool.map(from_inside(static_cast<std::uint32_t>(random() % 40),
                                                  static_cast<std::uint16_t>(random()),
                                                  random() % 2 ? kUdp : kTcp, remote));
      if (done.what == Opened::kDone) flows.emplace_back(done.mapping, remote);
    }
    const std::vector<std::byte> after = open.copy();
    ASSERT_EQ(open.state.undo.undo(0, i), LaneUndoLog::Undone::kAll) << i;
    std::ranges::copy(after, open.state.bytes.begin());
  }
}

}  // namespace
}  // namespace millrace::port_pool_test
