// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/base/kernel_table.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "shared/base/error.hpp"
#include "shared/base/netlink.hpp"
#include "shared/base/unique_fd.hpp"

namespace millrace {
namespace {

constexpr std::size_t kReceiveBytes = 256 * 1024;  // the kernel fills at most 32 KB at a time

/// Of a message that asks for a table.
struct Question {
  const char* name;
  std::uint16_t type;
  std::size_t body_bytes;  ///< behind the header; the first of them is the family
  std::span<const unsigned char> families;
};

constexpr std::array<unsigned char, 2> kIp = {AF_INET, AF_INET6};
constexpr std::array<unsigned char, 1> kAny = {AF_UNSPEC};
static_assert(offsetof(rtmsg, rtm_family) == 0 && offsetof(ndmsg, ndm_family) == 0 &&
              offsetof(ifinfomsg, ifi_family) == 0);

Question question_of(KernelTable table) {
  switch (table) {
    case KernelTable::kRoutes:
      return {"routes", RTM_GETROUTE, sizeof(rtmsg), kIp};
    case KernelTable::kInterfaces:
      return {"interfaces", RTM_GETLINK, sizeof(ifinfomsg), kAny};
    case KernelTable::kNeighbours:
      break;
  }
  return {"neighbours", RTM_GETNEIGH, sizeof(ndmsg), kIp};
}

void ask(int socket, const Question& question, unsigned char family) {
  struct {
    nlmsghdr header;
    std::array<unsigned char, sizeof(ifinfomsg)> body;  // the longest
  } request{};
  static_assert(sizeof(rtmsg) <= sizeof(ifinfomsg) && sizeof(ndmsg) <= sizeof(ifinfomsg));
  request.header.nlmsg_len = static_cast<std::uint32_t>(NLMSG_LENGTH(question.body_bytes));
  request.header.nlmsg_type = question.type;
  request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  request.body[0] = family;
  if (::send(socket, &request, request.header.nlmsg_len, 0) < 0) {
    throw system_error(std::string("ask the kernel for its ") + question.name, errno);
  }
}

[[noreturn]] void refuse(const Question& question, int error) {
  throw system_error(std::string("read the kernel's ") + question.name, error);
}

}  // namespace

KernelAnswer take_kernel_answer(KernelTable table, std::span<const std::byte> bytes,
                                const KernelVisit& visit) {
  const Question question = question_of(table);
  KernelAnswer answer;
  for_each_message(bytes, [&](const nlmsghdr& header, std::span<const std::byte> message) {
    if ((header.nlmsg_flags & NLM_F_DUMP_INTR) != 0) answer.whole = false;
    if (header.nlmsg_type == NLMSG_DONE) {
      std::int32_t error = 0;
      if (read_body(message, error) && error < 0) refuse(question, -error);
      answer.last = true;
    }
    if (header.nlmsg_type == NLMSG_ERROR) {
      nlmsgerr error{};
      read_body(message, error);
      refuse(question, -error.error);
    }
    visit(header, message);
  });
  return answer;
}

bool read_kernel_table(KernelTable table, const KernelVisit& visit) {
  const Question question = question_of(table);
  std::vector<std::byte> buffer(kReceiveBytes);
  bool whole = true;
  for (const unsigned char family : question.families) {
    const UniqueFd socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
    if (!socket) throw system_error("open a netlink socket", errno);
    ask(socket.get(), question, family);
    for (KernelAnswer answer; !answer.last;) {
      const ssize_t got = ::recv(socket.get(), buffer.data(), buffer.size(), 0);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) refuse(question, errno);
      answer = take_kernel_answer(table, {buffer.data(), static_cast<std::size_t>(got)}, visit);
      whole = whole && answer.whole;
    }
  }
  return whole;
}

KernelTold read_kernel_changes(int socket, std::span<std::byte> room, int reads_max,
                               const KernelVisit& visit) {
  KernelTold told;
  for (int i = 0; i < reads_max; ++i) {
    const ssize_t got = ::recv(socket, room.data(), room.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == ENOBUFS) {
      told.lost = true;
      continue;
    }
    if (got < 0) {
      told.error = errno == EAGAIN ? 0 : errno;
      return told;
    }
    for_each_message(room.first(static_cast<std::size_t>(got)), visit);
  }
  told.more = true;
  return told;
}

}  // namespace millrace
