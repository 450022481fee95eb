// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/firewall/proxied_error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "tests/unit/services/functions/firewall/firewall_stage.hpp"
#include "tests/unit/services/functions/firewall/tcp_frames.hpp"

/// What an error quotes behind the stage is, byte by byte, what its receiver has sent into it.

namespace millrace {
namespace {

constexpr char kRules[] =
    "pass ip any -> any state established,related\n"
    "synproxy tcp any -> any port 80 mss 1400 wscale 5 sack-perm timestamp\n";
constexpr std::uint32_t kClientNumber = 0xffff'fff0, kServerNumber = 5'000'000;

/// Offsets of an untagged frame.
std::size_t transport_of(const Frame& frame) { return frame[12] == std::byte{0x08} ? 34 : 54; }

/// "Host unreachable" from the receiver of `about` to its sender, with the first `quoted` bytes of
/// its segment.
Frame error_about(const Frame& about, std::size_t quoted) {
  const std::size_t at = transport_of(about);
  const bool is_ipv4 = at == 34;
  const auto behind = static_cast<unsigned>(8 + at - 14 + quoted);
  FrameBuilder builder;
  is_ipv4 ? builder.ipv4(1, behind) : builder.ipv6(58, behind);
  Frame out = builder.padding(8).build();
  const std::size_t addresses = is_ipv4 ? 26 : 22, bytes = is_ipv4 ? 4 : 16;
  for (std::size_t i = 0; i < bytes; ++i) {
    out[addresses + i] = about[addresses + bytes + i];
    out[addresses + bytes + i] = about[addresses + i];
  }
  out[at] = is_ipv4 ? std::byte{3} : std::byte{1};
  out[at + 1] = is_ipv4 ? std::byte{1} : std::byte{3};
  out.insert(out.end(), about.begin() + 14, about.begin() + long(at + quoted));
  std::uint32_t pseudo = 0;
  if (is_ipv4) {
    const Frame ip(out.begin() + 14, out.begin() + 34);
    wire_bytes::put16(out, 24, static_cast<std::uint16_t>(slow_checksum(ip, 0, 0)));
  } else {
    pseudo = slow_pseudo(out) + 58 - 6;
  }
  wire_bytes::put16(out, at + 2, static_cast<std::uint16_t>(slow_checksum(out, at, pseudo)));
  return out;
}

/// An open connection; frames as its hosts have sent them, and as they came out.
struct Proxied {
  explicit Proxied(bool over_ipv6) : is_ipv6(over_ipv6) {
    pass(kLan, {.sequence = kClientNumber, .flags = "S", .options = syn_options(70, 0, 7)});
    const Segment told = segment_in(stage.left.at(0));
    cookie = told.sequence;
    const std::uint32_t time = static_cast<std::uint32_t>(told.options[8]) << 24 |
                               told.options[9] << 16 | told.options[10] << 8 | told.options[11];
    cookie_time = time;
    proof = pass(kLan, {.sequence = kClientNumber + 1,
                        .acknowledgment = cookie + 1,
                        .flags = "A",
                        .options = timestamp_option(71, time)});
  }
  void open() {
    pass(kWan, {.sequence = kServerNumber,
                .acknowledgment = kClientNumber + 1,
                .flags = "SA",
                .options = syn_options(900, 71, 9)});
  }
  /// What was sent, and what came of it.
  std::pair<Frame, Frame> pass(std::uint8_t port, const Segment& segment) {
    const Frame sent = tcp_frame(segment, port == kLan, 40000, is_ipv6);
    stage.send(port, {sent});
    return {sent, stage.left.at(0)};
  }
  /// What the sender of `pair.first` gets of an error about `pair.second`, which is for `port`.
  Frame told_of(const std::pair<Frame, Frame>& pair, std::uint8_t port, std::size_t quoted) {
    EXPECT_EQ(stage.send(port, {error_about(pair.second, quoted)}), "+");
    return stage.left.at(0);
  }

