// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/http_parser.hpp"

#include <algorithm>
#include <new>
#include <span>
#include <utility>

#include "services/functions/ids/protocols/app_probe.hpp"
#include "services/functions/ids/protocols/http_hooks.hpp"
#include "services/functions/ids/protocols/transaction_pool.hpp"

namespace millrace {

namespace {

/// libhtp keeps some bytes for each transaction that was: it is made anew after so many.
constexpr std::uint32_t kRenewAfter = 256;
/// Requests without a response, of which nothing but that is known, for each that is kept.
constexpr std::size_t kOutstandingPerKept = 16;
/// Memory of libhtp: of a connection, and of a layer that inflates.
constexpr std::size_t kConnectionBytes = 8u << 10, kInflateBytes = 64u << 10;
constexpr std::string_view kMadeRequest = "GET / HTTP/1.1\r\n\r\n";
constexpr char kFirstPrintable = ' ', kLastPrintable = '~';
constexpr std::array<std::uint8_t, 2> kDirections = {0, 1};

auto* first_unanswered(auto& exchanges) {
  const auto found =
      std::ranges::find_if(exchanges, [](const HttpExchange& one) { return !one.is_finished[1]; });
  return found == exchanges.end() ? nullptr : &*found;
}

/// Text of ASCII. What deflate makes of anything is not, but for bytes that are chosen for that.
bool is_text(std::string_view bytes) {
  return std::ranges::all_of(bytes, [](char c) {
    return (c >= kFirstPrintable && c <= kLastPrintable) || c == '\t' || c == '\r' || c == '\n';
  });
}

}  // namespace

HttpParser::HttpParser(const AppLimits& limits, std::uint64_t transactions)
    : limits_(limits), begun_(transactions), transactions_(transactions) {
  renew_connection();
}

void HttpParser::renew_connection() {
  connection_ = open_http_connection(Hooks::config_of(limits_.inflate_layers), this);
  since_renewal_ = 0;
  wants_renewal_ = false;
}

std::size_t HttpParser::held() const noexcept {
  std::size_t bytes =
      sizeof *this + kConnectionBytes + sides_[0].held.capacity() + sides_[1].held.capacity();
  if (ahead_) bytes += ahead_->held();
  for (const HttpExchange& exchange : exchanges_) {
    bytes += exchange.held();
    for (const std::uint8_t direction : kDirections) {
      const bool inflates = exchange.inflates[direction] && !exchange.is_finished[direction];
      if (inflates) bytes += kInflateBytes * std::max(1u, limits_.inflate_layers);
    }
  }
  return bytes;
}

void HttpParser::read(std::uint8_t direction, std::span<const std::byte> bytes,
                      TransactionSink& sink) {
  sink_ = &sink;
  if (sides_[direction].is_ended) return;
  take(direction, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

void HttpParser::end(std::uint8_t direction, TransactionSink& sink) {
  sink_ = &sink;
  if (sides_[direction].is_ended) return;
  sides_[direction].is_ended = true;
  if (!sides_[direction].is_broken && !is_done_) {
    take(direction, {});
    end_messages(direction);
    go_on_behind_connect(direction);
  }
  tell_all();
}

void HttpParser::take(std::uint8_t direction, std::string_view bytes) {
  Side& side = sides_[direction];
  if (is_done_ || side.is_broken) return;
  if (side.held.empty()) {
    side.held = take_pieces(direction, bytes);
  } else {
    side.held.append(bytes);
    take_held(direction);
  }
  for (const std::uint8_t one : kDirections) {
    if (sides_[one].held.size() > limits_.header_bytes) lose(one);
    if (is_done_) finish_all(one);
    const bool goes_on = upgraded_ || has_tunnel_;
    if ((is_done_ && !goes_on) || sides_[one].is_broken) sides_[one].held = {};
  }
  go_on_behind_connect(direction);
  look_ahead();
  tell_all();
}

/// Behind a CONNECT. What turns out to be requests is read once more then.
void HttpParser::look_ahead() {
  const std::string_view held = sides_[0].held;
  if (limits_.connects_ahead == 0 || held.empty() || is_done_ || !is_waiting_for_connect()) {
    ahead_.reset();
    looked_at_ = 0;
    return;
  }
  if (!ahead_) {
    constexpr std::uint16_t kAnyPort = 0;
    const std::string_view begin = held.substr(0, kAppProbeBytes);
    if (probe_stream({begin, {}}, kAnyPort) != AppProtocol::kHttp) return;
    is_too_deep_ = limits_.connects_ahead == 1;
    if (is_too_deep_) return lose(0);
    AppLimits limits = limits_;
    --limits.connects_ahead;
    ahead_ = std::make_unique<HttpParser>(limits, begun_);
  }
  ahead_->read(0, std::as_bytes(std::span{held.substr(looked_at_)}), *sink_);
  looked_at_ = held.size();
  is_too_deep_ = ahead_->is_too_deep_;
  if (is_too_deep_) lose(0);
}

void HttpParser::tell_all() {
  settle();
  for (HttpExchange& exchange : exchanges_) tell(exchange);
  if (out_of_memory_) throw std::bad_alloc();
}

void HttpParser::take_held(std::uint8_t direction) {
  std::string& held = sides_[direction].held;
  held.erase(0, held.size() - take_pieces(direction, held).size());
}

/// Returns those that must wait.
std::string_view HttpParser::take_pieces(std::uint8_t direction, std::string_view bytes) {
  Side& side = sides_[direction];
  while (!bytes.empty() && !side.is_broken && !is_done_ && !is_waiting(direction, bytes)) {
    std::uint64_t left = 0;
    const HttpExpects expected = expects(direction, left);
    const HttpPiece piece = side.framing.next(expected, bytes, side.is_ended, left);
    if (piece.bytes == 0) break;
    if (piece.begins_compressed) leave_as_it_is(direction, bytes.substr(0, piece.bytes));
    take_piece(direction, bytes.substr(0, piece.bytes), piece.kind);
    side.taken += piece.bytes;
    bytes.remove_prefix(piece.bytes);
    count_head(direction, piece.bytes, expected);
    settle();
    go_on_behind_connect(direction);
  }
  return bytes;
}

/// Requests have waited for a response. They go on before what follows the response.
void HttpParser::go_on_behind_connect(std::uint8_t direction) {
  if (is_done_) return;
  if (!wants_renewal_) {
    if (direction == 1 && has_waited_ && !is_waiting(0, sides_[0].held)) go_on_with_requests();
    return;
  }
  settle();
  renew_connection();
  ahead_.reset();
  looked_at_ = 0;
  if (direction == 1) go_on_with_requests();
}

void HttpParser::go_on_with_requests() {
  has_waited_ = false;
  if (sides_[0].is_broken) return;
  take_held(0);
  if (sides_[0].is_ended) end_messages(0);
}

/// Heads of any length would fill memory.
void HttpParser::count_head(std::uint8_t direction, std::size_t bytes, HttpExpects expected) {
  Side& side = sides_[direction];
  std::uint64_t left = 0;
  const bool goes_on = expected != HttpExpects::kBytes && expected != HttpExpects::kChunked &&
                       expects(direction, left) == HttpExpects::kLine;
  side.head = goes_on ? side.head + bytes : 0;
  if (side.head > limits_.header_bytes) lose(direction);
}

void HttpParser::take_piece(std::uint8_t direction, std::string_view piece, HttpPiece::Kind kind) {
  if (kind == HttpPiece::Kind::kSkip) return;
  if (direction == 1 && next_response() == nullptr) make_request();
  if (sides_[direction].is_broken) return;
  if (kind == HttpPiece::Kind::kFeed) return feed(direction, piece);
  HttpExchange& exchange = *next_response();
  if (exchange.transaction == nullptr) return;
  const htp_tx_t* const tx = htp_connp_get_out_tx(connection_.get());
  put_response_body(facts_of(tx, exchange, 1), exchange, piece,
                    {.limits = limits_, .sink = *sink_});
}

/// libhtp asks for a request in front of each response. Where it understands no more requests, it
/// is made anew: it has no response in hand here.
void HttpParser::make_request() {
  if (sides_[0].is_broken) renew_connection();
  if (htp_connp_get_in_tx(connection_.get()) != nullptr) return lose(1);
  is_dangling_ = true;
  feed(0, kMadeRequest);
  is_dangling_ = false;
  if (next_response() == nullptr) lose(1);
}

/// A body that says gzip and is plain: libhtp may take it for raw deflate. `first`: of its bytes.
void HttpParser::leave_as_it_is(std::uint8_t direction, std::string_view first) {
  htp_tx_t* tx = direction == 0 ? htp_connp_get_in_tx(connection_.get())
                                : htp_connp_get_out_tx(connection_.get());
  if (tx == nullptr || !is_text(first)) return;
  htp_content_encoding_t& encoding =
      direction == 0 ? tx->request_content_encoding : tx->response_content_encoding_processing;
  if (encoding == HTP_COMPRESSION_GZIP) encoding = HTP_COMPRESSION_NONE;
}

void HttpParser::feed(std::uint8_t direction, std::string_view piece) {
  htp_connp_t* connection = connection_.get();
  const htp_time_t never{};
  HttpExchange* const answered = direction == 1 ? next_response() : nullptr;
  const int state = direction == 0
                        ? htp_connp_req_data(connection, &never, piece.data(), piece.size())
                        : htp_connp_res_data(connection, &never, piece.data(), piece.size());
  if (state == HTP_STREAM_TUNNEL) {
    is_done_ = true;
    if (answered != nullptr) note_tunnel(*answered);
  } else if (state != HTP_STREAM_DATA) {
    if (!out_of_memory_) put_what_came(direction);
    lose(direction);
  }
}

/// libhtp has told of a head only if all of it was good.
void HttpParser::put_what_came(std::uint8_t direction) {
  htp_tx_t* tx = direction == 0 ? htp_connp_get_in_tx(connection_.get())
                                : htp_connp_get_out_tx(connection_.get());
  auto* exchange = tx == nullptr ? nullptr : static_cast<HttpExchange*>(htp_tx_get_user_data(tx));
  if (exchange == nullptr || exchange->transaction == nullptr || exchange->has_headers[direction]) {
    return;
  }
  exchange->has_headers[direction] = true;
  if (direction == 0 && tx->request_line != nullptr) put_request_headers(*tx, *exchange);
  if (direction == 1 && tx->response_line != nullptr) put_response_headers(*tx, *exchange);
}

HttpExpects HttpParser::expects(std::uint8_t direction, std::uint64_t& left) const {
  return direction == 0 ? request_expects(left) : response_expects(left);
}

HttpExpects HttpParser::request_expects(std::uint64_t& left) const {
  const htp_tx_t* tx = htp_connp_get_in_tx(connection_.get());
  left = UINT64_MAX;
  if (is_http_0_9_) return HttpExpects::kNothing;
  if (tx == nullptr || tx->request_progress <= HTP_REQUEST_LINE) return HttpExpects::kRequest;
  if (tx->request_progress != HTP_REQUEST_BODY) return HttpExpects::kLine;
  if (tx->request_transfer_coding == HTP_CODING_CHUNKED) return HttpExpects::kChunked;
  const std::int64_t rest = tx->request_content_length - tx->request_message_len;
  if (rest > 0) left = static_cast<std::uint64_t>(rest);
  return HttpExpects::kBytes;
}

HttpExpects HttpParser::response_expects(std::uint64_t& left) const {
  const htp_tx_t* tx = htp_connp_get_out_tx(connection_.get());
  left = UINT64_MAX;
  if (tx == nullptr) {
    const HttpExchange* next = first_unanswered(exchanges_);
    const bool is_0_9 = next != nullptr && next->is_http_0_9;
    return is_0_9 ? HttpExpects::kBytes : HttpExpects::kResponse;
  }
  if (tx->response_progress <= HTP_RESPONSE_LINE) return HttpExpects::kResponse;
  if (tx->response_progress != HTP_RESPONSE_BODY) return HttpExpects::kLine;
  if (tx->response_transfer_coding == HTP_CODING_CHUNKED) return HttpExpects::kChunked;
  const std::int64_t rest = tx->response_content_length - tx->response_message_len;
  if (rest > 0) left = static_cast<std::uint64_t>(rest);
  return HttpExpects::kBytes;
}

HttpExchange* HttpParser::next_response() { return first_unanswered(exchanges_); }

/// Of requests without a response, the oldest is given up where there are too many.
HttpExchange& HttpParser::begin_exchange() {
  HttpExchange& made = exchanges_.emplace_back();
  made.transaction = take_transaction(limits_.pool, AppProtocol::kHttp, begun_);
  made.is_dangling = is_dangling_;
  ++begun_;
  ++since_renewal_;
  const std::size_t kept = std::max<std::size_t>(1, limits_.transactions);
  if (exchanges_.size() > kept) {
    HttpExchange& oldest = exchanges_[exchanges_.size() - kept - 1];
    if (oldest.transaction != nullptr) {
      for (const std::uint8_t direction : kDirections) {
        oldest.transaction->complete(direction);
        oldest.has_news[direction] = true;
      }
      tell(oldest);
      oldest.transaction.reset();
    }
  }
  if (sides_[1].is_ended || sides_[1].is_broken) finish(made, 1);
  if (exchanges_.size() > kept * kOutstandingPerKept) lose(0);
  return made;
}

void HttpParser::finish(HttpExchange& exchange, std::uint8_t direction) {
  if (exchange.is_finished[direction]) return;
  exchange.is_finished[direction] = true;
  has_finished_ = true;
  exchange.has_news[direction] = true;
  if (exchange.transaction != nullptr) exchange.transaction->complete(direction);
}

void HttpParser::finish_all(std::uint8_t direction) {
  if (direction == 1 && is_waiting_for_connect()) leave_connect(exchanges_.back());
  for (HttpExchange& exchange : exchanges_) finish(exchange, direction);
}

/// Its request is over with its response, as far as one comes. libhtp would wait for more.
void HttpParser::leave_connect(HttpExchange& exchange) {
  finish(exchange, 0);
  wants_renewal_ = true;
}

void HttpParser::lose(std::uint8_t direction) {
  sides_[direction].is_broken = true;
  finish_all(direction);
}

/// What libhtp has in hand of the direction is the last of it.
void HttpParser::end_messages(std::uint8_t direction) {
  htp_connp_t* connection = connection_.get();
  const htp_time_t never{};
  if (direction == 0 && !sides_[0].is_broken && !is_waiting_for_connect()) {
    if (htp_connp_get_in_tx(connection) != nullptr) htp_connp_req_close(connection, &never);
    htp_tx_t* tx = htp_connp_get_in_tx(connection);
    if (tx != nullptr) htp_tx_state_request_complete(tx);
  }
  if (direction == 1 && !sides_[1].is_broken) {
    htp_tx_t* tx = htp_connp_get_out_tx(connection);
    if (tx != nullptr) htp_tx_state_response_complete(tx);
  }
  finish_all(direction);
}

/// Behind each piece: a message that has ended ends where the piece does.
void HttpParser::settle() {
  if (!has_finished_) return;
  has_finished_ = false;
  const bool is_final = is_done_ || is_http_0_9_ || sides_[0].is_broken || sides_[1].is_broken;
  for (HttpExchange& exchange : exchanges_) {
    for (const std::uint8_t direction : kDirections) {
      if (!exchange.is_finished[direction] || exchange.has_end[direction]) continue;
      exchange.has_end[direction] = true;
      exchange.end[direction] = sides_[direction].taken;
    }
  }
  while (!exchanges_.empty() && exchanges_.front().has_end[0] && exchanges_.front().has_end[1]) {
    HttpExchange& front = exchanges_.front();
    tell(front);
    if (!is_final) {
      settled_ = front.end;
      ++transactions_;
    }
    give_transaction(limits_.pool, std::move(front.transaction));
    exchanges_.pop_front();
  }
  const bool is_idle = exchanges_.empty() && htp_connp_get_in_tx(connection_.get()) == nullptr &&
                       htp_connp_get_out_tx(connection_.get()) == nullptr;
  if (is_idle && since_renewal_ >= kRenewAfter) renew_connection();
}

void HttpParser::tell(HttpExchange& exchange) {
  for (const std::uint8_t direction : kDirections) {
    if (!exchange.has_news[direction]) continue;
    exchange.has_news[direction] = false;
    if (exchange.transaction == nullptr) continue;
    sink_->on_news(*exchange.transaction, direction);
    // Of requests without a response there may be many.
    if (exchange.is_finished[direction]) exchange.transaction->forget_bodies(direction);
  }
}

}  // namespace millrace
