// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "services/functions/ids/protocols/transaction.hpp"
#include "services/functions/ids/rules/signature.hpp"

/// Which of the detector's ways look at a rule, and by which literal the rule is named there.

namespace millrace {

/// What a payload is of. The rules of each are searched for with a database of their own.
enum class PayloadOf : std::uint8_t {
  kDatagram,   ///< a packet of anything but TCP
  kTcpPacket,  ///< a packet of TCP: of rules that look at packets, most of them for a place in it
  kStream,     ///< what the receiver of TCP reads
};
inline constexpr std::size_t kPayloadKinds = 3;

struct RuleRoutes {
  bool payload[kPayloadKinds] = {};  ///< by PayloadOf; a rule without contents: its headers
  bool transactions = false;         ///< it asks for a buffer other than the payload
  bool has_payload = false;          ///< it asks for the payload
  bool takes(PayloadOf kind) const noexcept { return payload[static_cast<std::size_t>(kind)]; }
};
/// A rule that asks for the payload and for other buffers is looked at with transactions.
RuleRoutes routes_of(const Signature& signature) noexcept;

/// A rule's protocol asks for something that is recognised in flows.
bool asks_app(RuleProtocol protocol) noexcept;
/// What is asked for is `app`: of kHttp, either version.
bool is_app(RuleProtocol protocol, AppProtocol app) noexcept;
/// Packets of TCP, and packets that are not of TCP, can be of the rule's protocol.
bool can_be_tcp(RuleProtocol protocol) noexcept;
bool can_be_datagram(RuleProtocol protocol) noexcept;

/// Longer literals are looked for by their last bytes.
inline constexpr std::size_t kGateBytesMax = 64;
/// Shorter ones are in all texts, and Vectorscan does not find single bytes well.
inline constexpr std::size_t kGateBytesMin = 2;

/// A literal without which a rule cannot match.
struct RuleGate {
  std::uint16_t buffer, test;  ///< its place in the signature
  std::string bytes;           ///< of the literal, the last ones
  bool nocase;
  bool ends_content;  ///< it ends where the content ends, or is the literal of a pcre
};
/// The fast pattern, or the longest content or literal of a pcre where that cannot be looked for:
/// it is too short, or it is of the payload and the rule is looked at with transactions. Nothing:
/// none of them can gate the rule, or transforms stand before each.
std::optional<RuleGate> gate_of(const Signature& signature);

/// Last bytes of a content that ends where it ends.
std::string gate_bytes(const ContentMatch& content, std::size_t offset, std::size_t length);

}  // namespace millrace
