// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/http2_parser.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "services/functions/ids/protocols/transaction_pool.hpp"
#include "services/functions/ids/work_budget.hpp"

namespace millrace {
namespace {

constexpr std::array<std::uint8_t, 2> kDirections = {0, 1};
constexpr std::string_view kVersion = "HTTP/2";
/// Transactions of the connection's frames whose other direction waits, at most.
constexpr std::size_t kWaitingMax = 64;
constexpr std::size_t kPriorityBytes = 5, kPromiseBytes = 4, kStatusBytes = 3, kWordBytes = 4;
constexpr std::uint32_t kStreamMask = 0x7fffffff;

std::unique_ptr<Transaction> begin_transaction(const AppLimits& limits, std::uint64_t number,
                                               std::uint32_t stream) {
  auto made = take_transaction(limits.pool, AppProtocol::kHttp2, number);
  made->stream = stream;
  for (const std::uint8_t direction : kDirections) {
    made->put(direction, RuleBuffer::kHttpProtocol, kVersion);
  }
  made->put(1, RuleBuffer::kHttpStatusMessage, "");  // HTTP/2 has none
  return made;
}

std::string network_bytes(std::uint32_t number) {
  std::string made(kWordBytes, '\0');
  for (std::size_t i = made.size(); i > 0; --i, number >>= 8) {
    made[i - 1] = static_cast<char>(number);
  }
  return made;
}

std::uint32_t promised_stream(std::string_view payload) noexcept {
  std::uint32_t number = 0;
  for (const char byte : payload.substr(0, kPromiseBytes)) {
    number = number << 8 | static_cast<std::uint8_t>(byte);
  }
  return number & kStreamMask;
}

}  // namespace

std::size_t Http2Parser::Stream::held() const noexcept {
  std::size_t bytes = sizeof *this + exchange.held() + path.capacity() + request_type.capacity() +
                      response_disposition.capacity();
  for (const auto& inflater : inflaters) bytes += inflater == nullptr ? 0 : inflater->held();
  return bytes;
}

Http2Parser::Http2Parser(const AppLimits& limits, const Http2Start& start)
    : limits_(limits), start_(start), begun_(start.first) {}

void Http2Parser::begin_upgraded(Http2HeaderList request) {
  Stream* const stream = open_stream(0, 1);
  put_headers(0, request, true, *stream);
  stream->exchange.is_finished[0] = true;
  stream->exchange.transaction->complete(0);
}

std::size_t Http2Parser::held() const noexcept {
  std::size_t bytes = sizeof *this;
  for (const Side& side : sides_) {
    bytes += side.frames.held() + side.headers.held() + side.block.capacity();
  }
  for (const auto& [number, stream] : streams_) bytes += stream.held();
  for (const auto& waiting : waiting_) {
    for (const auto& transaction : waiting) bytes += transaction->held();
  }
  return bytes;
}

void Http2Parser::read(std::uint8_t direction, std::span<const std::byte> bytes,
                       TransactionSink& sink) {
  sink_ = &sink;
  if (sides_[direction].is_broken || sides_[direction].is_ended) return;
  tell_waiting(direction);
  take(direction, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  tell_all();
}

void Http2Parser::end(std::uint8_t direction, TransactionSink& sink) {
  sink_ = &sink;
  if (std::exchange(sides_[direction].is_ended, true)) return;
  for (auto& [number, stream] : streams_) {
    finish(direction, stream);
    changed_.push_back(number);
  }
  tell_all();
}

void Http2Parser::take(std::uint8_t direction, std::string_view bytes) {
  if (direction == 0 && !take_preface(direction, bytes)) return lose(direction);
  while (!sides_[direction].is_broken) {
    const Http2Piece piece = sides_[direction].frames.next(bytes);
    if (piece.kind == Http2Piece::Kind::kMore) break;
    if (!take_piece(direction, piece)) lose(direction);
  }
}

bool Http2Parser::take_preface(std::uint8_t direction, std::string_view& bytes) {
  std::size_t& at = sides_[direction].preface;
  const std::string_view begin = bytes.substr(0, kHttp2Preface.size() - at);
  if (!kHttp2Preface.substr(at).starts_with(begin)) return false;
  at += begin.size();
  bytes.remove_prefix(begin.size());
  return true;
}

/// False: the direction is not read further.
bool Http2Parser::take_piece(std::uint8_t direction, const Http2Piece& piece) {
  Side& side = sides_[direction];
  const Http2Frame& frame = side.frames.frame();
  if (piece.kind == Http2Piece::Kind::kInvalid) return false;
  // A block of headers has no other frames in it (RFC 9113 4.3).
  const bool goes_on = frame.type == Http2Type::kContinuation;
  const bool is_of_block = goes_on && frame.stream == side.block_frames_of;
  if ((side.block_frames != 0) != goes_on || (goes_on && !is_of_block)) return false;
  if (piece.kind == Http2Piece::Kind::kData) {
    take_data(direction, piece);
    return true;
  }
  if (piece.kind == Http2Piece::Kind::kFrame) return take_frame(direction, piece.bytes);
  if (frame.stream == 0) {
    take_of_connection(direction, {});
  } else {
    take_of_stream(direction, {});
  }
  return true;
}

bool Http2Parser::take_frame(std::uint8_t direction, std::string_view payload) {
  const Http2Frame& frame = sides_[direction].frames.frame();
  switch (frame.type) {
    case Http2Type::kHeaders:
    case Http2Type::kPushPromise:
    case Http2Type::kContinuation:
      return frame.stream != 0 && take_headers(direction, payload);
    default:
      if (frame.stream == 0) {
        take_of_connection(direction, payload);
      } else {
        take_of_stream(direction, payload);
      }
      return true;
  }
}

bool Http2Parser::take_headers(std::uint8_t direction, std::string_view payload) {
  Side& side = sides_[direction];
  const Http2Frame& frame = side.frames.frame();
  const bool promises = frame.type == Http2Type::kPushPromise;
  if (frame.type != Http2Type::kContinuation) {
    side.block_frames_of = frame.stream;
    side.block_of = promises ? promised_stream(payload) : frame.stream;
    side.block_promises = promises;
    side.block_ends_stream = promises || frame.has(http2_flags::kEndStream);
  }
  Stream* const stream = open_stream(direction, side.block_of);
  if (stream == nullptr) return false;
  put_values(direction, payload, *stream->exchange.transaction);
  if (promises) payload.remove_prefix(kPromiseBytes);
  if (frame.type == Http2Type::kHeaders && frame.has(http2_flags::kPriority)) {
    payload.remove_prefix(kPriorityBytes);
  }
  ++side.block_frames;
  side.block.append(payload);
  if (side.block.size() > limits_.header_bytes || side.block_frames > kBlockFramesMax) return false;
  return !frame.has(http2_flags::kEndHeaders) || end_block(direction, *stream);
}

/// What a promise says is the request of another stream.
bool Http2Parser::end_block(std::uint8_t direction, Stream& stream) {
  Side& side = sides_[direction];
  const auto list = side.headers.decode(side.block, limits_.header_bytes);
  side.block.clear();
  side.block_frames = 0;
  if (!list) return false;
  const std::uint8_t message = side.block_promises ? 0 : direction;
  Transaction& transaction = *stream.exchange.transaction;
  for (const std::uint32_t size : list->table_sizes) {
    put_value(direction, RuleBuffer::kHttp2SizeUpdate, network_bytes(size), transaction);
  }
  put_headers(message, *list, side.block_ends_stream, stream);
  if (side.block_ends_stream) finish(message, stream);
  if (stream.is_reused) finish(1 - message, stream), finish(message, stream);
  return true;
}

void Http2Parser::take_data(std::uint8_t direction, const Http2Piece& piece) {
  const Http2Frame& frame = sides_[direction].frames.frame();
  const auto found = streams_.find(frame.stream);
  if (found == streams_.end()) return;  // it is closed: its receiver passes over them
  Stream& stream = found->second;
  if (stream.exchange.is_finished[direction]) return;
  put_frame_type(direction, *stream.exchange.transaction);
  note_news(direction, frame.stream, stream);
  put_body(direction, piece.bytes, stream);
  if (piece.is_last && frame.has(http2_flags::kEndStream)) finish(direction, stream);
}

void Http2Parser::take_of_stream(std::uint8_t direction, std::string_view payload) {
  const Http2Frame& frame = sides_[direction].frames.frame();
  const auto found = streams_.find(frame.stream);
  if (found == streams_.end()) return;
  Stream& stream = found->second;
  put_values(direction, payload, *stream.exchange.transaction);
  note_news(direction, frame.stream, stream);
  if (frame.type != Http2Type::kResetStream || payload.size() != kWordBytes) return;
  for (const std::uint8_t one : kDirections) finish(one, stream);
}

/// It is through at once: the log has it with this packet.
void Http2Parser::take_of_connection(std::uint8_t direction, std::string_view payload) {
  auto transaction = begin_transaction(limits_, begun_++, 0);
  put_values(direction, payload, *transaction);
  for (const std::uint8_t one : kDirections) transaction->complete(one);
  sink_->on_news(*transaction, direction);
  auto& waiting = waiting_[1 - direction];
  if (waiting.size() >= kWaitingMax) tell_waiting(1 - direction);
  waiting.push_back(std::move(transaction));
}

void Http2Parser::tell_waiting(std::uint8_t direction) {
  for (auto& transaction : std::exchange(waiting_[direction], {})) {
    sink_->on_news(*transaction, direction);
    give_transaction(limits_.pool, std::move(transaction));
  }
}

/// Null: there are too many.
Http2Parser::Stream* Http2Parser::open_stream(std::uint8_t direction, std::uint32_t number) {
  const auto found = streams_.find(number);
  if (found != streams_.end()) {
    note_news(direction, number, found->second);
    return &found->second;
  }
  if (streams_.size() >= kStreamsMax) tell_all();
  if (streams_.size() >= kStreamsMax) return nullptr;
  Stream& made = streams_[number];
  made.exchange.transaction = begin_transaction(limits_, begun_++, number);
  std::uint32_t& highest = highest_[number % 2];
  made.is_reused = number <= highest;
  highest = std::max(highest, number);
  const bool is_promised = sides_[1].block_promises && direction == 1;
  made.exchange.is_dangling = direction == 1 && !is_promised;
  if (made.exchange.is_dangling) finish(0, made);
  for (const std::uint8_t one : kDirections) {
    if (sides_[one].is_ended || sides_[one].is_broken) finish(one, made);
  }
  note_news(direction, number, made);
  return &made;
}

void Http2Parser::note_news(std::uint8_t direction, std::uint32_t number, Stream& stream) {
  stream.exchange.has_news[direction] = true;
  if (changed_.empty() || changed_.back() != number) changed_.push_back(number);
}

void Http2Parser::put_headers(std::uint8_t direction, const Http2HeaderList& list, bool is_end,
                              Stream& stream) {
  HttpExchange& exchange = stream.exchange;
  const bool is_first = !std::exchange(exchange.has_headers[direction], true);
  const std::string status = direction == 1 ? list.find(":status").value_or("") : "";
  if (is_first && !is_end && status.size() == kStatusBytes && status[0] == '1') {
    exchange.has_headers[1] = false;  // the response follows
    return;
  }
  exchange.has_news[direction] = true;
  put_http2_headers(direction, list, is_first, *exchange.transaction);
  if (!is_first) return;
  if (direction == 0) {
    const std::string method = list.find(":method").value_or("");
    stream.is_post = method == "POST";
    stream.is_put = method == "PUT";
    stream.path = list.find(":path").value_or("");
    stream.path.resize(std::min(stream.path.find('?'), stream.path.size()));
    stream.request_type = list.find("content-type").value_or("");
  } else {
    stream.response_disposition = list.find("content-disposition").value_or("");
  }
  auto inflater = std::make_unique<BodyInflater>(list.find("content-encoding").value_or(""),
                                                 limits_.inflate_layers);
  if (!inflater->is_plain()) stream.inflaters[direction] = std::move(inflater);
}

void Http2Parser::put_body(std::uint8_t direction, std::string_view bytes, Stream& stream) {
  HttpExchange& exchange = stream.exchange;
  exchange.transaction->body_bytes[direction] += bytes.size();
  if (bytes.empty() || stream.has_lost_body[direction]) return;
  const BodyFacts facts{.is_post = stream.is_post,
                        .is_put = stream.is_put,
                        .has_response = exchange.has_headers[1],
                        .path = stream.path,
                        .request_type = stream.request_type,
                        .response_disposition = stream.response_disposition};
  const BodyRoom room{.limits = limits_, .sink = *sink_};
  const auto put = [&](std::string_view text) {
    if (direction == 0) return put_request_body(facts, exchange, text, room);
    put_response_body(facts, exchange, text, room);
  };
  BodyInflater* const inflater = stream.inflaters[direction].get();
  if (inflater == nullptr) return put(bytes);
  InflatedBody& body = exchange.inflated[direction];
  body.bytes += bytes.size();
  const bool goes_on = inflater->read(bytes, [&](std::string_view text) {
    body.inflated += text.size();
    if (body.inflated > limits_.inflate_bytes || !bill_.pays(limits_.work, body)) return false;
    put(text);
    return true;
  });
  if (goes_on) return;
  stream.has_lost_body[direction] = true;
  stream.inflaters[direction].reset();
}

void Http2Parser::finish(std::uint8_t direction, Stream& stream) {
  HttpExchange& exchange = stream.exchange;
  if (std::exchange(exchange.is_finished[direction], true)) return;
  stream.inflaters[direction].reset();
  if (direction == 0) end_request_body(exchange, {.limits = limits_, .sink = *sink_});
  exchange.has_news[direction] = true;
  exchange.transaction->complete(direction);
}

void Http2Parser::lose(std::uint8_t direction) {
  Side& side = sides_[direction];
  side.is_broken = true;
  side.block = {};
  for (auto& [number, stream] : streams_) {
    finish(direction, stream);
    changed_.push_back(number);
  }
}

void Http2Parser::tell(Stream& stream) {
  HttpExchange& exchange = stream.exchange;
  for (const std::uint8_t direction : kDirections) {
    if (!std::exchange(exchange.has_news[direction], false)) continue;
    sink_->on_news(*exchange.transaction, direction);
    if (exchange.is_finished[direction]) exchange.transaction->forget_bodies(direction);
  }
}

void Http2Parser::tell_all() {
  for (const std::uint32_t number : std::exchange(changed_, {})) {
    const auto found = streams_.find(number);
    if (found == streams_.end()) continue;
    HttpExchange& exchange = found->second.exchange;
    tell(found->second);
    const bool is_in_block = (sides_[0].block_frames != 0 && sides_[0].block_of == number) ||
                             (sides_[1].block_frames != 0 && sides_[1].block_of == number);
    if (is_in_block || !exchange.is_finished[0] || !exchange.is_finished[1]) continue;
    give_transaction(limits_.pool, std::move(exchange.transaction));
    streams_.erase(found);
  }
}

}  // namespace millrace
