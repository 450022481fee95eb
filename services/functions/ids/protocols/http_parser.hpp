// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "services/functions/ids/protocols/app_parser.hpp"
#include "services/functions/ids/protocols/http2_headers.hpp"
#include "services/functions/ids/protocols/http_exchange.hpp"
#include "services/functions/ids/protocols/http_framing.hpp"
#include "services/functions/ids/protocols/http_library.hpp"

/// HTTP/1 by libhtp, the parser of Suricata 7, with its settings: buffers hold what Suricata's do.
///
/// A request's line is there when the line is, its headers and those of a response when all of them
/// are, bodies as they come. Other than in Suricata, nothing depends on the pieces in which bytes
/// come; so bytes behind a request without Content-Length are always the next request, and a
/// request line without a protocol is always one of HTTP/0.9. Trailers are in no buffer.
///
/// What follows a CONNECT waits for the response: it is a tunnel's, or the next request.
///
/// With a tunnel (CONNECT, 101) HTTP is done: HTTP/2 follows where the request asks for that, what
/// CONNECT leads to where it is the first request, else nothing that is read. What libhtp does not
/// understand breaks a direction: all that came so far stays there. settled() stays in front of
/// both, and of HTTP/0.9, so that a parser which is made anew comes to the same.

namespace millrace {

class HttpParser final : public AppParser {
 public:
  /// `transactions`: number of those that have been before.
  HttpParser(const AppLimits& limits, std::uint64_t transactions);

  void read(std::uint8_t direction, std::span<const std::byte> bytes,
            TransactionSink& sink) override;
  void end(std::uint8_t direction, TransactionSink& sink) override;
  std::uint64_t settled(std::uint8_t direction) const noexcept override {
    return settled_[direction];
  }
  std::uint64_t transactions() const noexcept override { return transactions_; }
  std::size_t held() const noexcept override;
  bool is_done() const noexcept override { return is_done_; }
  std::optional<AppRest> rest() override;
  bool is_broken(std::uint8_t direction) const noexcept override {
    return sides_[direction].is_broken;
  }

 private:
  struct Side {
    HttpFraming framing;
    std::string held;         ///< bytes that libhtp has not got
    std::uint64_t taken = 0;  ///< bytes that it has got, or were skipped
    std::size_t head = 0;     ///< of them, those of the message's head so far
    bool is_broken = false, is_ended = false;
  };
  struct Hooks;

  // Bytes on their way to libhtp.
  void take(std::uint8_t direction, std::string_view bytes);
  std::string_view take_pieces(std::uint8_t direction, std::string_view bytes);
  void take_held(std::uint8_t direction);
  void go_on_behind_connect(std::uint8_t direction);
  void go_on_with_requests();
  void take_piece(std::uint8_t direction, std::string_view piece, HttpPiece::Kind kind);
  void leave_as_it_is(std::uint8_t direction, std::string_view first);
  void feed(std::uint8_t direction, std::string_view piece);
  void put_what_came(std::uint8_t direction);
  HttpExpects expects(std::uint8_t direction, std::uint64_t& left) const;
  HttpExpects request_expects(std::uint64_t& left) const;
  HttpExpects response_expects(std::uint64_t& left) const;
  void count_head(std::uint8_t direction, std::size_t bytes, HttpExpects expected);
  void make_request();
  bool is_waiting(std::uint8_t direction, std::string_view bytes);
  bool is_waiting_for_connect() const;
  bool waits_for_http2(std::string_view bytes);
  void note_tunnel(HttpExchange& exchange);
  void look_ahead();
  void renew_connection();

  // What comes of them.
  HttpExchange& begin_exchange();
  HttpExchange* next_response();
  void finish(HttpExchange& exchange, std::uint8_t direction);
  void finish_all(std::uint8_t direction);
  void leave_connect(HttpExchange& exchange);
  void lose(std::uint8_t direction);
  void end_messages(std::uint8_t direction);
  void settle();
  void tell(HttpExchange& exchange);
  void tell_all();

  AppLimits limits_;
  HttpConnection connection_;
  std::array<Side, 2> sides_;
  std::deque<HttpExchange> exchanges_;  ///< those that are not through; in their order
  std::unique_ptr<HttpParser> ahead_;   ///< reads what waits: AppLimits::connects_ahead
  std::size_t looked_at_ = 0;           ///< of what waits, bytes that it has
  bool is_too_deep_ = false;            ///< so is not read ahead any more
  std::uint64_t begun_;                 ///< number of the next one
  std::uint64_t transactions_;          ///< that are settled
  std::array<std::uint64_t, 2> settled_{};
  std::uint32_t since_renewal_ = 0;  ///< transactions that libhtp's connection has had
  bool has_finished_ = false;        ///< a message, since settle()
  bool is_done_ = false;
  bool is_dangling_ = false;    ///< a request is made for a response that has none
  bool is_http_0_9_ = false;    ///< no further request follows
  bool wants_renewal_ = false;  ///< libhtp waits for what the parser knows
  InflateBill bill_;
  std::optional<Http2HeaderList> upgraded_;  ///< with is_done_: the request; HTTP/2 follows
  bool has_tunnel_ = false;                  ///< with is_done_: it stands behind CONNECT
  bool has_waited_ = false;                  ///< bytes of HTTP/2, for a response
  bool out_of_memory_ = false;               ///< in a hook, which must not throw
  TransactionSink* sink_ = nullptr;          ///< during read() and end()
};

}  // namespace millrace
