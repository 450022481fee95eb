// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/app_session.hpp"

#include <algorithm>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "services/functions/ids/protocols/app_parser.hpp"
#include "services/functions/ids/protocols/app_probe.hpp"
#include "services/functions/ids/protocols/dns_parser.hpp"
#include "services/functions/ids/protocols/http2_parser.hpp"
#include "services/functions/ids/protocols/http_parser.hpp"
#include "services/functions/ids/protocols/smtp_parser.hpp"
#include "services/functions/ids/protocols/ssh_parser.hpp"
#include "services/functions/ids/protocols/tls_parser.hpp"
#include "services/functions/ids/work_budget.hpp"

namespace millrace {
namespace {

/// None: the protocol has no transactions.
std::unique_ptr<AppParser> make_parser(AppProtocol protocol, const AppLimits& limits,
                                       std::uint64_t transactions) {
  switch (protocol) {
    case AppProtocol::kHttp:
      return std::make_unique<HttpParser>(limits, transactions);
    case AppProtocol::kHttp2:
      return std::make_unique<Http2Parser>(
          limits, Http2Start{.first = transactions, .transactions = transactions});
    case AppProtocol::kDns:
      return std::make_unique<DnsParser>(limits, transactions);
    case AppProtocol::kTls:
      return std::make_unique<TlsParser>(limits, transactions);
    case AppProtocol::kSsh:
      return std::make_unique<SshParser>(limits, transactions);
    case AppProtocol::kSmtp:
      return std::make_unique<SmtpParser>(limits, transactions);
    default:
      return nullptr;
  }
}

}  // namespace

struct AppSession::Parts {
  struct Side {
    std::string begin;       ///< first bytes, until the protocol is known
    std::uint64_t read = 0;  ///< bytes
    bool has_ended = false;
    bool is_broken = false;  ///< of a parser that is gone
  };

  AppLimits limits;
  AppProtocol protocol = AppProtocol::kUnknown;
  std::uint64_t transactions = 0;  ///< where there is no parser
  bool is_done = false;
  bool is_in_tunnel = false;  ///< one made anew begins in front of it
  std::unique_ptr<AppParser> parser;
  std::unique_ptr<DnsExchange> datagrams;
  std::array<Side, 2> sides;

  void read(std::uint8_t direction, std::span<const std::byte> bytes, std::uint16_t server_port,
            TransactionSink& sink);
  void end(std::uint8_t direction, TransactionSink& sink);
  void read_datagram(std::uint8_t direction, std::span<const std::byte> bytes,
                     std::uint16_t server_port, TransactionSink& sink);
  void recognise(std::uint8_t direction, std::span<const std::byte>& bytes,
                 std::uint16_t server_port, TransactionSink& sink);
  void begin(std::uint8_t direction, TransactionSink& sink);
  void feed(std::uint8_t direction, std::span<const std::byte> bytes, TransactionSink& sink);
  void go_on(TransactionSink& sink);
  void settle(AppProtocol as) noexcept;

