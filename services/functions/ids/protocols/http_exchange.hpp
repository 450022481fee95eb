// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "services/functions/ids/protocols/app_session.hpp"
#include "services/functions/ids/protocols/http_library.hpp"
#include "services/functions/ids/protocols/http_multipart.hpp"
#include "services/functions/ids/protocols/inflate_bill.hpp"

/// A request and its response while they come, and how libhtp's view of them fills buffers.

namespace millrace {

struct HttpExchange {
  std::unique_ptr<Transaction> transaction;  ///< none: it was given up
  bool is_dangling = false;                  ///< a response that has no request
  bool is_http_0_9 = false;                  ///< neither has headers
  bool is_connect = false;
  bool asks_http2 = false;  ///< in place of what follows the request and its response
  // By direction.
  std::array<bool, 2> has_news{}, has_headers{}, is_finished{};
  std::array<bool, 2> has_end{};
  std::array<std::uint64_t, 2> end{};      ///< with has_end, in the stream: behind its last byte
  std::array<std::string, 2> raw_headers;  ///< until they are put
  std::array<InflatedBody, 2> inflated;    ///< with `inflates`
  std::array<bool, 2> has_file{};
  std::array<bool, 2> inflates{};  ///< its body is compressed
  std::size_t head_bytes = 0;      ///< of memory that libhtp keeps of both heads
  std::optional<MultipartReader> multipart;

  /// Bytes of memory, as AppParser::held(); but not those of libhtp that inflate bodies.
  std::size_t held() const noexcept {
    return sizeof *this + head_bytes + raw_headers[0].capacity() + raw_headers[1].capacity() +
           (multipart ? multipart->held() : 0) + (transaction ? transaction->held() : 0);
  }
};

/// Each is called once; what the message does not have is not put. The transaction is there.
void put_request_line(const htp_tx_t& tx, HttpExchange& exchange);
void put_request_headers(const htp_tx_t& tx, HttpExchange& exchange);
/// Its line too: a line of "100 Continue" is none of the response's.
void put_response_headers(const htp_tx_t& tx, HttpExchange& exchange);

/// Where bytes of bodies go: into the exchange's transaction. Detection is told when a buffer is
/// full of bytes that it has not seen.
struct BodyRoom {
  const AppLimits& limits;
  TransactionSink& sink;
};
/// What says which file a body is. Borrowed.
struct BodyFacts {
  bool is_post = false, is_put = false;
  bool has_response = false;  ///< its head is there, or it has none
  std::string_view path;
  std::string_view request_type, response_disposition;  ///< headers; empty: none
};
/// Null: bytes in front of a response's line. Of a body whose file has begun, no more is said.
BodyFacts facts_of(const htp_tx_t* tx, const HttpExchange& exchange, std::uint8_t direction);
void put_request_body(const BodyFacts& facts, HttpExchange& exchange, std::string_view bytes,
                      const BodyRoom& room);
void put_response_body(const BodyFacts& facts, HttpExchange& exchange, std::string_view bytes,
                       const BodyRoom& room);
/// A file without a boundary behind it ends.
void end_request_body(HttpExchange& exchange, const BodyRoom& room);

}  // namespace millrace