  bool is_ipv6;
  FirewallStage stage{kRules};
  std::uint32_t cookie = 0, cookie_time = 0;
  std::pair<Frame, Frame> proof;
};

/// Bytes of the quoted segment from `from` to `to`.
Frame quoted_bytes(const Frame& error, std::size_t from, std::size_t to) {
  const std::size_t at = 2 * transport_of(error) - 14 + 8;
  return {error.begin() + long(at + from), error.begin() + long(at + to)};
}
Frame segment_bytes(const Frame& frame, std::size_t from, std::size_t to) {
  const std::size_t at = transport_of(frame);
  return {frame.begin() + long(at + from), frame.begin() + long(at + to)};
}

bool has_right_checksum(const Frame& error) {
  const std::size_t at = transport_of(error);
  const std::uint32_t pseudo = at == 34 ? 0 : slow_pseudo(error) + 58 - 6;
  return slow_checksum(error, at, pseudo) == 0;
}

TEST(ErrorsOfProxiedConnections, QuoteWhatTheirReceiverHasSent) {
  constexpr std::size_t kWhole = 44, kQuotes[] = {8, 12, 16, 20, 40, kWhole};
  for (const bool is_ipv6 : {false, true}) {
    Proxied hosts(is_ipv6);
    hosts.open();
    const auto answer = hosts.pass(kWan, {.sequence = kServerNumber + 1,
                                          .acknowledgment = kClientNumber + 1,
                                          .flags = "PA",
                                          .window = 3200,
                                          .options = timestamp_option(905, 71),
                                          .data = 31});
    // The block of SACK stands at an odd place.
    std::vector<unsigned> options = {1, 5, 10};
    for (const std::uint32_t edge : {hosts.cookie + 102, hosts.cookie + 203}) {
      for (int shift = 24; shift >= 0; shift -= 8) options.push_back(edge >> shift & 255);
    }
    options.insert(options.end(), {1, 1, 1});
    const std::vector<unsigned> time = timestamp_option(80, hosts.cookie_time + 5);
    options.insert(options.end(), time.begin() + 2, time.end());
    const auto question = hosts.pass(kLan, {.sequence = kClientNumber + 1,
                                            .acknowledgment = hosts.cookie + 32,
                                            .flags = "PA",
                                            .options = options,
                                            .data = 20});
    for (const std::size_t quoted : kQuotes) {
      const Frame to_client = hosts.told_of(question, kWan, quoted);
      // The checksum covers options, which are looked at in a whole header alone.
      const std::size_t same = quoted < kWhole ? std::min<std::size_t>(quoted, 16) : quoted;
      EXPECT_EQ(quoted_bytes(to_client, 0, same), segment_bytes(question.first, 0, same))
          << quoted << " bytes, IPv6 " << is_ipv6;
      EXPECT_TRUE(has_right_checksum(to_client)) << quoted;
      // A window is as the client was told of it, and so is the checksum.
      const Frame to_server = hosts.told_of(answer, kLan, quoted);
      const std::size_t numbers = std::min<std::size_t>(quoted, 14);
      EXPECT_EQ(quoted_bytes(to_server, 0, numbers), segment_bytes(answer.first, 0, numbers));
      EXPECT_TRUE(has_right_checksum(to_server)) << quoted;
    }
    const Frame whole = hosts.told_of(answer, kLan, kWhole);
    EXPECT_EQ(quoted_bytes(whole, 18, kWhole), segment_bytes(answer.first, 18, kWhole));
  }
}

TEST(ErrorsOfProxiedConnections, AboutTheSynTellOfTheProof) {
  for (const bool is_ipv6 : {false, true}) {
    for (const std::size_t quoted : {8, 20, 32}) {
      Proxied hosts(is_ipv6);
      for (const bool is_open : {false, true}) {
        if (is_open) hosts.open();
        const Frame told = hosts.told_of(hosts.proof, kWan, quoted);
        const std::size_t numbers = std::min<std::size_t>(quoted, 12);
        EXPECT_EQ(quoted_bytes(told, 0, numbers), segment_bytes(hosts.proof.first, 0, numbers));
        if (quoted > 13) {
          EXPECT_EQ(quoted_bytes(told, 13, 14), segment_bytes(hosts.proof.first, 13, 14));
        }
        EXPECT_TRUE(has_right_checksum(told)) << quoted;
      }
    }
  }
}

/// As a function behind the firewall that reports to the sender has it.
TEST(SegmentsOfProxiedConnections, GetBackTheNumbersThatTheirSenderHasSent) {
  for (const bool is_ipv6 : {false, true}) {
    Proxied hosts(is_ipv6);
    hosts.stage.wall.reverts = true;
    const auto is_as_sent = [](const std::pair<Frame, Frame>& pair) {
      const Frame &sent = pair.first, &left = pair.second;
      EXPECT_EQ(segment_bytes(left, 0, 12), segment_bytes(sent, 0, 12));
      EXPECT_EQ(segment_bytes(left, 13, 14), segment_bytes(sent, 13, 14));
      const Frame segment(left.begin() + long(transport_of(left)), left.end());
      const std::uint32_t sum = slow_pseudo(left);
      EXPECT_EQ(slow_checksum(segment, 0, sum), 0u);
    };
    // Once more: the server has not answered, and is asked again.
    is_as_sent(hosts.pass(kLan, {.sequence = kClientNumber + 1,
                                 .acknowledgment = hosts.cookie + 1,
                                 .flags = "A",
                                 .options = timestamp_option(72, hosts.cookie_time)}));
    hosts.open();
    is_as_sent(hosts.pass(kLan, {.sequence = kClientNumber + 1,
                                 .acknowledgment = hosts.cookie + 1,
                                 .flags = "PA",
                                 .options = timestamp_option(80, hosts.cookie_time + 5),
                                 .data = 20}));
    is_as_sent(hosts.pass(kWan, {.sequence = kServerNumber + 1,
                                 .acknowledgment = kClientNumber + 1,
                                 .flags = "PA",
                                 .window = 3200,
                                 .options = timestamp_option(905, 71),
                                 .data = 31}));
  }
}

TEST(ErrorsOfProxiedConnections, NothingElseIsChanged) {
  ProxiedFlow flow{};
  flow.shift = flow.client = flow.cookie = 77;
  flow.is_open = 1;
  const auto is_same = [&](Frame frame) {
    const Frame before = frame;
    for (const ProxyError to : {ProxyError::kToServer, ProxyError::kToClient}) {
      translate_error(flow, to, frame, parse_headers(frame));
    }
    return frame == before;
  };
  EXPECT_TRUE(is_same(tcp_frame({.sequence = 5, .flags = "A"}, true)));
  EXPECT_TRUE(is_same(error_about(udp(1, 2), 8)));
  EXPECT_TRUE(is_same(error_about(tcp_frame({.sequence = 5, .flags = "A"}, true), 4)));
  EXPECT_TRUE(is_same(error_about(tcp_frame({.sequence = 5, .flags = "A"}, true), 0)));
  Frame later = tcp_frame({.sequence = 5, .flags = "A"}, true);
  later[21] = std::byte{9};  // its fragment offset
  EXPECT_TRUE(is_same(error_about(later, 20)));
}

}  // namespace
}  // namespace millrace
