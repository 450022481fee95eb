// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/base/file_lender.hpp"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "shared/base/error.hpp"

namespace millrace {
namespace {

constexpr std::size_t kNameBytesMax = 255;

/// False: the path is too long.
bool set_address(const std::string& path, sockaddr_un& address) noexcept {
  address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return false;
  std::copy(path.begin(), path.end(), address.sun_path);
  return true;
}

UniqueFd make_socket() noexcept {
  return UniqueFd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
}

/// Somebody who hangs does not hang the other side.
void limit_waiting(const UniqueFd& socket, int seconds) noexcept {
  const timeval limit{seconds, 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

/// A message of one byte, with room for one descriptor.
struct Letter {
  Letter() {
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
  }
  Letter(const Letter&) = delete;  // it points into itself
  Letter& operator=(const Letter&) = delete;
  char byte = 0;
  iovec piece{&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
};

}  // namespace

FileLender::FileLender(const std::string& socket_path, std::map<std::string, UniqueFd> files)
    : files_(std::move(files)), socket_(make_socket()) {
  sockaddr_un address;
  if (!set_address(socket_path, address)) {
    throw Error("the path " + socket_path + " is too long for a socket");
  }
  ::unlink(socket_path.c_str());
  if (::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(socket_.get(), SOMAXCONN) != 0) {
    throw system_error("listen at " + socket_path, errno);
  }
  thread_ = std::thread([this] { serve(); });
}

FileLender::~FileLender() {
  ::shutdown(socket_.get(), SHUT_RDWR);  // accept() returns
  thread_.join();
}

void FileLender::serve() noexcept {
  for (;;) {
    const UniqueFd peer(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (peer) {
      answer(peer);
    } else if (errno != EINTR && errno != ECONNABORTED) {
      return;
    }
  }
}

void FileLender::answer(const UniqueFd& peer) noexcept {
  limit_waiting(peer, 1);
  std::array<char, kNameBytesMax> name;
  const ssize_t bytes = ::recv(peer.get(), name.data(), name.size(), 0);
  if (bytes <= 0) return;
  const std::string_view wanted(name.data(), static_cast<std::size_t>(bytes));
  const auto at = std::ranges::find(files_, wanted,
                                    [](const auto& file) { return std::string_view(file.first); });
  if (at == files_.end()) return;
  Letter letter;
  cmsghdr* head = CMSG_FIRSTHDR(&letter.message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof(int));
  const int file = at->second.get();
  std::memcpy(CMSG_DATA(head), &file, sizeof file);
  ::sendmsg(peer.get(), &letter.message, MSG_NOSIGNAL);
}

UniqueFd borrow_file(const std::string& socket_path, const std::string& name) noexcept {
  sockaddr_un address;
  const UniqueFd socket = make_socket();
  if (!socket || !set_address(socket_path, address)) return {};
  limit_waiting(socket, 2);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::send(socket.get(), name.data(), name.size(), MSG_NOSIGNAL) < 0) {
    return {};
  }
  Letter letter;
  if (::recvmsg(socket.get(), &letter.message, MSG_CMSG_CLOEXEC) <= 0) return {};
  const cmsghdr* head = CMSG_FIRSTHDR(&letter.message);
  if (head == nullptr || head->cmsg_type != SCM_RIGHTS) return {};
  int file = -1;
  std::memcpy(&file, CMSG_DATA(head), sizeof file);
  return UniqueFd(file);
}

}  // namespace millrace
