// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads what flows carry from standard input, in items of: kind ('s': bytes of a stream, 'd': a
// datagram, 'e': the end of the flow), direction, port of the server (16 bits), length (32 bits),
// bytes; numbers in this machine's byte order. Prints "protocol NAME" at each end of a flow, and in
// front of it a line for each value: "NUMBER DIRECTION BUFFER HEX".

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "services/functions/ids/protocols/app_session.hpp"
#include "tests/unit/services/functions/ids/protocols/app_recorder.hpp"

namespace millrace {
namespace {

struct [[gnu::packed]] Item {
  char kind;
  std::uint8_t direction;
  std::uint16_t port;
  std::uint32_t bytes;
};

const std::map<RuleBuffer, std::string_view> kNames = {
    {RuleBuffer::kDnsQuery, "dns.query"},
    {RuleBuffer::kTlsSni, "tls.sni"},
    {RuleBuffer::kTlsVersion, "tls.version"},
    {RuleBuffer::kTlsSubject, "subject"},
    {RuleBuffer::kTlsIssuer, "issuer"},
    {RuleBuffer::kTlsSerial, "serial"},
    {RuleBuffer::kTlsFingerprint, "sha1"},
    {RuleBuffer::kTlsCerts, "tls.certs"},
    {RuleBuffer::kJa3Hash, "ja3.hash"},
    {RuleBuffer::kJa3String, "ja3.string"},
    {RuleBuffer::kJa3sHash, "ja3s.hash"},
    {RuleBuffer::kJa3sString, "ja3s.string"},
    {RuleBuffer::kJa4, "ja4"},
    {RuleBuffer::kSshProtocol, "ssh.proto"},
    {RuleBuffer::kSshSoftware, "ssh.software"},
};

void print(const AppSession& session, const AppRecorder& told) {
  for (const auto& [key, record] : told.records) {
    for (const auto& [buffer, values] : record.buffers) {
      const auto name = kNames.find(buffer);
      if (name == kNames.end()) continue;
      for (const std::string& value : values) {
        std::printf("%lu %u %s ", key.first, key.second, name->second.data());
        for (const char letter : value) std::printf("%02x", static_cast<unsigned char>(letter));
        std::printf("\n");
      }
    }
  }
  std::printf("protocol %s\n", name_of(session.protocol()).data());
}

int run() {
  auto session = std::make_unique<AppSession>(AppLimits{});
  auto told = std::make_unique<AppRecorder>();
  Item item{};
  while (std::fread(&item, sizeof item, 1, stdin) == 1) {
    std::vector<std::byte> bytes(item.bytes);
    if (std::fread(bytes.data(), 1, bytes.size(), stdin) != bytes.size()) return 1;
    if (item.kind == 's') session->read(item.direction, bytes, item.port, *told);
    if (item.kind == 'd') session->read_datagram(item.direction, bytes, item.port, *told);
    if (item.kind != 'e') continue;
    for (const std::uint8_t direction : {0, 1}) session->end(direction, *told);
    print(*session, *told);
    session = std::make_unique<AppSession>(AppLimits{});
    told = std::make_unique<AppRecorder>();
  }
  return 0;
}

}  // namespace
}  // namespace millrace

int main() { return millrace::run(); }