  /// `work` needs memory that there is not: the session reads no further, and its parser is lost.
  template <typename Work>
  void guard(Work&& work) noexcept {
    try {
      std::forward<Work>(work)();
    } catch (const std::bad_alloc&) {
      settle(AppProtocol::kNone);
      if (limits.work != nullptr) limits.work->lose_parser();
    }
  }
};

/// No parser looks at what follows.
void AppSession::Parts::settle(AppProtocol as) noexcept {
  // As in Suricata: what leads to anything is what it was.
  protocol = is_in_tunnel && as == AppProtocol::kNone ? AppProtocol::kHttp : as;
  is_done = true;
  if (parser) transactions = parser->transactions();
  for (std::uint8_t i = 0; parser && i < sides.size(); ++i) {
    sides[i].is_broken = parser->is_broken(i);
  }
  if (datagrams) transactions = datagrams->transactions();
  parser.reset();
  datagrams.reset();
  for (Side& side : sides) side.begin = {};
}

void AppSession::Parts::feed(std::uint8_t direction, std::span<const std::byte> bytes,
                             TransactionSink& sink) {
  if (!parser || bytes.empty()) return;
  parser->read(direction, bytes, sink);
  if (parser->is_done()) go_on(sink);
}

/// The parser is done.
void AppSession::Parts::go_on(TransactionSink& sink) {
  std::optional<AppRest> rest = parser->rest();
  if (!rest) return settle(protocol);
  protocol = rest->protocol;
  parser = std::move(rest->parser);
  if (parser == nullptr) {
    is_in_tunnel = true;
    transactions = rest->transactions;
  }
  for (const std::uint8_t direction : {std::uint8_t{1}, std::uint8_t{0}}) {
    auto bytes = std::as_bytes(std::span{rest->bytes[direction]});
    if (protocol == AppProtocol::kUnknown && !bytes.empty()) {
      recognise(direction, bytes, 0, sink);
    }
    feed(direction, bytes, sink);
    if (sides[direction].has_ended) end(direction, sink);
  }
}

/// The other direction's bytes came first.
void AppSession::Parts::begin(std::uint8_t direction, TransactionSink& sink) {
  parser = make_parser(protocol, limits, transactions);
  if (!parser) return settle(protocol);
  const std::uint8_t other = 1 - direction;
  const std::string before = std::exchange(sides[other].begin, {});
  const std::string first = std::exchange(sides[direction].begin, {});
  feed(other, std::as_bytes(std::span{before}), sink);
  if (sides[other].has_ended) end(other, sink);
  feed(direction, std::as_bytes(std::span{first}), sink);
}

void AppSession::Parts::recognise(std::uint8_t direction, std::span<const std::byte>& bytes,
                                  std::uint16_t server_port, TransactionSink& sink) {
  std::string& kept = sides[direction].begin;
  const std::size_t taken = std::min(kAppProbeBytes - kept.size(), bytes.size());
  kept.append(reinterpret_cast<const char*>(bytes.data()), taken);
  bytes = bytes.subspan(taken);
  protocol = probe_stream({sides[0].begin, sides[1].begin}, server_port);
  if (protocol != AppProtocol::kUnknown) return begin(direction, sink);
  if (!bytes.empty()) settle(AppProtocol::kNone);
}

void AppSession::Parts::read(std::uint8_t direction, std::span<const std::byte> bytes,
                             std::uint16_t server_port, TransactionSink& sink) {
  sides[direction].read += bytes.size();
  if (protocol == AppProtocol::kUnknown) recognise(direction, bytes, server_port, sink);
  feed(direction, bytes, sink);
}

void AppSession::Parts::end(std::uint8_t direction, TransactionSink& sink) {
  sides[direction].has_ended = true;
  if (parser) {
    parser->end(direction, sink);
    if (parser && parser->is_done()) go_on(sink);
  } else if (protocol == AppProtocol::kUnknown && sides[0].has_ended && sides[1].has_ended) {
    settle(AppProtocol::kNone);
  }
}

void AppSession::Parts::read_datagram(std::uint8_t direction, std::span<const std::byte> bytes,
                                      std::uint16_t server_port, TransactionSink& sink) {
  if (is_done) return;
  if (protocol == AppProtocol::kUnknown) protocol = probe_datagram(direction, bytes, server_port);
  if (protocol == AppProtocol::kNone) settle(protocol);
  if (protocol != AppProtocol::kDns) return;
  if (!datagrams) datagrams = std::make_unique<DnsExchange>(limits, transactions);
  datagrams->message(direction, bytes, {}, sink);
}

AppSession::AppSession(const AppLimits& limits) : AppSession(limits, AppProtocol::kUnknown, 0) {}

AppSession::AppSession(const AppLimits& limits, AppProtocol protocol, std::uint64_t transactions)
    : parts_(std::make_unique<Parts>()) {
  parts_->limits = limits;
  parts_->protocol = protocol;
  parts_->transactions = transactions;
  if (protocol == AppProtocol::kUnknown) return;
  // HTTP/2 that does not begin its flow begins with a request of HTTP/1.
  if (protocol == AppProtocol::kHttp2) parts_->protocol = AppProtocol::kHttp;
  parts_->parser = make_parser(parts_->protocol, limits, transactions);
  if (!parts_->parser || parts_->parser->is_done()) parts_->settle(parts_->protocol);
}

AppSession::~AppSession() = default;

void AppSession::read(std::uint8_t direction, std::span<const std::byte> bytes,
                      std::uint16_t server_port, TransactionSink& sink) noexcept {
  parts_->guard([&] { parts_->read(direction, bytes, server_port, sink); });
}

void AppSession::end(std::uint8_t direction, TransactionSink& sink) noexcept {
  parts_->guard([&] { parts_->end(direction, sink); });
}

void AppSession::read_datagram(std::uint8_t direction, std::span<const std::byte> bytes,
                               std::uint16_t server_port, TransactionSink& sink) noexcept {
  parts_->guard([&] { parts_->read_datagram(direction, bytes, server_port, sink); });
}

AppProtocol AppSession::protocol() const noexcept { return parts_->protocol; }

std::uint64_t AppSession::settled(std::uint8_t direction) const noexcept {
  if (parts_->protocol == AppProtocol::kUnknown) return 0;
  if (parts_->is_in_tunnel && parts_->parser) return 0;
  return parts_->parser ? parts_->parser->settled(direction) : parts_->sides[direction].read;
}

std::uint64_t AppSession::transactions() const noexcept {
  if (parts_->is_in_tunnel) return 0;
  if (parts_->datagrams) return parts_->datagrams->transactions();
  return parts_->parser ? parts_->parser->transactions() : parts_->transactions;
}

std::size_t AppSession::held() const noexcept {
  std::size_t bytes = sizeof(Parts);
  for (const Parts::Side& side : parts_->sides) bytes += side.begin.capacity();
  if (parts_->parser) bytes += parts_->parser->held();
  return bytes + (parts_->datagrams ? parts_->datagrams->held() : 0);
}

bool AppSession::is_broken(std::uint8_t direction) const noexcept {
  return parts_->parser ? parts_->parser->is_broken(direction) : parts_->sides[direction].is_broken;
}

bool AppSession::is_done() const noexcept { return parts_->is_done; }

}  // namespace millrace
