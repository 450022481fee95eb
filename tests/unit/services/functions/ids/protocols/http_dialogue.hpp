// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/functions/ids/protocols/http_parser.hpp"
#include "tests/unit/services/functions/ids/protocols/buffer_record.hpp"

/// HTTP dialogues for the parser, and what it made of them.

namespace millrace {

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span{text.data(), text.size()});
}

/// A parser and what it has told.
struct HttpRun {
  AppLimits limits;
  HttpParser parser;
  BufferRecord record;

  explicit HttpRun(AppLimits with = {}, std::uint64_t number = 0)
      : limits(with), parser(with, number) {}
  HttpRun& request(std::string_view bytes) {
    parser.read(0, bytes_of(bytes), record);
    return *this;
  }
  HttpRun& response(std::string_view bytes) {
    parser.read(1, bytes_of(bytes), record);
    return *this;
  }
  std::string of_request(RuleBuffer buffer, std::uint64_t number = 0) const {
    return record.text(number, 0, buffer);
  }
  std::string of_response(RuleBuffer buffer, std::uint64_t number = 0) const {
    return record.text(number, 1, buffer);
  }
  bool is_complete(int direction, std::uint64_t number = 0) const {
    return record.transactions.at(number).is_complete[direction];
  }
};

struct DialoguePiece {
  std::uint8_t direction = 0;
  bool is_end = false;  ///< of the direction, behind the bytes
  std::string bytes;
};
using Dialogue = std::vector<DialoguePiece>;

/// `next` gives the lengths of pieces, 1..
inline Dialogue cut_dialogue(const Dialogue& dialogue, const std::function<std::size_t()>& next) {
  Dialogue made;
  for (const DialoguePiece& piece : dialogue) {
    std::string_view rest = piece.bytes;
    while (!rest.empty()) {
      const std::string_view front = rest.substr(0, next());
      made.push_back({.direction = piece.direction, .bytes = std::string(front)});
      rest.remove_prefix(front.size());
    }
    if (piece.is_end) made.push_back({.direction = piece.direction, .is_end = true});
  }
  return made;
}

/// Without the first bytes of each direction.
inline Dialogue without_front(const Dialogue& dialogue, std::array<std::uint64_t, 2> bytes) {
  Dialogue made;
  for (const DialoguePiece& piece : dialogue) {
    std::uint64_t& skipped = bytes[piece.direction];
    const std::size_t here = std::min<std::uint64_t>(skipped, piece.bytes.size());
    skipped -= here;
    made.push_back(
        {.direction = piece.direction, .is_end = piece.is_end, .bytes = piece.bytes.substr(here)});
  }
  return made;
}

inline void play_dialogue(std::span<const DialoguePiece> dialogue, HttpRun& http) {
  for (const DialoguePiece& piece : dialogue) {
    if (!piece.bytes.empty()) {
      http.parser.read(piece.direction, bytes_of(piece.bytes), http.record);
    }
    if (piece.is_end) http.parser.end(piece.direction, http.record);
  }
}

/// Is it the same, from the first transaction of `part` on?
inline bool is_same_behind(const HttpRun& whole, const HttpRun& part, std::uint64_t first) {
  const auto& all = whole.record.transactions;
  return std::equal(all.lower_bound(first), all.end(), part.record.transactions.begin(),
                    part.record.transactions.end());
}

}  // namespace millrace
