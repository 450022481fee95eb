// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <htp/htp.h>

#include <memory>
#include <string_view>

/// libhtp's objects as C++ has them.

namespace millrace {

/// What libhtp calls while it parses. Each finds the parser by htp_connp_get_user_data().
struct HttpHooks {
  int (*request_start)(htp_tx_t*);
  int (*request_line)(htp_tx_t*);
  int (*request_header_data)(htp_tx_data_t*);
  int (*request_headers)(htp_tx_t*);
  int (*request_body)(htp_tx_data_t*);
  int (*request_complete)(htp_tx_t*);
  int (*response_start)(htp_tx_t*);
  int (*response_header_data)(htp_tx_data_t*);
  int (*response_headers)(htp_tx_t*);
  int (*response_body)(htp_tx_data_t*);
  int (*response_complete)(htp_tx_t*);
};

struct HttpConfigDeleter {
  void operator()(htp_cfg_t* config) const noexcept { htp_config_destroy(config); }
};
using HttpConfig = std::unique_ptr<htp_cfg_t, HttpConfigDeleter>;
/// With what Suricata 7 sets by default. Limits of libhtp that depend on the pieces in which bytes
/// come are out of reach: the parser has its own. `layers` of content encodings are undone.
/// Nothing of it changes afterwards, so parsers of all threads may share it. Throws std::bad_alloc.
HttpConfig make_http_config(const HttpHooks& hooks, std::uint32_t layers);

struct HttpConnectionDeleter {
  void operator()(htp_connp_t* connection) const noexcept { htp_connp_destroy_all(connection); }
};
/// Owns its transactions. Those of which request and response are complete are freed by libhtp.
using HttpConnection = std::unique_ptr<htp_connp_t, HttpConnectionDeleter>;
/// Throws std::bad_alloc.
HttpConnection open_http_connection(htp_cfg_t* config, void* user_data);

/// Borrowed; empty for none.
inline std::string_view text_of(const bstr* text) noexcept {
  if (text == nullptr) return {};
  return {reinterpret_cast<const char*>(bstr_ptr(text)), bstr_len(text)};
}

}  // namespace millrace
