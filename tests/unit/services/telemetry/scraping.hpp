// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include "shared/base/tcp_address.hpp"
#include "shared/base/unique_fd.hpp"

namespace millrace::test {

/// To "address:port", IPv6 in brackets; nothing without a listener.
inline UniqueFd connect_to(const std::string& address) {
  const auto to = socket_address(address);
  if (!to) return {};
  UniqueFd connection(::socket(to->family(), SOCK_STREAM, 0));
  if (::connect(connection.get(), to->get(), to->bytes) != 0) return {};
  return connection;
}

inline bool has_ipv6() {
  const auto local = socket_address("[::1]:0");
  const UniqueFd socket(::socket(AF_INET6, SOCK_STREAM, 0));
  return socket && ::bind(socket.get(), local->get(), local->bytes) == 0;
}

/// As much as the other end takes.
inline void send_all(const UniqueFd& connection, const std::string& text) {
  static_cast<void>(::send(connection.get(), text.data(), text.size(), MSG_NOSIGNAL));
}

/// What comes until the other end closes.
inline std::string read_all(const UniqueFd& connection) {
  std::string all;
  char piece[65536];
  for (ssize_t got; (got = ::read(connection.get(), piece, sizeof(piece))) > 0;) {
    all.append(piece, static_cast<std::size_t>(got));
  }
  return all;
}

/// Until the other end has closed, whatever is still to be read.
inline void await_end(const UniqueFd& connection) {
  pollfd item{connection.get(), POLLRDHUP, 0};
  ::poll(&item, 1, -1);
}

/// The whole answer to GET /metrics of "address:port"; empty without a listener.
inline std::string scrape(const std::string& address, const std::string& method = "GET") {
  const UniqueFd connection = connect_to(address);
  if (!connection) return "";
  send_all(connection, method + " /metrics HTTP/1.0\r\n\r\n");
  return read_all(connection);
}

/// First word of a file, waiting for it up to 20 s; empty then.
inline std::string await_word(const std::string& path) {
  for (int i = 0; i < 400; ++i) {
    std::string word;
    if (std::ifstream(path) >> word) return word;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return "";
}

}  // namespace millrace::test
