// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>

#include "shared/base/unique_fd.hpp"

namespace millrace {

/// What a client may use up. A connection above `connections_max` closes the oldest one that has
/// not asked yet, or else the oldest one: a client that asks at once is answered, however many
/// others ask nothing.
struct HttpLimits {
  std::size_t connections_max = 64;
  std::size_t request_bytes_max = 8192;           ///< its head; a body is not read
  std::chrono::milliseconds request_time{2000};   ///< from the connection to the end of the head
  std::chrono::milliseconds answer_time{10'000};  ///< until all of the answer has been taken
};

/// HTTP/1.1, as much of it as a scraper needs: GET and HEAD of one page, one request a connection,
/// IPv4 and IPv6. One thread, which never waits for a client.
class HttpServer {
 public:
  /// Makes the page. Called from the server's thread; may not throw.
  using Page = std::function<std::string()>;

  /// Listens on a host_and_port() with a numeric host ("127.0.0.1:9090", "[::1]:0"; `[::]` takes
  /// IPv4 too). All paths are not found before serve(). Throws Error that says why it cannot.
  explicit HttpServer(const std::string& address, const HttpLimits& limits = {});
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;  // its thread knows where it is
  HttpServer& operator=(const HttpServer&) = delete;

  std::uint16_t port() const { return port_; }
  /// Serves this page at `path` from now on. Any thread.
  void serve(const std::string& path, const std::string& content_type, Page page);

 private:
  using Clock = std::chrono::steady_clock;
  struct Connection {
    UniqueFd socket;
    Clock::time_point end;  ///< it is closed then, whatever it is doing
    std::string request;
    std::string answer;  ///< empty: it has not asked yet
    std::size_t sent = 0;
    bool done = false;  ///< all of the answer is with the kernel: what still comes is of no use
  };

  void run();
  int wait_ms(Clock::time_point now) const;
  void accept_all(Clock::time_point now);
  void make_room();
  std::list<Connection>::iterator close(std::list<Connection>::iterator connection);
  /// False: the connection is to be closed.
  bool go_on(Connection& connection, Clock::time_point now) const;
  bool read_request(Connection& connection) const;
  static bool send_answer(Connection& connection);
  std::string answer_to(const std::string& request) const;

  const HttpLimits limits_;
  UniqueFd listener_, wake_;
  std::uint16_t port_ = 0;
  mutable std::mutex mutex_;  ///< of these three
  std::string path_, content_type_;
  Page page_;
  std::list<Connection> connections_;  ///< oldest first
  std::thread thread_;
};

}  // namespace millrace
