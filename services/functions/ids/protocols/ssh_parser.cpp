// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/ssh_parser.hpp"

#include <string_view>

#include "services/functions/ids/protocols/wire_cursor.hpp"

namespace millrace {
namespace {

constexpr std::string_view kBegin = "SSH-";

}  // namespace

SshParser::SshParser(const AppLimits& limits, std::uint64_t transactions)
    : bytes_max_(limits.header_bytes) {
  for (Side& side : sides_) side.is_through = transactions > 0;
}

void SshParser::read(std::uint8_t direction, std::span<const std::byte> bytes,
                     TransactionSink& sink) {
  Side& side = sides_[direction];
  side.bytes += bytes.size();
  if (side.is_through) return;
  for (const char letter : text_of(bytes)) {
    if (letter != '\n') {
      side.line += letter;
    } else if (tell_line(direction)) {
      finish(direction, false);
    } else {
      side.line.clear();
    }
    if (++side.looked_at == bytes_max_) finish(direction, true);
    if (side.is_through) break;
  }
  if (side.is_through) sink.on_news(transaction_, direction);
}

void SshParser::end(std::uint8_t direction, TransactionSink& sink) {
  if (sides_[direction].is_through) return;
  tell_line(direction);  // the other side may make do with it
  finish(direction, false);
  sink.on_news(transaction_, direction);
}

/// "SSH-2.0-OpenSSH_8.2 comments". A server may say other lines in front of it.
bool SshParser::tell_line(std::uint8_t direction) {
  std::string_view line = sides_[direction].line;
  if (!line.starts_with(kBegin)) return false;
  line.remove_prefix(kBegin.size());
  line = line.substr(0, line.find_first_of(" \r"));
  const std::size_t dash = line.find('-');
  transaction_.put(direction, RuleBuffer::kSshProtocol, line.substr(0, dash));
  if (dash != std::string_view::npos) {
    transaction_.put(direction, RuleBuffer::kSshSoftware, line.substr(dash + 1));
  }
  return true;
}

void SshParser::finish(std::uint8_t direction, bool is_broken) {
  Side& side = sides_[direction];
  if (side.is_through) return;
  side.is_through = true;
  side.is_broken = is_broken;
  side.line = {};
  transaction_.complete(direction);
}

}  // namespace millrace
