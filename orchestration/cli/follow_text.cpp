// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/follow_text.hpp"

#include <array>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "services/events/base64.hpp"
#include "services/events/json_line.hpp"

namespace millrace {
namespace {

struct End {
  std::string address, port;
};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// "10.0.0.1:80", "[::1]:80".
std::optional<End> end_of(std::string_view text) {
  text = trimmed(text);
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == text.size()) return {};
  std::string_view address = text.substr(0, colon);
  if (address.front() == '[' && address.back() == ']') {
    address = address.substr(1, address.size() - 2);
  }
  return End{std::string(address), std::string(text.substr(colon + 1))};
}

std::string address_of(const FlowTuple& tuple, const Ipv6Bytes& address) {
  return json_line::address_text(tuple.version, address);
}

const char* direction_name(const FollowedPiece& piece) {
  return piece.direction == 0 ? "to_server" : "to_client";
}

std::string escape_of(std::uint8_t byte) {
  if (byte == '\t') return "\\t";
  if (byte == '\r') return "\\r";
  if (byte == '\\') return "\\\\";
  if (byte >= 0x20 && byte < 0x7f) return std::string(1, static_cast<char>(byte));
  std::array<char, 8> code{};
  std::snprintf(code.data(), code.size(), "\\x%02x", unsigned{byte});
  return code.data();
}

}  // namespace

std::string follow_filter(std::string_view text) {
  std::string_view rest = trimmed(text);
  for (const std::string_view name : {"TCP ", "tcp "}) {
    if (rest.starts_with(name)) rest = trimmed(rest.substr(name.size()));
  }
  const std::size_t arrow = rest.find('>');
  if (arrow == std::string_view::npos) return std::string(text);
  const auto from = end_of(rest.substr(0, arrow));
  const auto to = end_of(rest.substr(arrow + 1));
  if (!from || !to) return std::string(text);
  return "src=" + from->address + " sport=" + from->port + " dst=" + to->address +
         " dport=" + to->port;
}

std::string follow_pcap_filter(const FlowTuple& tuple) {
  const auto way = [&](const char* first, const char* second) {
    return std::string("(") + first + " host " + address_of(tuple, tuple.source) + " and " + first +
           " port " + std::to_string(tuple.source_port) + " and " + second + " host " +
           address_of(tuple, tuple.destination) + " and " + second + " port " +
           std::to_string(tuple.destination_port) + ")";
  };
  const std::string one = "(tcp and (" + way("src", "dst") + " or " + way("dst", "src") + "))";
  return one + " or (vlan and (" + one + " or (vlan and " + one + ")))";
}

std::string escaped_text(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) {
    const auto value = std::to_integer<std::uint8_t>(byte);
    text += value == '\n' ? std::string("\n") : escape_of(value);
  }
  return text;
}

std::string followed_text(const FollowedPiece& piece) {
  const std::string front = piece.direction == 0 ? "> " : "< ";
  std::string lines;
  if (piece.missing != 0) {
    lines += front + "[" + std::to_string(piece.missing) + " bytes missing]\n";
  }
  std::string_view rest;
  const std::string text = escaped_text(piece.bytes);
  for (rest = text; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    lines += front;
    lines += rest.substr(0, end);
    lines += '\n';
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  return lines;
}

std::string followed_json(const FollowedPiece& piece) {
  const nlohmann::ordered_json json = {
      {"direction", direction_name(piece)}, {"position", piece.position},
      {"missing", piece.missing},           {"bytes", piece.bytes.size()},
      {"data", base64_of(piece.bytes)},     {"text", escaped_text(piece.bytes)}};
  return json.dump() + "\n";
}

}  // namespace millrace
