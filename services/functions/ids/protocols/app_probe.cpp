// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/app_probe.hpp"

#include <algorithm>

#include "services/functions/ids/protocols/dns_message.hpp"
#include "services/functions/ids/protocols/http2_frames.hpp"
#include "shared/base/ascii.hpp"
#include "shared/packet/wire_bytes.hpp"

namespace millrace {
namespace {

constexpr std::uint8_t kClient = 0, kServer = 1;
constexpr std::uint16_t kFtpPort = 21, kSmtpPort = 25, kDnsPort = 53, kSmtpsPort = 465,
                        kSubmissionPort = 587;

/// A server that does not know a method of these answers with an error, or as if it were GET. So
/// other names count too, where a path or an address follows.
constexpr std::array<std::string_view, 28> kHttpMethods = {"GET",
                                                           "PUT",
                                                           "POST",
                                                           "HEAD",
                                                           "TRACE",
                                                           "OPTIONS",
                                                           "CONNECT",
                                                           "DELETE",
                                                           "PATCH",
                                                           "PROPFIND",
                                                           "PROPPATCH",
                                                           "MKCOL",
                                                           "COPY",
                                                           "MOVE",
                                                           "LOCK",
                                                           "UNLOCK",
                                                           "CHECKOUT",
                                                           "UNCHECKOUT",
                                                           "CHECKIN",
                                                           "UPDATE",
                                                           "LABEL",
                                                           "REPORT",
                                                           "MKWORKSPACE",
                                                           "MKACTIVITY",
                                                           "MERGE",
                                                           "INVALID",
                                                           "VERSION-CONTROL",
                                                           "BASELINE-CONTROL"};
constexpr std::size_t kHttpMethodBytesMax = 64;

bool is_token(char letter) noexcept {  // RFC 9110 5.6.2
  return is_ascii_alnum(letter) ||
         std::string_view("!#$%&'*+-.^_`|~").find(letter) != std::string_view::npos;
}

bool is_http_request(std::string_view text) noexcept {
  // Empty lines in front of a request are skipped by servers (RFC 9112 2.2).
  const std::size_t begin = text.find_first_not_of("\r\n");
  if (begin == std::string_view::npos) return text.size() >= kAppProbeBytes;
  text.remove_prefix(begin);
  const auto end = std::find_if_not(text.begin(), text.end(), is_token);
  const std::string_view method = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(method.size());
  if (text.empty() || method.empty() || (text[0] != ' ' && text[0] != '\t')) return false;
  if (std::any_of(kHttpMethods.begin(), kHttpMethods.end(), [method](std::string_view known) {
        return method.size() == known.size() && starts_with_nocase(method, known);
      })) {
    return true;
  }
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return method.size() <= kHttpMethodBytesMax &&
         (text.starts_with('/') || starts_with_nocase(text, "http://") ||
          starts_with_nocase(text, "https://"));
}

/// A handshake record that begins with the Hello of its side, behind alerts: receivers pass over
/// warnings. The Hello of SSL 2.0 has another form.
bool is_tls(std::uint8_t direction, std::string_view text) noexcept {
  constexpr std::size_t kRecordHeader = 5;
  constexpr char kAlert = 21, kHandshake = 22, kMajor = 3, kMinorMax = 4;
  while (text.size() >= kRecordHeader && text[0] == kAlert && text[1] == kMajor) {
    const std::size_t length = wire_bytes::u16(std::as_bytes(std::span{text}), 3);
    text.remove_prefix(std::min(text.size(), kRecordHeader + length));
  }
  const char hello = direction == kClient ? 1 : 2;
  return text.size() > kRecordHeader && text[0] == kHandshake && text[1] == kMajor &&
         text[2] >= 0 && text[2] <= kMinorMax && text[kRecordHeader] == hello;
}

/// Behind the packets that set up a session of NetBIOS (RFC 1002 4.3).
bool is_smb(std::string_view text) noexcept {
  constexpr std::size_t kHeader = 4;
  constexpr std::string_view kSetUp = "\x81\x82\x83\x84\x85";
  while (text.size() >= kHeader && kSetUp.find(text[0]) != std::string_view::npos) {
    const std::size_t length = wire_bytes::u16(std::as_bytes(std::span{text}), 2);
    text.remove_prefix(std::min(text.size(), kHeader + length));
  }
  if (text.size() < 2 * kHeader || text[0] != 0) return false;
  const std::string_view magic = text.substr(kHeader, kHeader);
  return magic == "\xffSMB" || magic == "\xfeSMB";
}

bool is_smtp_command(std::string_view text) noexcept {
  return starts_with_nocase(text, "HELO ") || starts_with_nocase(text, "EHLO ") ||
         starts_with_nocase(text, "MAIL FROM:");
}

/// The first line ends as a request of HTTP does, whatever its method is.
bool ends_as_http_request(std::string_view text) noexcept {
  constexpr std::string_view kVersion = " HTTP/1.";
  std::string_view line = text.substr(0, text.find('\n'));
  line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
  if (line.empty() || line.back() < '0' || line.back() > '9') return false;
  line.remove_suffix(1);
  return line.ends_with(kVersion);
}

/// A client's first line that says SMTP or SSH. Servers of HTTP answer methods that they do not
/// know, so it must be seen to its end.
AppProtocol probe_first_line(std::string_view text) noexcept {
  const bool is_ssh = text.starts_with("SSH-");
  if (!is_ssh && !is_smtp_command(text)) return AppProtocol::kUnknown;
  if (is_http_request(text) || ends_as_http_request(text)) return AppProtocol::kHttp;
  const bool is_whole = text.find('\n') != std::string_view::npos || text.size() >= kAppProbeBytes;
  if (!is_whole) return AppProtocol::kUnknown;
  return is_ssh ? AppProtocol::kSsh : AppProtocol::kSmtp;
}

AppProtocol probe_greeting(std::string_view text, std::uint16_t port) noexcept {
  if (!text.starts_with("220 ") && !text.starts_with("220-")) return AppProtocol::kUnknown;
  if (port == kFtpPort) return AppProtocol::kFtp;
  const bool is_mail = port == kSmtpPort || port == kSmtpsPort || port == kSubmissionPort;
  return is_mail ? AppProtocol::kSmtp : AppProtocol::kUnknown;
}

AppProtocol probe_direction(std::uint8_t direction, std::string_view text,
                            std::uint16_t port) noexcept {
  if (port == kDnsPort) {
    const auto bytes = std::as_bytes(std::span{text});
    if (bytes.size() < kDnsLengthBytes + kDnsHeaderBytes) return AppProtocol::kUnknown;
    const auto header = dns_header(bytes.subspan(kDnsLengthBytes));
    if (wire_bytes::u16(bytes, 0) >= kDnsHeaderBytes && is_plausible(*header, direction)) {
      return AppProtocol::kDns;
    }
  }
  if (is_tls(direction, text)) return AppProtocol::kTls;
  if (is_smb(text)) return AppProtocol::kSmb;
  if (direction == kServer) {
    if (text.starts_with("SSH-")) return AppProtocol::kSsh;
    return text.starts_with("HTTP/") ? AppProtocol::kHttp : probe_greeting(text, port);
  }
  if (text.starts_with(kHttp2Preface)) return AppProtocol::kHttp2;
  const AppProtocol said = probe_first_line(text);
  if (said != AppProtocol::kUnknown) return said;
  return is_http_request(text) ? AppProtocol::kHttp : AppProtocol::kUnknown;
}

/// POP3 has the same commands: the server's answer tells them apart.
bool is_ftp(const std::array<std::string_view, 2>& begins) noexcept {
  const std::string_view command = begins[kClient];
  return begins[kServer].starts_with("220") &&
         (starts_with_nocase(command, "USER ") || starts_with_nocase(command, "PASS "));
}

}  // namespace

AppProtocol probe_stream(const std::array<std::string_view, 2>& begins,
                         std::uint16_t server_port) noexcept {
  if (begins[kServer].starts_with("HTTP/")) return AppProtocol::kHttp;
  for (const std::uint8_t direction : {kClient, kServer}) {
    const AppProtocol found = probe_direction(direction, begins[direction], server_port);
    if (found != AppProtocol::kUnknown) return found;
  }
  return is_ftp(begins) ? AppProtocol::kFtp : AppProtocol::kUnknown;
}

AppProtocol probe_datagram(std::uint8_t direction, std::span<const std::byte> bytes,
                           std::uint16_t server_port) noexcept {
  if (server_port != kDnsPort) return AppProtocol::kNone;
  const auto header = dns_header(bytes);
  return header && is_plausible(*header, direction) ? AppProtocol::kDns : AppProtocol::kUnknown;
}

}  // namespace millrace
