// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <strings.h>

#include <new>
#include <span>
#include <string_view>
#include <utility>

#include "services/functions/ids/protocols/app_events.hpp"
#include "services/functions/ids/protocols/http_exchange.hpp"
#include "shared/base/ascii.hpp"

namespace millrace {

namespace {

struct HeaderBuffer {
  RuleBuffer buffer;
  const char* name;
};
constexpr HeaderBuffer kOfRequests[] = {
    {RuleBuffer::kHttpUserAgent, "user-agent"},
    {RuleBuffer::kHttpReferer, "referer"},
    {RuleBuffer::kHttpAccept, "accept"},
    {RuleBuffer::kHttpAcceptEncoding, "accept-encoding"},
    {RuleBuffer::kHttpAcceptLanguage, "accept-language"},
    {RuleBuffer::kHttpCookie, "cookie"},
    {RuleBuffer::kHttpConnection, "connection"},
    {RuleBuffer::kHttpContentLength, "content-length"},
    {RuleBuffer::kHttpContentType, "content-type"},
};
constexpr HeaderBuffer kOfResponses[] = {
    {RuleBuffer::kHttpLocation, "location"},
    {RuleBuffer::kHttpServer, "server"},
    {RuleBuffer::kHttpCookie, "set-cookie"},
    {RuleBuffer::kHttpConnection, "connection"},
    {RuleBuffer::kHttpContentLength, "content-length"},
    {RuleBuffer::kHttpContentType, "content-type"},
};

/// Of one direction of a transaction.
struct Buffers {
  Transaction& transaction;
  std::uint8_t direction;
  void put(RuleBuffer buffer, const bstr* text) const {
    if (text != nullptr) transaction.put(direction, buffer, text_of(text));
  }
};

const htp_header_t* find_header(const htp_table_t* headers, const char* name) {
  return static_cast<const htp_header_t*>(htp_table_get_c(headers, name));
}

void put_single_headers(const htp_table_t* headers, std::span<const HeaderBuffer> wanted,
                        const Buffers& buffers) {
  for (const HeaderBuffer& one : wanted) {
    const htp_header_t* header = find_header(headers, one.name);
    if (header != nullptr) buffers.put(one.buffer, header->value);
  }
}

bool is_cookie(std::string_view name, std::uint8_t direction) {
  const std::string_view cookie = direction == 0 ? "cookie" : "set-cookie";
  return name.size() == cookie.size() &&
         strncasecmp(name.data(), cookie.data(), cookie.size()) == 0;
}

/// The buffers that are made of all headers. As Suricata has them, `http.start` and
/// `http.header_names` end with an empty line only where there are headers.
void put_all_headers(const htp_table_t* headers, const bstr* line, const Buffers& buffers) {
  std::string normalised, names, start(text_of(line));
  start += "\r\n";
  const RuleBuffer each =
      buffers.direction == 0 ? RuleBuffer::kHttpRequestHeader : RuleBuffer::kHttpResponseHeader;
  const std::size_t count = headers == nullptr ? 0 : htp_table_size(headers);
  for (std::size_t i = 0; i < count; ++i) {
    const auto* header = static_cast<const htp_header_t*>(htp_table_get_index(headers, i, nullptr));
    const std::string_view name = text_of(header->name);
    std::string whole(name);
    whole.append(": ").append(text_of(header->value));
    buffers.transaction.put(buffers.direction, each, whole);
    whole += "\r\n";
    if (!is_cookie(name, buffers.direction)) normalised += whole;
    start += whole;
    names.append("\r\n").append(name);
  }
  if (count > 0) start += "\r\n";
  buffers.transaction.put(buffers.direction, RuleBuffer::kHttpStart, start);
  if (count == 0) return;
  names += "\r\n\r\n";
  buffers.transaction.put(buffers.direction, RuleBuffer::kHttpHeaderNames, names);
  if (normalised.empty()) return;
  buffers.transaction.put(buffers.direction, RuleBuffer::kHttpHeader, normalised);
}

void put_raw_headers(HttpExchange& exchange, std::uint8_t direction) {
  std::string& raw = exchange.raw_headers[direction];
  if (!raw.empty()) exchange.transaction->put(direction, RuleBuffer::kHttpRawHeader, raw);
  raw.clear();
  raw.shrink_to_fit();
}

/// The path as libhtp normalises it; the query with its escapes undone.
std::string normalised_uri(const htp_tx_t& tx) {
  const htp_uri_t& uri = *tx.parsed_uri;
  std::string made(text_of(uri.path));
  if (uri.query != nullptr) {
    bstr* query = bstr_dup(uri.query);
    if (query == nullptr) throw std::bad_alloc();
    std::uint64_t flags = 0;
    htp_urldecode_inplace(tx.cfg, HTP_DECODER_URLENCODED, query, &flags);
    made.append("?").append(text_of(query));
    bstr_free(query);
  }
  if (uri.fragment != nullptr) made.append("#").append(text_of(uri.fragment));
  return made;
}

/// libhtp takes the target of CONNECT for an authority whatever it is; a path names no host
/// (RFC 9110 9.3.6).
bool is_connect_to_path(const htp_tx_t& tx) {
  return tx.request_method_number == HTP_M_CONNECT && text_of(tx.request_uri).starts_with('/');
}

/// Without the port, which follows the brackets of an IPv6 address.
std::string_view host_of(std::string_view header) {
  const std::size_t colon = header.find(':', header.find(']') + 1);
  return header.substr(0, colon);
}

void put_hosts(const htp_tx_t& tx, const Buffers& buffers) {
  const htp_header_t* header = find_header(tx.request_headers, "host");
  const bool has_header_only = is_connect_to_path(tx);
  std::string_view name = text_of(tx.request_hostname);
  if (has_header_only) name = header == nullptr ? "" : host_of(text_of(header->value));
  if (!name.empty() || (tx.request_hostname != nullptr && !has_header_only)) {
    buffers.transaction.put(0, RuleBuffer::kHttpHost, in_lower_case(name));
  }
  if (!has_header_only && tx.parsed_uri != nullptr && tx.parsed_uri->hostname != nullptr) {
    buffers.put(RuleBuffer::kHttpRawHost, tx.parsed_uri->hostname);
    return;
  }
  if (header != nullptr) buffers.put(RuleBuffer::kHttpRawHost, header->value);
}

/// As Suricata names what libhtp flags.
void put_request_events(const htp_tx_t& tx, Transaction& transaction) {
  static constexpr std::pair<std::uint64_t, std::string_view> kOfFlags[] = {
      {HTP_REQUEST_INVALID_T_E, app_events::kHttpTransferEncoding},
      {HTP_REQUEST_INVALID_C_L, app_events::kHttpContentLength},
      {HTP_HOST_MISSING, app_events::kHttpNoHost},
      {HTP_HOST_AMBIGUOUS, app_events::kHttpHosts},
      {HTP_HOSTU_INVALID, app_events::kHttpUriHost},
      {HTP_HOSTH_INVALID, app_events::kHttpHeaderHost}};
  for (const auto& [flag, event] : kOfFlags) {
    if ((tx.flags & flag) != 0) app_events::put(transaction, 0, event);
  }
}

}  // namespace

void put_request_line(const htp_tx_t& tx, HttpExchange& exchange) {
  const Buffers buffers{*exchange.transaction, 0};
  buffers.put(RuleBuffer::kHttpMethod, tx.request_method);
  buffers.put(RuleBuffer::kHttpRawUri, tx.request_uri);
  if (tx.parsed_uri != nullptr) {
    exchange.transaction->put(0, RuleBuffer::kHttpUri, normalised_uri(tx));
  }
  buffers.put(RuleBuffer::kHttpRequestLine, tx.request_line);
  buffers.put(RuleBuffer::kHttpProtocol, tx.request_protocol);
}

void put_request_headers(const htp_tx_t& tx, HttpExchange& exchange) {
  const Buffers buffers{*exchange.transaction, 0};
  put_hosts(tx, buffers);
  put_single_headers(tx.request_headers, kOfRequests, buffers);
  put_all_headers(tx.request_headers, tx.request_line, buffers);
  put_raw_headers(exchange, 0);
  put_request_events(tx, *exchange.transaction);
}

void put_response_headers(const htp_tx_t& tx, HttpExchange& exchange) {
  const Buffers buffers{*exchange.transaction, 1};
  buffers.put(RuleBuffer::kHttpResponseLine, tx.response_line);
  buffers.put(RuleBuffer::kHttpProtocol, tx.response_protocol);
  buffers.put(RuleBuffer::kHttpStatusCode, tx.response_status);
  buffers.put(RuleBuffer::kHttpStatusMessage, tx.response_message);
  put_single_headers(tx.response_headers, kOfResponses, buffers);
  put_all_headers(tx.response_headers, tx.response_line, buffers);
  put_raw_headers(exchange, 1);
}

}  // namespace millrace
