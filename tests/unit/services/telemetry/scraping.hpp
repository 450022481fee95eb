// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include "shared/base/unique_fd.hpp"

namespace millrace::test {

/// To "address:port"; nothing when nobody listens.
inline UniqueFd connect_to(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(colon + 1))));
  inet_pton(AF_INET, address.substr(0, colon).c_str(), &to.sin_addr);
  UniqueFd connection(::socket(AF_INET, SOCK_STREAM, 0));
  if (::connect(connection.get(), reinterpret_cast<sockaddr*>(&to), sizeof(to)) != 0) return {};
  return connection;
}

/// The whole answer to GET /metrics of "address:port"; empty when nobody listens.
inline std::string scrape(const std::string& address, const std::string& method = "GET") {
  const UniqueFd connection = connect_to(address);
  const std::string request = method + " /metrics HTTP/1.0\r\n\r\n";
  if (::write(connection.get(), request.data(), request.size()) < 0) return "";
  std::string answer;
  char piece[65536];
  for (ssize_t got; (got = ::read(connection.get(), piece, sizeof(piece))) > 0;) {
    answer.append(piece, static_cast<std::size_t>(got));
  }
  return answer;
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
