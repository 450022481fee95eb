// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/http_library.hpp"

#include <cstdint>
#include <new>

namespace millrace {

namespace {

/// libhtp asks for a limit of lines. Longer than AppLimits::header_bytes ever are: the parser looks
/// at those before.
constexpr std::size_t kFieldBytes = 1u << 30;
/// libhtp's own limits of what bodies inflate to are by ratio and by time: out of reach.
constexpr std::size_t kInflateBytes = INT32_MAX;
constexpr std::size_t kInflateMicroseconds = 1'000'000;  // the most that libhtp takes

}  // namespace

HttpConfig make_http_config(const HttpHooks& hooks, std::uint32_t layers) {
  HttpConfig made(htp_config_create());
  htp_cfg_t* config = made.get();
  if (config == nullptr) throw std::bad_alloc();
  if (htp_config_set_server_personality(config, HTP_SERVER_IDS) != HTP_OK) throw std::bad_alloc();
  // The personality makes paths lower case; rules are written for paths as they are.
  htp_config_set_convert_lowercase(config, HTP_DECODER_URL_PATH, 0);
  htp_config_set_log_level(config, HTP_LOG_NONE);
  htp_config_set_tx_auto_destroy(config, 1);
  htp_config_set_parse_request_cookies(config, 0);
  htp_config_set_parse_request_auth(config, 0);
  htp_config_set_plusspace_decode(config, HTP_DECODER_URLENCODED, 0);
  htp_config_set_field_limits(config, kFieldBytes, kFieldBytes);
  htp_config_set_request_decompression(config, layers > 0 ? 1 : 0);
  htp_config_set_response_decompression(config, layers > 0 ? 1 : 0);
  htp_config_set_response_decompression_layer_limit(config, static_cast<int>(layers));
  htp_config_set_lzma_layers(config, 0);
  htp_config_set_compression_bomb_limit(config, kInflateBytes);
  htp_config_set_compression_time_limit(config, kInflateMicroseconds);

  htp_config_register_request_start(config, hooks.request_start);
  htp_config_register_request_line(config, hooks.request_line);
  htp_config_register_request_header_data(config, hooks.request_header_data);
  htp_config_register_request_headers(config, hooks.request_headers);
  htp_config_register_request_body_data(config, hooks.request_body);
  htp_config_register_request_complete(config, hooks.request_complete);
  htp_config_register_response_start(config, hooks.response_start);
  htp_config_register_response_header_data(config, hooks.response_header_data);
  htp_config_register_response_headers(config, hooks.response_headers);
  htp_config_register_response_body_data(config, hooks.response_body);
  htp_config_register_response_complete(config, hooks.response_complete);
  return made;
}

HttpConnection open_http_connection(htp_cfg_t* config, void* user_data) {
  HttpConnection made(htp_connp_create(config));
  if (made == nullptr) throw std::bad_alloc();
  htp_connp_set_user_data(made.get(), user_data);
  htp_time_t never{};
  htp_connp_open(made.get(), nullptr, 0, nullptr, 0, &never);
  return made;
}

}  // namespace millrace
