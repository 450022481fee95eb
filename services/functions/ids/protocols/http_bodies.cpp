// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "services/functions/ids/protocols/http_exchange.hpp"

namespace millrace {

namespace {

void tell(HttpExchange& exchange, std::uint8_t direction, const BodyRoom& room) {
  exchange.has_news[direction] = false;
  room.sink.on_news(*exchange.transaction, direction);
}

/// Of bytes, those that may be appended before detection looks.
std::size_t unseen_room(const HttpExchange& exchange, std::uint8_t direction, RuleBuffer buffer,
                        const BodyRoom& room) {
  const std::vector<BufferPart>& parts = exchange.transaction->parts(direction, buffer);
  if (parts.empty() || parts.back().is_complete) return room.limits.body_bytes;
  const std::size_t unseen = parts.back().bytes.size() - parts.back().seen;
  return room.limits.body_bytes - std::min(unseen, room.limits.body_bytes);
}

void grow(HttpExchange& exchange, std::uint8_t direction, RuleBuffer buffer, std::string_view bytes,
          const BodyRoom& room) {
  while (!bytes.empty()) {
    std::size_t next = unseen_room(exchange, direction, buffer, room);
    if (next == 0) {
      tell(exchange, direction, room);
      next = std::max<std::size_t>(1, unseen_room(exchange, direction, buffer, room));
    }
    next = std::min(next, bytes.size());
    exchange.transaction->append(direction, buffer, bytes.substr(0, next), room.limits.body_bytes);
    exchange.has_news[direction] = true;
    bytes.remove_prefix(next);
  }
}

void put_name(HttpExchange& exchange, std::uint8_t direction, std::string_view name) {
  if (!name.empty()) exchange.transaction->put(direction, RuleBuffer::kFileName, name);
  exchange.has_file[direction] = true;
}

/// The files of a form are values of `file.data` one behind the other.
class FormFiles final : public FileSink {
 public:
  FormFiles(HttpExchange& exchange, const BodyRoom& room) : exchange_(exchange), room_(room) {}
  void begin_file(std::string_view name) override { put_name(exchange_, 0, name); }
  void file_bytes(std::string_view bytes) override {
    grow(exchange_, 0, RuleBuffer::kFileData, bytes, room_);
  }
  void end_file() override {
    exchange_.transaction->complete(0, RuleBuffer::kFileData);
    exchange_.has_news[0] = true;
  }

 private:
  HttpExchange& exchange_;
  const BodyRoom& room_;
};

std::string_view header_text(const htp_table_t* headers, const char* name) {
  const auto* header = static_cast<const htp_header_t*>(htp_table_get_c(headers, name));
  return header == nullptr ? std::string_view{} : text_of(header->value);
}

std::string_view path_of(const htp_tx_t& tx) {
  return tx.parsed_uri == nullptr ? std::string_view{} : text_of(tx.parsed_uri->path);
}

/// At the first bytes of a body: what kind of file it is.
void begin_request_file(const BodyFacts& facts, HttpExchange& exchange) {
  const std::string_view boundary =
      facts.is_post ? boundary_of(facts.request_type) : std::string_view{};
  if (boundary.empty()) {
    put_name(exchange, 0, facts.path);
  } else {
    exchange.multipart.emplace(boundary);
  }
}

/// Bytes in front of a response's line have no name yet.
void begin_response_file(const BodyFacts& facts, HttpExchange& exchange) {
  if (exchange.has_file[1] || !facts.has_response) return;
  const std::optional<std::string_view> name = filename_of(facts.response_disposition);
  if (name) {
    put_name(exchange, 1, *name);
  } else if (!exchange.is_dangling) {
    put_name(exchange, 1, facts.path);
  }
}

}  // namespace

BodyFacts facts_of(const htp_tx_t* tx, const HttpExchange& exchange, std::uint8_t direction) {
  if (tx == nullptr) return {};
  BodyFacts facts{.is_post = tx->request_method_number == HTP_M_POST,
                  .is_put = tx->request_method_number == HTP_M_PUT,
                  .has_response = tx->response_line != nullptr || exchange.is_http_0_9,
                  .path = path_of(*tx),
                  .request_type = {},
                  .response_disposition = {}};
  if (exchange.has_file[direction]) return facts;
  if (direction == 0) {
    facts.request_type = header_text(tx->request_headers, "content-type");
  } else {
    facts.response_disposition = header_text(tx->response_headers, "content-disposition");
  }
  return facts;
}

void put_request_body(const BodyFacts& facts, HttpExchange& exchange, std::string_view bytes,
                      const BodyRoom& room) {
  grow(exchange, 0, RuleBuffer::kHttpRequestBody, bytes, room);
  if (!facts.is_post && !facts.is_put) return;
  if (!exchange.has_file[0] && !exchange.multipart) begin_request_file(facts, exchange);
  if (exchange.multipart) {
    FormFiles files(exchange, room);
    exchange.multipart->read(bytes, files);
  } else {
    grow(exchange, 0, RuleBuffer::kFileData, bytes, room);
  }
}

void end_request_body(HttpExchange& exchange, const BodyRoom& room) {
  if (!exchange.multipart) return;
  FormFiles files(exchange, room);
  exchange.multipart->end(files);
}

void put_response_body(const BodyFacts& facts, HttpExchange& exchange, std::string_view bytes,
                       const BodyRoom& room) {
  begin_response_file(facts, exchange);
  grow(exchange, 1, RuleBuffer::kFileData, bytes, room);  // which is the response's body too
}

}  // namespace millrace
