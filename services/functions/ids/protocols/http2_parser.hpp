// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/functions/ids/protocols/app_parser.hpp"
#include "services/functions/ids/protocols/body_inflater.hpp"
#include "services/functions/ids/protocols/http2_frames.hpp"
#include "services/functions/ids/protocols/http2_headers.hpp"
#include "services/functions/ids/protocols/http_exchange.hpp"

/// HTTP/2 without TLS (RFC 9113): each stream is a transaction, and so is each frame of the
/// connection's own, as in Suricata 7. Buffers of HTTP hold what Suricata's do: `http.uri` is the
/// path as it is sent, `http.header` has pseudo headers too.
///
/// Blocks of headers depend on all blocks in front of them. So nothing is ever settled: a parser
/// that is made anew needs the connection from its begin. What is not understood, or is beyond what
/// is kept, breaks a direction and is reported as WorkShare::lose_parser().

namespace millrace {

/// What was in front of it in its flow.
struct Http2Start {
  std::uint64_t first = 0;  ///< number of its first transaction
  std::uint64_t transactions = 0;
  std::array<std::uint64_t, 2> settled{};
};

class Http2Parser final : public AppParser {
 public:
  /// Streams that are open at a time.
  static constexpr std::size_t kStreamsMax = 1024;
  /// Frames that one block of headers may stand in.
  static constexpr std::uint32_t kBlockFramesMax = 256;

  Http2Parser(const AppLimits& limits, const Http2Start& start);
  /// The first stream is a request that has come by HTTP/1. In front of all bytes.
  void begin_upgraded(Http2HeaderList request);

  void read(std::uint8_t direction, std::span<const std::byte> bytes,
            TransactionSink& sink) override;
  void end(std::uint8_t direction, TransactionSink& sink) override;
  std::uint64_t settled(std::uint8_t direction) const noexcept override {
    return start_.settled[direction];
  }
  std::uint64_t transactions() const noexcept override { return start_.transactions; }
  std::size_t held() const noexcept override;
  bool is_done() const noexcept override { return false; }
  bool is_broken(std::uint8_t direction) const noexcept override {
    return sides_[direction].is_broken;
  }

 private:
  struct Stream {
    HttpExchange exchange;
    bool is_reused = false;  ///< its number is of one that was: no more than this is read of it
    bool is_post = false, is_put = false;
    std::string path, request_type, response_disposition;
    std::array<std::unique_ptr<BodyInflater>, 2> inflaters;
    std::array<bool, 2> has_lost_body{};
    std::size_t held() const noexcept;
  };
  using Streams = std::map<std::uint32_t, Stream>;
  struct Side {
    Http2FrameReader frames;
    Http2HeaderDecoder headers;
    std::size_t preface = 0;  ///< of what a client sends first, bytes that have come
    // A block of headers, while it lasts.
    std::string block;
    std::uint32_t block_frames = 0;                   ///< 0: there is none
    std::uint32_t block_of = 0, block_frames_of = 0;  ///< streams; of a promise these are two
    bool block_ends_stream = false, block_promises = false;
    bool is_broken = false, is_ended = false;
  };

  void take(std::uint8_t direction, std::string_view bytes);
  bool take_preface(std::uint8_t direction, std::string_view& bytes);
  bool take_piece(std::uint8_t direction, const Http2Piece& piece);
  bool take_frame(std::uint8_t direction, std::string_view payload);
  bool take_headers(std::uint8_t direction, std::string_view payload);
  bool end_block(std::uint8_t direction, Stream& stream);
  void take_data(std::uint8_t direction, const Http2Piece& piece);
  void take_of_stream(std::uint8_t direction, std::string_view payload);
  void take_of_connection(std::uint8_t direction, std::string_view payload);
  void put_values(std::uint8_t direction, std::string_view payload, Transaction& transaction);

  Stream* open_stream(std::uint8_t direction, std::uint32_t number);
  void note_news(std::uint8_t direction, std::uint32_t number, Stream& stream);
  void put_frame_type(std::uint8_t direction, Transaction& transaction);
  void put_headers(std::uint8_t direction, const Http2HeaderList& list, bool is_end,
                   Stream& stream);
  void put_value(std::uint8_t direction, RuleBuffer buffer, std::string_view value,
                 Transaction& transaction);
  void put_body(std::uint8_t direction, std::string_view bytes, Stream& stream);
  void finish(std::uint8_t direction, Stream& stream);
  void lose(std::uint8_t direction);
  void tell(Stream& stream);
  void tell_all();
  void tell_waiting(std::uint8_t direction);

  AppLimits limits_;
  Http2Start start_;
  std::uint64_t begun_;  ///< number of the next transaction
  std::array<Side, 2> sides_;
  Streams streams_;                         ///< those that are not through
  std::array<std::uint32_t, 2> highest_{};  ///< numbers that were, by their lowest bit
  std::vector<std::uint32_t> changed_;      ///< streams with news, in the call in hand
  /// Of the connection's frames of the other direction: that direction of them is told of with its
  /// next bytes.
  std::array<std::vector<std::unique_ptr<Transaction>>, 2> waiting_;
  InflateBill bill_;
  TransactionSink* sink_ = nullptr;  ///< during read() and end()
};

/// Puts what the block says of a message into the direction's buffers. `is_first`: else they are
/// trailers.
void put_http2_headers(std::uint8_t direction, const Http2HeaderList& list, bool is_first,
                       Transaction& transaction);

}  // namespace millrace
