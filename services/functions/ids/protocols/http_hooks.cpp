// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/http_hooks.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <string>

#include "shared/base/ascii.hpp"

namespace millrace {

namespace {

constexpr std::uint32_t kLayersMax = 4;
constexpr int kSuccess = 200, kSuccessEnd = 300;

bool is_compressed(htp_content_encoding_t encoding) {
  return encoding != HTP_COMPRESSION_NONE && encoding != HTP_COMPRESSION_UNKNOWN;
}

std::string_view text_of(const htp_tx_data_t& data) {
  return {reinterpret_cast<const char*>(data.data), data.data == nullptr ? 0 : data.len};
}

/// `Upgrade: h2c` among others (RFC 7540 3.2).
bool asks_http2(const htp_tx_t& tx) {
  const auto* header =
      static_cast<const htp_header_t*>(htp_table_get_c(tx.request_headers, "upgrade"));
  if (header == nullptr) return false;
  const std::string value = in_lower_case(millrace::text_of(header->value));
  for (std::size_t at = value.find("h2c"); at != std::string::npos;
       at = value.find("h2c", at + 1)) {
    const auto ends = [](char letter) { return letter == ' ' || letter == '\t' || letter == ','; };
    const std::size_t end = at + 3;
    if ((at == 0 || ends(value[at - 1])) && (end == value.size() || ends(value[end]))) return true;
  }
  return false;
}

}  // namespace

htp_cfg_t* HttpParser::Hooks::config_of(std::uint32_t layers) {
  static constexpr HttpHooks kHooks = {.request_start = request_start,
                                       .request_line = request_line,
                                       .request_header_data = request_header_data,
                                       .request_headers = request_headers,
                                       .request_body = request_body,
                                       .request_complete = request_complete,
                                       .response_start = response_start,
                                       .response_header_data = response_header_data,
                                       .response_headers = response_headers,
                                       .response_body = response_body,
                                       .response_complete = response_complete};
  static const std::array<HttpConfig, kLayersMax + 1> kConfigs = [] {
    std::array<HttpConfig, kLayersMax + 1> made;
    for (std::uint32_t i = 0; i <= kLayersMax; ++i) made[i] = make_http_config(kHooks, i);
    return made;
  }();
  return kConfigs[std::min(layers, kLayersMax)].get();
}

/// libhtp is C: nothing may be thrown through it.
template <typename Work>
int HttpParser::Hooks::guard(htp_tx_t* tx, Work work) noexcept {
  HttpParser& parser = *static_cast<HttpParser*>(htp_connp_get_user_data(tx->connp));
  auto* exchange = static_cast<HttpExchange*>(htp_tx_get_user_data(tx));
  if (exchange == nullptr) return HTP_OK;
  try {
    work(parser, *exchange);
  } catch (const std::exception&) {
    parser.out_of_memory_ = true;
    return HTP_ERROR;
  }
  return HTP_OK;
}

int HttpParser::Hooks::request_start(htp_tx_t* tx) {
  HttpParser& parser = *static_cast<HttpParser*>(htp_connp_get_user_data(tx->connp));
  try {
    htp_tx_set_user_data(tx, &parser.begin_exchange());
  } catch (const std::exception&) {
    parser.out_of_memory_ = true;
    return HTP_ERROR;
  }
  return HTP_OK;
}

int HttpParser::Hooks::request_line(htp_tx_t* tx) {
  return guard(tx, [&](HttpParser& parser, HttpExchange& exchange) {
    exchange.is_connect = tx->request_method_number == HTP_M_CONNECT;
    exchange.is_http_0_9 = tx->is_protocol_0_9 != 0;
    if (exchange.is_http_0_9) parser.is_http_0_9_ = true;
    count_line(bstr_len(tx->request_line), exchange);
    if (exchange.transaction == nullptr || exchange.is_dangling) return;
    put_request_line(*tx, exchange);
    exchange.has_news[0] = true;
  });
}

/// libhtp keeps a line as it came, its parts, and what it has made of them.
void HttpParser::Hooks::count_line(std::size_t bytes, HttpExchange& exchange) {
  constexpr std::size_t kCopies = 3, kLine = 256;
  exchange.head_bytes += kLine + kCopies * bytes;
}

void HttpParser::Hooks::add_header_data(const htp_tx_data_t& data, HttpExchange& exchange,
                                        std::uint8_t direction) {
  count_line(data.len, exchange);
  if (exchange.transaction == nullptr || exchange.has_headers[direction]) return;
  exchange.raw_headers[direction].append(text_of(data));
}

int HttpParser::Hooks::request_header_data(htp_tx_data_t* data) {
  return guard(data->tx, [&](HttpParser&, HttpExchange& exchange) {
    if (!exchange.is_dangling) add_header_data(*data, exchange, 0);
  });
}

int HttpParser::Hooks::request_headers(htp_tx_t* tx) {
  return guard(tx, [&](HttpParser& parser, HttpExchange& exchange) {
    if (exchange.has_headers[0]) return;
    exchange.has_headers[0] = true;
    exchange.inflates[0] = is_compressed(tx->request_content_encoding);
    parser.sides_[0].framing.begin_body(exchange.inflates[0]);
    exchange.asks_http2 = asks_http2(*tx);
    if (exchange.is_connect && exchange.is_finished[1]) parser.leave_connect(exchange);
    if (exchange.transaction == nullptr || exchange.is_dangling) return;
    put_request_headers(*tx, exchange);
    exchange.has_news[0] = true;
  });
}

/// A body that inflates without end costs time. What is behind the limit is not looked at.
bool HttpParser::Hooks::is_too_much(const htp_tx_data_t& data, HttpParser& parser,
                                    HttpExchange& exchange, std::uint8_t direction) {
  const htp_content_encoding_t encoding = direction == 0
                                              ? data.tx->request_content_encoding
                                              : data.tx->response_content_encoding_processing;
  if (!is_compressed(encoding)) return false;
  InflatedBody& body = exchange.inflated[direction];
  body.inflated += data.len;
  if (body.inflated > parser.limits_.inflate_bytes) return true;
  body.bytes = static_cast<std::uint64_t>(direction == 0 ? data.tx->request_message_len
                                                         : data.tx->response_message_len);
  return !parser.bill_.pays(parser.limits_.work, body);
}

int HttpParser::Hooks::request_body(htp_tx_data_t* data) {
  bool is_bomb = false;
  const int result = guard(data->tx, [&](HttpParser& parser, HttpExchange& exchange) {
    is_bomb = is_too_much(*data, parser, exchange, 0);
    if (exchange.transaction == nullptr || is_bomb) return;
    put_request_body(facts_of(data->tx, exchange, 0), exchange, text_of(*data),
                     {.limits = parser.limits_, .sink = *parser.sink_});
  });
  return is_bomb ? HTP_ERROR : result;
}

int HttpParser::Hooks::request_complete(htp_tx_t* tx) {
  return guard(tx, [&](HttpParser& parser, HttpExchange& exchange) {
    if (exchange.transaction != nullptr && !exchange.is_dangling) {
      if (!exchange.has_headers[0] && tx->request_line != nullptr)
        put_request_headers(*tx, exchange);
      end_request_body(exchange, {.limits = parser.limits_, .sink = *parser.sink_});
    }
    exchange.has_headers[0] = true;
    parser.finish(exchange, 0);
  });
}

int HttpParser::Hooks::response_start(htp_tx_t*) { return HTP_OK; }

int HttpParser::Hooks::response_header_data(htp_tx_data_t* data) {
  return guard(data->tx,
               [&](HttpParser&, HttpExchange& exchange) { add_header_data(*data, exchange, 1); });
}

int HttpParser::Hooks::response_headers(htp_tx_t* tx) {
  return guard(tx, [&](HttpParser& parser, HttpExchange& exchange) {
    if (exchange.has_headers[1]) return;
    exchange.has_headers[1] = true;
    exchange.inflates[1] = is_compressed(tx->response_content_encoding_processing);
    parser.sides_[1].framing.begin_body(exchange.inflates[1]);
    if (exchange.transaction == nullptr) return;
    put_response_headers(*tx, exchange);
    exchange.has_news[1] = true;
  });
}

int HttpParser::Hooks::response_body(htp_tx_data_t* data) {
  bool is_bomb = false;
  const int result = guard(data->tx, [&](HttpParser& parser, HttpExchange& exchange) {
    is_bomb = is_too_much(*data, parser, exchange, 1);
    if (exchange.transaction == nullptr || is_bomb) return;
    put_response_body(facts_of(data->tx, exchange, 1), exchange, text_of(*data),
                      {.limits = parser.limits_, .sink = *parser.sink_});
  });
  return is_bomb ? HTP_ERROR : result;
}

/// CONNECT: with success a tunnel follows; else libhtp waits for a request to tell that.
int HttpParser::Hooks::response_complete(htp_tx_t* tx) {
  return guard(tx, [&](HttpParser& parser, HttpExchange& exchange) {
    if (exchange.transaction != nullptr && !exchange.has_headers[1] &&
        tx->response_line != nullptr) {
      put_response_headers(*tx, exchange);
    }
    if (exchange.transaction != nullptr) {
      exchange.transaction->body_bytes[1] =
          static_cast<std::uint64_t>(std::max<std::int64_t>(tx->response_message_len, 0));
    }
    exchange.has_headers[1] = true;
    parser.finish(exchange, 1);
    if (!exchange.is_connect) return;
    parser.leave_connect(exchange);
    const int status = tx->response_status_number;
    const bool is_tunnel = status >= kSuccess && status < kSuccessEnd;
    parser.has_tunnel_ |= is_tunnel;
    parser.is_done_ |= is_tunnel;
  });
}

}  // namespace millrace
