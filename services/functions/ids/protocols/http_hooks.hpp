// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "services/functions/ids/protocols/http_parser.hpp"

/// What HttpParser does when libhtp calls.

namespace millrace {

struct HttpParser::Hooks {
  /// One for each number of layers, made once a process.
  static htp_cfg_t* config_of(std::uint32_t layers);

  static int request_start(htp_tx_t* tx);
  static int request_line(htp_tx_t* tx);
  static int request_header_data(htp_tx_data_t* data);
  static int request_headers(htp_tx_t* tx);
  static int request_body(htp_tx_data_t* data);
  static int request_complete(htp_tx_t* tx);
  static int response_start(htp_tx_t* tx);
  static int response_header_data(htp_tx_data_t* data);
  static int response_headers(htp_tx_t* tx);
  static int response_body(htp_tx_data_t* data);
  static int response_complete(htp_tx_t* tx);

 private:
  template <typename Work>
  static int guard(htp_tx_t* tx, Work work) noexcept;
  static void count_line(std::size_t bytes, HttpExchange& exchange);
  static void add_header_data(const htp_tx_data_t& data, HttpExchange& exchange,
                              std::uint8_t direction);
  static bool is_too_much(const htp_tx_data_t& data, HttpParser& parser, HttpExchange& exchange,
                          std::uint8_t direction);
};

}  // namespace millrace
