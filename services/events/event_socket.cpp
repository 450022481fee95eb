// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/events/event_socket.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "services/events/event_json.hpp"
#include "shared/base/error.hpp"
#include "shared/base/whole_file.hpp"

namespace millrace {
namespace {

constexpr mode_t kOwnerAndGroup = 0117;  ///< mask: others may not connect

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    throw Error(path + " (`events: socket`) is longer than the kernel's " +
                std::to_string(sizeof address.sun_path - 1) +
                " bytes; name another one: `events: { socket: /run/NAME.sock }`");
  }
  path.copy(address.sun_path, path.size());
  return address;
}

void add(std::atomic<std::uint64_t>& word, std::uint64_t count) {
  word.store(word.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
}

UniqueFd unix_stream() {
  return UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

/// Removes the socket of a process that was killed.
void remove_stale(const std::string& path, const sockaddr_un& address) {
  struct stat there {};
  if (::lstat(path.c_str(), &there) != 0) return;
  if (!S_ISSOCK(there.st_mode)) {
    throw Error(path + " (`events: socket`) is " + std::string(file_kind(there.st_mode)) +
                "; remove it, or name another path");
  }
  const UniqueFd probe = unix_stream();
  const int result =
      ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  if (result == 0 || errno != ECONNREFUSED) {
    throw Error(path +
                " (`events: socket`): another process answers there; end it, or name "
                "another path");
  }
  ::unlink(path.c_str());
}

}  // namespace

EventSocket::EventSocket(const std::string& path, EventSink& sink) : path_(path), sink_(sink) {
  const sockaddr_un address = address_of(path);
  remove_stale(path, address);
  listener_ = unix_stream();
  const mode_t before = ::umask(kOwnerAndGroup);
  const bool bound =
      listener_ &&
      ::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  const int error = errno;
  ::umask(before);
  if (!bound || ::listen(listener_.get(), static_cast<int>(kClientsMax)) != 0) {
    throw system_error("listen at " + path + " (`events: socket`)", bound ? errno : error);
  }
  clients_.reserve(kClientsMax);
  sink_.clients.store(0, std::memory_order_relaxed);
}

EventSocket::~EventSocket() {
  if (listener_) ::unlink(path_.c_str());
  sink_.clients.store(0, std::memory_order_relaxed);
}

void EventSocket::put(std::string_view lines) noexcept {
  for (Client& client : clients_) {
    if (client.waiting.size() + lines.size() <= kBufferBytes) {
      client.waiting += lines;
    } else {
      add(sink_.client_lost, lines_in(lines));
    }
  }
}

void EventSocket::add_to(std::vector<pollfd>& items) const {
  items.push_back({listener_.get(), POLLIN, 0});
  for (const Client& client : clients_) {
    // Readable also when the client has closed its end.
    const short writable = client.waiting.empty() ? 0 : POLLOUT;
    items.push_back({client.file.get(), static_cast<short>(POLLIN | writable), 0});
  }
}

bool EventSocket::idle() const noexcept {
  return std::ranges::all_of(clients_, [](const Client& one) { return one.waiting.empty(); });
}

void EventSocket::accept_new(std::uint64_t now_ns) noexcept {
  for (std::size_t i = 0; i < kClientsMax; ++i) {
    UniqueFd file(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!file) return;
    if (clients_.size() == kClientsMax) continue;  // closed
    Client client;
    client.file = std::move(file);
    client.waiting.reserve(kBufferBytes);
    client.moved_ns = now_ns;
    clients_.push_back(std::move(client));
  }
}

bool EventSocket::send(Client& client, std::uint64_t now_ns) noexcept {
  char nothing[256];
  const ssize_t read = ::recv(client.file.get(), nothing, sizeof nothing, MSG_DONTWAIT);
  if (read == 0 || (read < 0 && errno != EAGAIN && errno != EINTR)) return false;
  if (client.waiting.empty()) {
    client.moved_ns = now_ns;
    return true;
  }
  const ssize_t count = ::send(client.file.get(), client.waiting.data(), client.waiting.size(),
                               MSG_DONTWAIT | MSG_NOSIGNAL);
  if (count > 0) {
    const auto bytes = static_cast<std::size_t>(count);
    add(sink_.client_written, lines_in(std::string_view(client.waiting).substr(0, bytes)));
    client.waiting.erase(0, bytes);
    client.moved_ns = now_ns;
    return true;
  }
  if (errno != EAGAIN && errno != EINTR) return false;
  if (now_ns - client.moved_ns < kClientPatienceNs) return true;
  add(sink_.clients_cut, 1);
  return false;
}

void EventSocket::turn(std::uint64_t now_ns) noexcept {
  std::erase_if(clients_, [&](Client& client) {
    if (send(client, now_ns)) return false;
    add(sink_.client_lost, lines_in(client.waiting));
    return true;
  });
  accept_new(now_ns);
  sink_.clients.store(clients_.size(), std::memory_order_relaxed);
}

}  // namespace millrace
