// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/functions/ids/detect/buffer_value.hpp"
#include "services/functions/ids/protocols/text_pool.hpp"
#include "services/functions/ids/rules/rule_buffer.hpp"

/// A question and its answer (HTTP, DNS), or a handshake (TLS, SSH), as buffers that rules name.

namespace millrace {

/// What a flow carries, recognised by its bytes.
enum class AppProtocol : std::uint8_t {
  kUnknown,  ///< not yet
  kNone,     ///< none of these
  kHttp,
  kTls,
  kDns,
  kSsh,
  kSmtp,
  kFtp,
  kSmb,
  kHttp2,
};
inline constexpr std::size_t kAppProtocols = static_cast<std::size_t>(AppProtocol::kHttp2) + 1;
/// "http", as EVE's app_proto; "unknown", "failed".
std::string_view name_of(AppProtocol protocol) noexcept;

/// In place of a transaction's number: there is none.
inline constexpr std::uint64_t kNoTransaction = UINT64_MAX;

/// One value of a buffer. Bytes that a limit cuts off in front are counted in `base`.
struct BufferPart {
  std::string bytes;
  std::uint64_t base = 0;
  std::uint32_t seen = 0;  ///< of `bytes`, those that detection has looked at
  bool is_complete = false;
  /// Where the bytes that are not seen were taken from, all at once; null: not known. Borrowed
  /// while a parser reads.
  const char* source = nullptr;

  BufferValue value() const noexcept {
    return {.bytes = std::as_bytes(std::span{bytes}),
            .base = base,
            .seen = seen,
            .is_complete = is_complete};
  }
};

/// A rule that may match a transaction with what follows in one direction.
struct WaitingRule {
  std::uint32_t signature;
  std::uint16_t buffer;   ///< place in Signature::buffers: what that asks for is not there
  std::uint16_t missing;  ///< Look::missing
  std::uint8_t direction;
  std::uint64_t until;  ///< end of the stream's text, in the stream, by which it did not match
};

/// What commands of SMTP say of a mail, as they were sent: "<a@b.test>".
struct MailEnvelope {
  std::string helo, from;
  std::vector<std::string> recipients;
};

/// Of the parser's thread. Parsers put(), detection looks and notes what it has found. The body of
/// a response and its kFileData are one value: what is put as one of them is there as both.
class Transaction {
 public:
  /// `pool`: room for values that grow; borrowed; null: there is none.
  Transaction(AppProtocol protocol, std::uint64_t number, TextPool* pool = nullptr)
      : protocol_(protocol), number_(number), pool_(pool) {}

  AppProtocol protocol() const noexcept { return protocol_; }
  /// In its flow, from 0; kNoTransaction.
  std::uint64_t number() const noexcept { return number_; }

  /// One more value, which is complete.
  void put(std::uint8_t direction, RuleBuffer buffer, std::string_view bytes);
  /// Likewise, of a buffer whose values are without bound: one that is kept is not put again, and
  /// of those that detection has seen no more than some are kept. So that none is lost unseen, let
  /// detection look while there are kNewValuesMax.
  void put_new(std::uint8_t direction, RuleBuffer buffer, std::string_view bytes);
  static constexpr std::size_t kNewValuesMax = 16;
  /// More of the last value of a buffer that grows; of a new value where there is none, or the last
  /// is complete. At most the last `limit` bytes (1..) of a value are kept, at least half of it;
  /// `base` counts those in front. So that none is cut off unseen, let detection look before that
  /// many are unseen.
  void append(std::uint8_t direction, RuleBuffer buffer, std::string_view bytes, std::size_t limit);
  /// Nothing follows: of one buffer's last value; of all of a direction, also of buffers that it
  /// does not have.
  void complete(std::uint8_t direction, RuleBuffer buffer) noexcept;
  void complete(std::uint8_t direction) noexcept;

  std::vector<BufferPart>& parts(std::uint8_t direction, RuleBuffer buffer) noexcept;
  bool is_complete(std::uint8_t direction) const noexcept { return complete_[direction]; }
  /// Values, and whether they are whole, have changed since taken().
  bool has_news(std::uint8_t direction, RuleBuffer buffer) const noexcept;
  /// Calls visit(buffer) for each buffer with news, in their order. A response's body is kFileData.
  void each_news(std::uint8_t direction, auto&& visit) const {
    for (std::uint64_t left = news_[direction].bits; left != 0; left &= left - 1) {
      visit(static_cast<RuleBuffer>(std::countr_zero(left)));
    }
  }
  /// Detection has looked at all that is new: values are `seen`.
  void taken(std::uint8_t direction) noexcept;

  /// Of a direction that is complete and was looked at: its bodies are of no more use, and their
  /// room goes back to the pool. Other values stay, for the log.
  void forget_bodies(std::uint8_t direction);
  /// Nothing is left of it but room: that of values that grow goes back to the pool, that of others
  /// stays within bounds. Nothing else but renew() may follow.
  void recycle();
  /// Behind recycle(): another one begins.
  void renew(AppProtocol protocol, std::uint64_t number) noexcept;

  /// Bytes of memory that it keeps: values, their room, notes.
  std::size_t held() const noexcept;

  // Detection's notes.
  std::vector<WaitingRule> waiting;
  /// By direction, signatures that have matched there; ascending.
  std::array<std::vector<std::uint32_t>, 2> matched;

  // For the log, by direction.
  std::array<std::string, 2> messages;        ///< of DNS, with AppLimits::keeps_messages
  MailEnvelope envelope;                      ///< with AppLimits::keeps_envelopes
  std::array<std::uint64_t, 2> body_bytes{};  ///< of HTTP, as they came
  std::uint32_t stream = 0;                   ///< of HTTP/2: its identifier
  bool is_logged = false;                     ///< the log's note

 private:
  void keep_room(BufferPart& part);
  void forget_seen_parts(std::vector<BufferPart>& parts) noexcept;

  AppProtocol protocol_;
  std::uint64_t number_;
  TextPool* pool_;
  std::array<std::array<std::vector<BufferPart>, kRuleBufferCount>, 2> parts_;
  std::vector<std::string> rooms_;  ///< of values of those that were before
  std::size_t text_bytes_ = 0;      ///< of all parts, with their room, and of rooms_
  /// A bit for each buffer.
  struct Buffers {
    std::uint64_t bits = 0;
    void set(std::size_t place) noexcept { bits |= std::uint64_t{1} << place; }
    bool has(std::size_t place) const noexcept { return (bits >> place & 1) != 0; }
  };
  static_assert(kRuleBufferCount <= 64);
  std::array<Buffers, 2> news_;
  std::array<Buffers, 2> used_;  ///< those with parts
  std::array<bool, 2> complete_{};
};

}  // namespace millrace
