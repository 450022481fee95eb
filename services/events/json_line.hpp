// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arpa/inet.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "services/events/event_json.hpp"

/// Adds pieces of a line to `out`, which is not empty. They go into the object that was begun last.

namespace millrace::json_line {

inline void put_key(const char* key, std::string& out) {
  if (out.back() != '{') out += ',';
  out += '"';
  out += key;
  out += "\":";
}

inline void put_text(const char* key, std::string_view text, std::string& out) {
  put_key(key, out);
  put_json_text(text, out);
}

/// Adds a key and an array of texts.
template <typename Texts>
void put_array(const Texts& texts, std::string& out) {
  out += '[';
  for (const std::string_view text : texts) {
    if (out.back() != '[') out += ',';
    put_json_text(text, out);
  }
  out += ']';
}

inline void put_value(const char* key, std::uint64_t number, std::string& out) {
  put_key(key, out);
  out += std::to_string(number);
}

inline void put_flag(const char* key, bool flag, std::string& out) {
  put_key(key, out);
  out += flag ? "true" : "false";
}

/// The text of an address. `version`: 4; any other: an address of IPv6.
inline std::string address_text(std::uint8_t version, const std::array<std::uint8_t, 16>& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(version == 4 ? AF_INET : AF_INET6, address.data(), text.data(), text.size());
  return text.data();
}

enum class PacketEnd : std::uint8_t { kSource, kDestination };

/// Adds one end of a packet, a flow or a tunnel. `port`: nothing if the protocol has none.
inline void put_end(PacketEnd end, std::uint8_t version,
                    const std::array<std::uint8_t, 16>& address, std::optional<std::uint16_t> port,
                    std::string& out) {
  const bool is_source = end == PacketEnd::kSource;
  put_text(is_source ? "src_ip" : "dest_ip", address_text(version, address), out);
  if (port) put_value(is_source ? "src_port" : "dest_port", *port, out);
}

/// Adds both ends and the protocol. `Of`: EventRecord, EventTunnel.
template <typename Of>
void put_ends(const Of& of, bool has_ports, std::string& out) {
  const auto port = [&](std::uint16_t number) {
    return has_ports ? std::optional(number) : std::nullopt;
  };
  put_end(PacketEnd::kSource, of.ip_version, of.source, port(of.source_port), out);
  put_end(PacketEnd::kDestination, of.ip_version, of.destination, port(of.destination_port), out);
  put_text("proto", protocol_name(of.protocol), out);
}

/// Adds an object that `body` fills.
template <typename Body>
void put_object(const char* key, std::string& out, const Body& body) {
  put_key(key, out);
  out += '{';
  body();
  out += '}';
}

}  // namespace millrace::json_line
