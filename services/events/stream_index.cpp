// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/events/stream_index.hpp"

#include "services/events/flow_identity.hpp"
#include "services/events/json_line.hpp"

namespace millrace {
namespace {

constexpr std::size_t kGapsShown = 64;

void put_file(const StreamFileLine& file, std::string& out) {
  if (out.back() != '[') out += ',';
  out += '{';
  json_line::put_text("file", file.name, out);
  json_line::put_text("direction", file.direction == 0 ? "to_server" : "to_client", out);
  json_line::put_value("bytes", file.bytes, out);
  json_line::put_value("missing_bytes", file.bytes - file.parts.bytes(), out);
  json_line::put_key("missing", out);
  out += '[';
  for (const auto& [begin, end] : file.parts.missing(file.bytes, kGapsShown)) {
    if (out.back() != '[') out += ',';
    out += '[' + std::to_string(begin) + ',' + std::to_string(end) + ']';
  }
  out += ']';
  json_line::put_flag("midstream", file.is_picked_up, out);
  out += '}';
}

}  // namespace

std::string stream_file_name(const EventRecord& record) {
  const auto end = [&](const auto& address, std::uint16_t port) {
    return json_line::address_text(record.ip_version, address) + "." + std::to_string(port);
  };
  const std::string client = end(record.source, record.source_port);
  const std::string server = end(record.destination, record.destination_port);
  return record.tcp_stream.direction == 0 ? client + "-" + server : server + "-" + client;
}

std::string stream_index_line(const EventRecord& record, std::span<const StreamFileLine> files,
                              bool has_ended) {
  std::string out = "{";
  json_line::put_text("src_ip", json_line::address_text(record.ip_version, record.source), out);
  json_line::put_value("src_port", record.source_port, out);
  json_line::put_text("dest_ip", json_line::address_text(record.ip_version, record.destination),
                      out);
  json_line::put_value("dest_port", record.destination_port, out);
  if (const auto flow = flow_id_of(record)) json_line::put_value("flow_id", *flow, out);
  json_line::put_value("lane", record.lane, out);
  json_line::put_value("connection", record.tcp_stream.connection, out);
  json_line::put_flag("ended", has_ended, out);
  json_line::put_key("streams", out);
  out += '[';
  for (const StreamFileLine& file : files) put_file(file, out);
  return out + "]}\n";
}

}  // namespace millrace
