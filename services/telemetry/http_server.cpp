// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/telemetry/http_server.hpp"

#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "shared/base/error.hpp"
#include "shared/base/tcp_address.hpp"

namespace millrace {
namespace {

constexpr int kBacklog = 256;
constexpr int kAcceptsMax = 64;  // in a turn: those that have asked come next
constexpr std::string_view kHeadEnd = "\r\n\r\n", kShortHeadEnd = "\n\n";

std::string head_of(const std::string& status, const std::string& more, std::size_t bytes) {
  return "HTTP/1.1 " + status + "\r\n" + more + "Content-Length: " + std::to_string(bytes) +
         "\r\nConnection: close\r\n\r\n";
}

std::string refusal(const std::string& status, const std::string& more = "") {
  const std::string text = status + "\n";
  return head_of(status, "Content-Type: text/plain\r\n" + more, text.size()) + text;
}

/// The path in a target "/metrics?x=y", or "http://host/metrics" as a proxy writes it.
std::string_view path_of(std::string_view target) {
  if (const std::size_t scheme = target.find("://"); scheme != target.npos) {
    const std::size_t slash = target.find('/', scheme + 3);
    target = slash == target.npos ? "/" : target.substr(slash);
  }
  return target.substr(0, target.find_first_of("?#"));
}

bool has_whole_head(const std::string& request) {
  return request.find(kHeadEnd) != request.npos || request.find(kShortHeadEnd) != request.npos;
}

UniqueFd listen_on(const std::string& address) {
  const auto to = socket_address(address);
  if (!to) throw Error("it is no numeric address with a port like 127.0.0.1:9090 or [::1]:9090");
  UniqueFd socket(::socket(to->family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) throw system_error("socket", errno);
  const int yes = 1, no = 0;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (to->family() == AF_INET6) {  // [::] takes IPv4 too
    ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
  }
  if (::bind(socket.get(), to->get(), to->bytes) != 0) throw system_error("bind", errno);
  if (::listen(socket.get(), kBacklog) != 0) throw system_error("listen", errno);
  return socket;
}

}  // namespace

HttpServer::HttpServer(const std::string& address, const HttpLimits& limits)
    : limits_(limits),
      listener_(listen_on(address)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!wake_) throw system_error("eventfd", errno);
  port_ = port_of(listener_);
  thread_ = std::thread([this] { run(); });
}

HttpServer::~HttpServer() {
  ::eventfd_write(wake_.get(), 1);
  thread_.join();
}

void HttpServer::serve(const std::string& path, const std::string& content_type, Page page) {
  const std::lock_guard lock(mutex_);
  path_ = path;
  content_type_ = content_type;
  page_ = std::move(page);
}

void HttpServer::run() {
  std::vector<pollfd> items;
  for (;;) {
    items = {{wake_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
    for (const Connection& one : connections_) {
      const bool sends = !one.answer.empty() && !one.done;
      items.push_back({one.socket.get(), static_cast<short>(sends ? POLLOUT : POLLIN), 0});
    }
    if (::poll(items.data(), items.size(), wait_ms(Clock::now())) < 0 && errno != EINTR) return;
    if (items[0].revents != 0) return;
    const auto now = Clock::now();
    std::size_t i = 2;
    for (auto at = connections_.begin(); at != connections_.end(); ++i) {
      const bool stays = now < at->end && (items[i].revents == 0 || go_on(*at, now));
      at = stays ? std::next(at) : close(at);
    }
    if (items[1].revents != 0) accept_all(now);
  }
}

int HttpServer::wait_ms(Clock::time_point now) const {
  auto next = now + limits_.answer_time;
  for (const Connection& one : connections_) next = std::min(next, one.end);
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - now);
  return static_cast<int>(std::max(left, std::chrono::milliseconds(0)).count());
}

void HttpServer::accept_all(Clock::time_point now) {
  for (int i = 0; i < kAcceptsMax; ++i) {
    UniqueFd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) {
      if (errno != EMFILE && errno != ENFILE) return;
      if (connections_.empty()) return;
      close(connections_.begin());  // else the listener would be ready for ever
      continue;
    }
    if (connections_.size() >= limits_.connections_max) make_room();
    connections_.push_back({.socket = std::move(socket), .end = now + limits_.request_time});
    // Most clients have asked already: answer before the next connection takes this one's place.
    if (!go_on(connections_.back(), now)) close(std::prev(connections_.end()));
  }
}

void HttpServer::make_room() {
  const auto idle =
      std::ranges::find_if(connections_, [](const Connection& one) { return one.answer.empty(); });
  close(idle != connections_.end() ? idle : connections_.begin());
}

/// Closes a connection, and drops bytes that the client has not taken: the kernel would keep them
/// until the client takes them.
std::list<HttpServer::Connection>::iterator HttpServer::close(
    std::list<Connection>::iterator connection) {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  if (!connection->answer.empty() && !connection->done) {
    ::setsockopt(connection->socket.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  }
  return connections_.erase(connection);
}

bool HttpServer::go_on(Connection& connection, Clock::time_point now) const {
  if (connection.done) {
    // A close with unread bytes here would discard what the client has not read yet.
    std::array<char, 4096> unread;
    const ssize_t got = ::recv(connection.socket.get(), unread.data(), unread.size(), 0);
    return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
  }
  if (connection.answer.empty()) {
    if (!read_request(connection)) return false;
    if (connection.answer.empty()) return true;
    connection.end = now + limits_.answer_time;
  }
  return send_answer(connection);
}

bool HttpServer::read_request(Connection& connection) const {
  std::array<char, 4096> piece;
  for (;;) {
    const ssize_t got = ::recv(connection.socket.get(), piece.data(), piece.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno == EAGAIN;
    if (got == 0) return false;
    connection.request.append(piece.data(), static_cast<std::size_t>(got));
    if (has_whole_head(connection.request)) {
      connection.answer = answer_to(connection.request);
      return true;
    }
    if (connection.request.size() > limits_.request_bytes_max) {
      connection.answer = refusal("431 Request Header Fields Too Large");
      return true;
    }
  }
}

bool HttpServer::send_answer(Connection& connection) {
  while (connection.sent < connection.answer.size()) {
    const ssize_t sent = ::send(connection.socket.get(), connection.answer.data() + connection.sent,
                                connection.answer.size() - connection.sent, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return errno == EAGAIN;
    connection.sent += static_cast<std::size_t>(sent);
  }
  connection.done = true;
  return ::shutdown(connection.socket.get(), SHUT_WR) == 0;
}

std::string HttpServer::answer_to(const std::string& request) const {
  const std::string_view line = std::string_view(request).substr(0, request.find_first_of("\r\n"));
  const std::size_t first = line.find(' '), last = line.rfind(' ');
  if (first == line.npos || first == last || !line.substr(last + 1).starts_with("HTTP/1.")) {
    return refusal("400 Bad Request");
  }
  const std::string_view method = line.substr(0, first);
  if (method != "GET" && method != "HEAD") {
    return refusal("405 Method Not Allowed", "Allow: GET, HEAD\r\n");
  }
  const std::lock_guard lock(mutex_);
  if (!page_ || path_of(line.substr(first + 1, last - first - 1)) != path_) {
    return refusal("404 Not Found");
  }
  const std::string page = page_();
  const std::string head =
      head_of("200 OK", "Content-Type: " + content_type_ + "\r\n", page.size());
  return method == "HEAD" ? head : head + page;
}

}  // namespace millrace
