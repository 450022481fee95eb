// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/fanout.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <random>

#include "io-worker/ports/afpacket.hpp"
#include "tests/unit/io-worker/ports/veth.hpp"

namespace millrace {
namespace {

struct Flow {
  std::array<std::uint8_t, 32> addresses{};  ///< source, destination; of IPv4 4 bytes each
  std::uint16_t from = 0, to = 0;
  std::uint8_t protocol = 17;
};

/// Packet sockets at one end of a cable, which share what comes; packets are sent at the other.
class FanoutTest : public test::VethTest {
 protected:
  void SetUp() override {
    VethTest::SetUp();
    if (IsSkipped()) return;
    shell("ip link set here down && ip link set there down");
    for (const char* end : {"here", "there"}) {  // without the kernel's own chatter
      shell(std::string("sysctl -qw net.ipv6.conf.") + end + ".disable_ipv6=1");
      shell(std::string("ip link set ") + end + " up");
    }
    sender_ = open_packet_socket();
    bind_packet_socket(sender_, "there", 0);
  }
  /// Bound, and closed by a filter until it has joined.
  void join() {
    UniqueFd socket = open_packet_socket();
    sock_filter nothing = {BPF_RET | BPF_K, 0, 0, 0};
    const sock_fprog closed{1, &nothing};
    const int one = 1;
    ASSERT_EQ(::setsockopt(socket.get(), SOL_PACKET, 23, &one, sizeof one), 0);
    ASSERT_EQ(::setsockopt(socket.get(), SOL_SOCKET, SO_ATTACH_FILTER, &closed, sizeof closed), 0);
    bind_packet_socket(socket, "here", 3);
    share_by_program(socket, "here");
    ASSERT_EQ(::setsockopt(socket.get(), SOL_SOCKET, SO_DETACH_FILTER, &one, sizeof one), 0);
    sockets_.push_back(std::move(socket));
  }
  void send(const std::string& frame) const {
    ASSERT_EQ(::send(sender_.get(), frame.data(), frame.size(), 0), std::ssize(frame));
  }
  /// The one socket that gets the frame; -1: none within 30 s; -2: not that frame.
  int where(const std::string& frame) const {
    send(frame);
    std::vector<pollfd> items;
    for (const UniqueFd& socket : sockets_) items.push_back({socket.get(), POLLIN, 0});
    if (::poll(items.data(), items.size(), 30'000) < 1) return -1;
    char bytes[2000];
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (items[i].revents == 0) continue;
      const ssize_t got = ::recv(items[i].fd, bytes, sizeof bytes, 0);
      return std::string_view(bytes, static_cast<std::size_t>(got)) == frame ? static_cast<int>(i)
                                                                             : -2;
    }
    return -1;
  }
  static void put(std::string& text, std::size_t at, std::uint16_t value) {
    text[at] = static_cast<char>(value >> 8);
    text[at + 1] = static_cast<char>(value);
  }
  static std::string ethernet(std::uint16_t type, std::size_t bytes) {
    std::string text(bytes, '\0');
    text.replace(0, 6, 6, '\xff');
    put(text, 12, type);
    return text;
  }
  static std::string ipv4(const Flow& flow, std::uint16_t fragment = 0, std::size_t options = 0) {
    std::string text = ethernet(0x0800, 80);
    text[14] = static_cast<char>(0x45 + options / 4);
    put(text, 20, fragment);
    text[23] = static_cast<char>(flow.protocol);
    for (std::size_t i = 0; i < 8; ++i) {
      text[26 + i] = static_cast<char>(flow.addresses[i < 4 ? i : 12 + i]);
    }
    put(text, 34 + options, flow.from);
    put(text, 36 + options, flow.to);
    return text;
  }
  static std::string ipv6(const Flow& flow) {
    std::string text = ethernet(0x86dd, 80);
    text[14] = 0x60;
    text[20] = static_cast<char>(flow.protocol);
    for (std::size_t i = 0; i < 32; ++i) text[22 + i] = static_cast<char>(flow.addresses[i]);
    put(text, 54, flow.from);
    put(text, 56, flow.to);
    return text;
  }
  static Flow back(const Flow& flow) {
    Flow other = flow;
    for (std::size_t i = 0; i < 16; ++i) std::swap(other.addresses[i], other.addresses[16 + i]);
    std::swap(other.from, other.to);
    return other;
  }
  Flow any_flow() {
    Flow flow;
    for (std::uint8_t& byte : flow.addresses) byte = static_cast<std::uint8_t>(random_());
    flow.from = static_cast<std::uint16_t>(random_());
    flow.to = static_cast<std::uint16_t>(random_());
    flow.protocol = random_() % 2 == 0 ? 6 : 17;
    return flow;
  }

  std::mt19937_64 random_{7};
  UniqueFd sender_;
  std::vector<UniqueFd> sockets_;
};

TEST_F(FanoutTest, BothDirectionsOfAFlowComeToOneSocketAndEachHasItsShare) {
  for (int i = 0; i < 3; ++i) join();
  set_share_program(sockets_[0], 3);
  std::array<int, 3> share{};
  for (int i = 0; i < 300; ++i) {
    const Flow flow = any_flow();
    const bool four = i % 2 == 0;
    const int at = where(four ? ipv4(flow) : ipv6(flow));
    ASSERT_GE(at, 0);
    EXPECT_EQ(where(four ? ipv4(back(flow)) : ipv6(back(flow))), at) << i;
    if (four) {
      EXPECT_EQ(where(ipv4(flow, 0, 8)), at) << "with options";
    }
    ++share[static_cast<std::size_t>(at)];
  }
  for (const int count : share) EXPECT_NEAR(count, 100, 40);
}

TEST_F(FanoutTest, NeighboursDifferByPortsAlone) {
  for (int i = 0; i < 2; ++i) join();
  set_share_program(sockets_[0], 2);
  Flow flow = any_flow();
  int first = 0;
  for (int i = 0; i < 200; ++i, ++flow.from) first += where(ipv4(flow)) == 0 ? 1 : 0;
  EXPECT_NEAR(first, 100, 50);
}

TEST_F(FanoutTest, FragmentsGoByAddressesAndWhatIsNotIpToTheFirst) {
  for (int i = 0; i < 4; ++i) join();
  set_share_program(sockets_[0], 4);
  for (int i = 0; i < 50; ++i) {
    Flow flow = any_flow();
    const int at = where(ipv4(flow, 0x2000));  // the first, more follow
    flow.from = static_cast<std::uint16_t>(random_());
    EXPECT_EQ(where(ipv4(flow, 0x0007)), at);
    Flow other = any_flow();
    other.protocol = 47;
    const int same = where(ipv6(other));
    other.to = static_cast<std::uint16_t>(random_());
    EXPECT_EQ(where(ipv6(other)), same) << "what lies there is no port";
  }
  EXPECT_EQ(where(ethernet(0x88b5, 60)), 0);
  EXPECT_EQ(where(ethernet(0x0800, 20)), 0) << "too short for addresses";
}

TEST_F(FanoutTest, OneThatJoinsGetsNothingBeforeTheProgramSaysSoAndNothingIsLost) {
  join();
  set_share_program(sockets_[0], 1);
  std::vector<Flow> flows;
  for (int i = 0; i < 100; ++i) flows.push_back(any_flow());
  for (std::uint32_t queues = 1; queues < 4; ++queues) {
    std::vector<int> before;
    for (const Flow& flow : flows) before.push_back(where(ipv4(flow)));
    join();
    for (std::size_t i = 0; i < flows.size(); ++i) EXPECT_EQ(where(ipv4(flows[i])), before[i]);
    set_share_program(sockets_.back(), queues + 1);
    await_receivers();
    bool any = false;
    for (std::size_t i = 0; i < flows.size(); ++i) {
      const int at = where(ipv4(flows[i]));
      EXPECT_GE(at, before[i]) << "flows stay or go to a later one";
      any = any || at == static_cast<int>(queues);
    }
    EXPECT_TRUE(any);
  }
}

TEST_F(FanoutTest, WithoutAProgramAllGoesToTheFirst) {
  for (int i = 0; i < 2; ++i) join();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(where(ipv4(any_flow())), 0);
}

}  // namespace
}  // namespace millrace
