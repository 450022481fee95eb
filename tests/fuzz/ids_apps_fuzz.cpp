// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Bytes of both directions through sessions. What a session is given at once, another one gets in
// pieces, and is lost and made anew from what is not settled: both come to the same.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "shared/base/check.hpp"
#include "tests/unit/services/functions/ids/protocols/app_conversation.hpp"

namespace millrace {
namespace {

constexpr std::array<std::uint16_t, 6> kPorts = {80, 443, 53, 22, 25, 21};
constexpr AppLimits kLimits{.header_bytes = 2048, .transactions = 4};
constexpr std::size_t kOpBytes = 3;

/// `bits`: direction, end, loss of the session, and the size of pieces.
struct Op {
  AppSpeech speech;
  bool loses;
  std::size_t piece;
};

Op take_op(std::span<const std::uint8_t>& rest, std::array<bool, 2>& ended) {
  const std::uint8_t bits = rest[0];
  const std::size_t wanted = std::size_t{rest[1]} << 8 | rest[2];
  rest = rest.subspan(kOpBytes);
  const auto bytes = rest.first(std::min(wanted, rest.size()));
  rest = rest.subspan(bytes.size());
  Op op{.speech = {.direction = static_cast<std::uint8_t>(bits & 1),
                   .text = std::string(bytes.begin(), bytes.end()),
                   .ends = (bits & 6) == 6},
        .loses = (bits & 8) != 0,
        .piece = std::size_t{1} << (bits >> 4 & 7)};
  if (ended[op.speech.direction]) op.speech = {};
  ended[op.speech.direction] = ended[op.speech.direction] || op.speech.ends;
  return op;
}

void speak_in_pieces(AppConversation& conversation, const Op& op) {
  const std::string& text = op.speech.text;
  for (std::size_t at = 0; at < text.size(); at += op.piece) {
    conversation.speak({.direction = op.speech.direction, .text = text.substr(at, op.piece)});
    if (op.loses) conversation.lose_session();
  }
  if (op.speech.ends)
    conversation.speak({.direction = op.speech.direction, .text = {}, .ends = true});
  if (op.loses) conversation.lose_session();
}

/// `loses`: sessions of `cut` were lost. One of SMTP that is made anew does not know how many
/// commands in front of it wait for an answer; where answers are missing it reads another DATA.
void check_same(AppConversation& whole, AppConversation& cut, bool loses) {
  MILLRACE_CHECK(whole.session().protocol() == cut.session().protocol());
  const AppProtocol protocol = whole.session().protocol();
  if (protocol == AppProtocol::kHttp || protocol == AppProtocol::kHttp2)
    return;  // bodies are kept by pieces
  MILLRACE_CHECK(whole.session().is_done() == cut.session().is_done());
  if (protocol == AppProtocol::kSmtp && loses) return;
  MILLRACE_CHECK(whole.session().transactions() == cut.session().transactions());
  if (whole.session().protocol() == AppProtocol::kSmtp) return;  // files too
  MILLRACE_CHECK(whole.told().records == cut.told().records);
}

void check_streams(std::span<const std::uint8_t> rest, std::uint16_t port) {
  AppConversation whole(port, kLimits), cut(port, kLimits);
  std::array<bool, 2> ended{};
  bool loses = false;
  while (rest.size() >= kOpBytes) {
    const Op op = take_op(rest, ended);
    loses = loses || op.loses;
    whole.speak(op.speech);
    speak_in_pieces(cut, op);
    for (const std::uint8_t direction : {0, 1}) {
      MILLRACE_CHECK(cut.session().settled(direction) <= cut.given(direction));
    }
  }
  check_same(whole, cut, loses);
}

void check_datagrams(std::span<const std::uint8_t> rest, std::uint16_t port) {
  AppSession session(kLimits);
  AppRecorder told;
  std::array<bool, 2> ended{};
  while (rest.size() >= kOpBytes) {
    const Op op = take_op(rest, ended);
    session.read_datagram(op.speech.direction, app_bytes(op.speech.text), port, told);
    MILLRACE_CHECK(session.settled(0) == 0 && session.settled(1) == 0);
  }
  for (const auto& [key, record] : told.records) {
    MILLRACE_CHECK(record.protocol == AppProtocol::kDns && key.first < told.records.size());
  }
}

}  // namespace
}  // namespace millrace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::uint16_t port = millrace::kPorts[data[0] % millrace::kPorts.size()];
  const std::span<const std::uint8_t> rest(data + 1, size - 1);
  if (data[0] >= 128) {
    millrace::check_datagrams(rest, port);
  } else {
    millrace::check_streams(rest, port);
  }
  return 0;
}
