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
#include <chrono>
#include <cstring>
#include <new>

#include "shared/base/error.hpp"

namespace millrace {
namespace {

constexpr std::size_t kNameBytesMax = 255;
constexpr std::chrono::milliseconds kRest{10};
constexpr std::chrono::milliseconds kQuestion{1000};

/// First byte of a question; the name follows.
enum class Wish : char {
  kBorrow = 'b',
  kLeave = 'l',        ///< with a descriptor
  kLeaveIfNone = 'n',  ///< with a descriptor
  kDiscard = 'd',
};

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

/// A client that hangs does not hang the other side.
void limit_waiting(const UniqueFd& socket, std::chrono::milliseconds most) noexcept {
  const timeval limit{most.count() / 1000, most.count() % 1000 * 1000};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

/// A message of some bytes, with room for one descriptor.
class Letter {
 public:
  Letter() {
    message_.msg_iov = &piece_;
    message_.msg_iovlen = 1;
  }
  Letter(const Letter&) = delete;  // it points into itself
  Letter& operator=(const Letter&) = delete;

  /// False: too long, or the other side is not there.
  bool send(const UniqueFd& socket, std::string_view text, const UniqueFd* file) noexcept {
    if (text.size() > text_.size()) return false;
    std::copy(text.begin(), text.end(), text_.begin());
    piece_.iov_len = text.size();
    if (file != nullptr) enclose(file->get());
    return ::sendmsg(socket.get(), &message_, MSG_NOSIGNAL) >= 0;
  }
  /// False: nothing came.
  bool receive(const UniqueFd& socket) noexcept {
    piece_.iov_len = text_.size();
    message_.msg_control = control_.data();
    message_.msg_controllen = control_.size();
    const ssize_t bytes = ::recvmsg(socket.get(), &message_, MSG_CMSG_CLOEXEC);
    if (bytes < 0) return false;
    bytes_ = static_cast<std::size_t>(bytes);
    take_files();  // an empty message may have some too
    return bytes_ != 0;
  }
  std::string_view text() const noexcept { return {text_.data(), bytes_}; }
  UniqueFd& file() noexcept { return file_; }

 private:
  void take_files() noexcept {
    const cmsghdr* head = CMSG_FIRSTHDR(&message_);
    if (head == nullptr || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) return;
    // What fits beside the first one is closed at once.
    for (std::size_t at = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int); at-- != 0;) {
      int file = -1;
      std::memcpy(&file, CMSG_DATA(head) + at * sizeof file, sizeof file);
      UniqueFd received(file);
      file_ = std::move(received);
    }
  }
  void enclose(int file) noexcept {
    message_.msg_control = control_.data();
    message_.msg_controllen = control_.size();
    cmsghdr* head = CMSG_FIRSTHDR(&message_);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(head), &file, sizeof file);
  }

  std::array<char, 1 + kNameBytesMax> text_{};
  std::size_t bytes_ = 0;
  iovec piece_{text_.data(), 0};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control_{};
  msghdr message_{};
  UniqueFd file_;
};

/// Asks; false when there is no answer.
bool ask(const std::string& socket_path, Wish wish, std::string_view name, const UniqueFd* file,
         Letter& answer, std::chrono::milliseconds limit = kLenderAnswers) noexcept {
  sockaddr_un address;
  const UniqueFd socket = make_socket();
  if (!socket || name.size() > kNameBytesMax || !set_address(socket_path, address)) return false;
  limit_waiting(socket, limit);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return false;
  }
  std::array<char, 1 + kNameBytesMax> text;
  text[0] = static_cast<char>(wish);
  std::copy(name.begin(), name.end(), text.begin() + 1);
  Letter question;
  return question.send(socket, {text.data(), 1 + name.size()}, file) && answer.receive(socket);
}

}  // namespace

FileLender::FileLender(const std::string& socket_path, std::map<std::string, UniqueFd> files,
                       std::set<std::string> places)
    : files_(std::move(files)), places_(std::move(places)), socket_(make_socket()) {
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
      try {
        answer(peer);
      } catch (const std::bad_alloc&) {  // the client gets no answer
      }
    } else if (errno == EBADF || errno == EINVAL) {
      return;  // shut down
    } else if (errno != EINTR && errno != ECONNABORTED) {
      std::this_thread::sleep_for(kRest);  // out of descriptors or memory: later there may be some
    }
  }
}

/// A client that asks for what is not there gets no answer.
void FileLender::answer(const UniqueFd& peer) {
  limit_waiting(peer, kQuestion);
  Letter question;
  if (!question.receive(peer)) return;
  const auto wish = static_cast<Wish>(question.text()[0]);
  const std::string name(question.text().substr(1));
  const UniqueFd* lent = nullptr;
  bool done = false;
  if (wish == Wish::kBorrow) {
    const auto at = files_.find(name);
    done = at != files_.end();
    if (done) lent = &at->second;
  } else if (wish == Wish::kLeave || wish == Wish::kLeaveIfNone) {
    done = keep(name, std::move(question.file()), wish == Wish::kLeave);
  } else if (wish == Wish::kDiscard && places_.contains(name)) {
    done = files_.erase(name) != 0;
  }
  Letter letter;
  if (done) letter.send(peer, "+", lent);
}

bool FileLender::keep(const std::string& name, UniqueFd file, bool replace) {
  if (!file || !places_.contains(name)) return false;
  if (!replace && files_.contains(name)) return false;
  files_[name] = std::move(file);
  return true;
}

UniqueFd borrow_file(const std::string& socket_path, std::string_view name,
                     std::chrono::milliseconds limit) noexcept {
  Letter answer;
  if (!ask(socket_path, Wish::kBorrow, name, nullptr, answer, limit)) return {};
  return std::move(answer.file());
}

bool leave_file(const std::string& socket_path, std::string_view name, const UniqueFd& file,
                std::chrono::milliseconds limit) noexcept {
  Letter answer;
  return ask(socket_path, Wish::kLeave, name, &file, answer, limit);
}

bool leave_file_if_none(const std::string& socket_path, std::string_view name, const UniqueFd& file,
                        std::chrono::milliseconds limit) noexcept {
  Letter answer;
  return ask(socket_path, Wish::kLeaveIfNone, name, &file, answer, limit);
}

bool discard_file(const std::string& socket_path, std::string_view name) noexcept {
  Letter answer;
  return ask(socket_path, Wish::kDiscard, name, nullptr, answer);
}

}  // namespace millrace
