// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// HTTP of any bytes: byte 0x1e turns the direction, 0x1f ends one. Whatever pieces the bytes come
// in, and wherever a parser is made anew from what is not settled, transactions are the same.

#include <algorithm>
#include <cctype>
#include <span>
#include <string>

#include "shared/base/check.hpp"
#include "tests/unit/services/functions/ids/protocols/http_dialogue.hpp"

namespace millrace {
namespace {

constexpr char kTurn = 0x1e, kEnd = 0x1f;

Dialogue dialogue_of(std::string_view input) {
  Dialogue dialogue;
  std::uint8_t direction = 0;
  while (!input.empty()) {
    const std::size_t bytes = std::min(input.find_first_of("\x1e\x1f"), input.size());
    DialoguePiece& piece = dialogue.emplace_back();
    piece = {.direction = direction, .bytes = std::string(input.substr(0, bytes))};
    input.remove_prefix(bytes);
    if (input.empty()) break;
    piece.is_end = input.front() == kEnd;
    direction ^= 1;
    input.remove_prefix(1);
  }
  return dialogue;
}

/// libhtp passes bytes on that it cannot inflate, from the piece on in which it finds that.
bool has_compression(std::string input) {
  for (char& c : input) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return input.find("encoding") != std::string::npos &&
         (input.find("gzip") != std::string::npos || input.find("deflate") != std::string::npos);
}

void check_one(const std::string& input) {
  std::minstd_rand random(static_cast<unsigned>(std::hash<std::string>()(input)));
  AppLimits limits;
  limits.body_bytes = 64;
  limits.header_bytes = 600;
  limits.transactions = 4;
  const Dialogue dialogue = dialogue_of(input);
  HttpRun whole(limits), pieces(limits), front(limits);
  play_dialogue(dialogue, whole);
  const Dialogue cut_up = cut_dialogue(dialogue, [&] { return 1 + random() % 30; });
  play_dialogue(cut_up, pieces);
  play_dialogue(std::span(cut_up).first(random() % (cut_up.size() + 1)), front);
  const std::uint64_t first = front.parser.transactions();
  HttpRun anew(limits, first);
  play_dialogue(without_front(dialogue, {front.parser.settled(0), front.parser.settled(1)}), anew);
  MILLRACE_CHECK(!whole.record.lost_bytes && !pieces.record.lost_bytes);
  if (has_compression(input) || whole.record.has_forgotten || pieces.record.has_forgotten ||
      anew.record.has_forgotten) {
    return;
  }
  MILLRACE_CHECK(is_same_behind(whole, pieces, 0));
  MILLRACE_CHECK(is_same_behind(whole, anew, first));
  MILLRACE_CHECK(whole.parser.transactions() == anew.parser.transactions());
}

}  // namespace
}  // namespace millrace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  millrace::check_one(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
