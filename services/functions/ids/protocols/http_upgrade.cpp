// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "services/functions/ids/protocols/http2_frames.hpp"
#include "services/functions/ids/protocols/http2_parser.hpp"
#include "services/functions/ids/protocols/http_parser.hpp"
#include "services/functions/ids/work_budget.hpp"
#include "shared/base/ascii.hpp"

/// What HTTP/1 leads to: CONNECT, and `Upgrade: h2c`.

namespace millrace {

/// CONNECT: what follows the request depends on the response.
bool HttpParser::is_waiting(std::uint8_t direction, std::string_view bytes) {
  if (direction != 0 || exchanges_.empty()) return false;
  const HttpExchange& last = exchanges_.back();
  if (last.is_finished[1] || !last.has_headers[0]) return false;
  return last.is_connect || (last.asks_http2 && last.is_finished[0] && waits_for_http2(bytes));
}

bool HttpParser::is_waiting_for_connect() const {
  return !exchanges_.empty() && exchanges_.back().is_connect && exchanges_.back().has_headers[0] &&
         !exchanges_.back().is_finished[1];
}

/// So do bytes that HTTP/2 begins with: what they are, the response says.
bool HttpParser::waits_for_http2(std::string_view bytes) {
  const std::string_view begin = bytes.substr(0, kHttp2Preface.size());
  const bool waits = !bytes.empty() && kHttp2Preface.starts_with(begin);
  has_waited_ |= waits;
  return waits;
}

/// libhtp knows nothing of what follows. The request has its names as they were sent.
void HttpParser::note_tunnel(HttpExchange& exchange) {
  if (exchange.is_connect) has_tunnel_ = true;
  if (exchange.is_connect || !exchange.asks_http2) return;
  upgraded_.emplace();
  if (exchange.transaction == nullptr) return;
  const auto add = [&](std::string_view name, RuleBuffer buffer) {
    for (const BufferPart& part : exchange.transaction->parts(0, buffer)) {
      upgraded_->headers.push_back({std::string(name), part.bytes});
    }
  };
  add(":method", RuleBuffer::kHttpMethod);
  add(":path", RuleBuffer::kHttpRawUri);
  add(":authority", RuleBuffer::kHttpRawHost);
  for (const BufferPart& part : exchange.transaction->parts(0, RuleBuffer::kHttpRequestHeader)) {
    const std::size_t colon = part.bytes.find(": ");
    std::string name = part.bytes.substr(0, colon);
    if (colon == std::string::npos || in_lower_case(name) == "host") continue;
    upgraded_->headers.push_back({std::move(name), part.bytes.substr(colon + 2)});
  }
}

/// A parser that is made anew recognises what CONNECT leads to only if that is all that there is.
std::optional<AppRest> HttpParser::rest() {
  const bool is_recognised = has_tunnel_ && transactions_ == 0;
  if (!upgraded_ && !is_recognised) return std::nullopt;
  AppRest rest{.parser = nullptr, .transactions = begun_, .bytes = {}};
  rest.bytes = {std::move(sides_[0].held), std::move(sides_[1].held)};
  if (upgraded_) {
    const Http2Start start{.first = begun_, .transactions = transactions_, .settled = settled_};
    auto made = std::make_unique<Http2Parser>(limits_, start);
    made->begin_upgraded(std::move(*upgraded_));
    rest.parser = std::move(made);
    rest.protocol = AppProtocol::kHttp2;
  }
  return rest;
}

}  // namespace millrace
