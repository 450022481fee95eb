// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "services/functions/ids/protocols/app_events.hpp"
#include "services/functions/ids/protocols/http2_parser.hpp"
#include "shared/base/ascii.hpp"

namespace millrace {
namespace {

struct HeaderBuffer {
  RuleBuffer buffer;
  std::string_view name;
  std::string_view between = ", ";  ///< of several
};
constexpr HeaderBuffer kOfRequests[] = {
    {RuleBuffer::kHttpMethod, ":method"},
    {RuleBuffer::kHttpUri, ":path"},
    {RuleBuffer::kHttpRawUri, ":path"},
    {RuleBuffer::kHttpUserAgent, "user-agent"},
    {RuleBuffer::kHttpReferer, "referer"},
    {RuleBuffer::kHttpAccept, "accept"},
    {RuleBuffer::kHttpAcceptEncoding, "accept-encoding"},
    {RuleBuffer::kHttpAcceptLanguage, "accept-language"},
    {RuleBuffer::kHttpCookie, "cookie", "; "},
    {RuleBuffer::kHttpConnection, "connection"},
    {RuleBuffer::kHttpContentLength, "content-length"},
    {RuleBuffer::kHttpContentType, "content-type"},
};
constexpr HeaderBuffer kOfResponses[] = {
    {RuleBuffer::kHttpStatusCode, ":status"},
    {RuleBuffer::kHttpLocation, "location"},
    {RuleBuffer::kHttpServer, "server"},
    {RuleBuffer::kHttpCookie, "set-cookie"},
    {RuleBuffer::kHttpConnection, "connection"},
    {RuleBuffer::kHttpContentLength, "content-length"},
    {RuleBuffer::kHttpContentType, "content-type"},
};

/// Without the port, which follows the brackets of an IPv6 address, and in lower case.
std::string host_of(std::string_view authority) {
  const std::size_t colon = authority.find(':', authority.find(']') + 1);
  return in_lower_case(authority.substr(0, colon));
}

void put_hosts(const Http2HeaderList& list, Transaction& transaction) {
  const auto authority = list.find(":authority");
  const auto host = list.find("host");
  const auto& named = authority ? authority : host;
  if (named) {
    transaction.put(0, RuleBuffer::kHttpHost, host_of(*named));
    transaction.put(0, RuleBuffer::kHttpRawHost, *named);
  }
  if (authority && host && in_lower_case(*authority) != in_lower_case(*host)) {
    app_events::put(transaction, 0, app_events::kHttp2Authority);
  }
  if (authority && authority->find('@') != std::string::npos) {
    app_events::put(transaction, 0, app_events::kHttp2UserInfo);
  }
}

void put_lines(std::uint8_t direction, const Http2HeaderList& list, Transaction& transaction) {
  if (direction == 0) {
    const std::string line =
        list.find(":method").value_or("") + ' ' + list.find(":path").value_or("") + " HTTP/2\r\n";
    transaction.put(0, RuleBuffer::kHttpRequestLine, line);
    put_hosts(list, transaction);
  } else {
    transaction.put(1, RuleBuffer::kHttpResponseLine,
                    "HTTP/2 " + list.find(":status").value_or("") + "\r\n");
  }
}

}  // namespace

void put_http2_headers(std::uint8_t direction, const Http2HeaderList& list, bool is_first,
                       Transaction& transaction) {
  if (is_first) {
    const std::span<const HeaderBuffer> wanted =
        direction == 0 ? std::span<const HeaderBuffer>(kOfRequests) : kOfResponses;
    for (const HeaderBuffer& one : wanted) {
      if (const auto value = list.find(one.name, one.between)) {
        transaction.put(direction, one.buffer, *value);
      }
    }
    put_lines(direction, list, transaction);
  }
  const RuleBuffer each =
      direction == 0 ? RuleBuffer::kHttpRequestHeader : RuleBuffer::kHttpResponseHeader;
  std::string all, names = "\r\n";
  for (const Http2Header& header : list.headers) {
    const std::string whole = header.name + ": " + header.value;
    transaction.put(direction, each, whole);
    transaction.put(direction, RuleBuffer::kHttp2HeaderName, header.name);
    all.append(whole).append("\r\n");
    names.append(header.name).append("\r\n");
  }
  if (list.headers.empty()) return;
  names += "\r\n";
  transaction.put(direction, RuleBuffer::kHttpHeader, all);
  transaction.put(direction, RuleBuffer::kHttpRawHeader, all);
  transaction.put(direction, RuleBuffer::kHttpHeaderNames, names);
}

}  // namespace millrace
