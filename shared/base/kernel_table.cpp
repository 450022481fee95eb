// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/base/kernel_table.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <string>
#include <vector>

#include "shared/base/error.hpp"
#include "shared/base/netlink.hpp"
#include "shared/base/unique_fd.hpp"

namespace millrace {
namespace {

constexpr std::size_t kReceiveBytes = 256 * 1024;  // the kernel fills at most 32 KB at a time

/// What a message that asks for a table holds behind its header.
union Body {
  rtmsg route;
  ndmsg neighbour;
};
static_assert(sizeof(rtmsg) == sizeof(Body) && sizeof(ndmsg) == sizeof(Body));
static_assert(offsetof(rtmsg, rtm_family) == 0 && offsetof(ndmsg, ndm_family) == 0);

const char* name_of(KernelTable table) {
  return table == KernelTable::kRoutes ? "routes" : "neighbours";
}

void ask(int socket, KernelTable table, unsigned char family) {
  struct {
    nlmsghdr header;
    Body body;
  } request{};
  request.header.nlmsg_len = sizeof request;
  request.header.nlmsg_type = table == KernelTable::kRoutes ? RTM_GETROUTE : RTM_GETNEIGH;
  request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  request.body.route.rtm_family = family;
  if (::send(socket, &request, sizeof request, 0) < 0) {
    throw system_error(std::string("ask the kernel for its ") + name_of(table), errno);
  }
}

[[noreturn]] void refuse(KernelTable table, int error) {
  throw system_error(std::string("read the kernel's ") + name_of(table), error);
}

}  // namespace

KernelAnswer take_kernel_answer(KernelTable table, std::span<const std::byte> bytes,
                                const KernelVisit& visit) {
  KernelAnswer answer;
  for_each_message(bytes, [&](const nlmsghdr& header, std::span<const std::byte> message) {
    if ((header.nlmsg_flags & NLM_F_DUMP_INTR) != 0) answer.whole = false;
    if (header.nlmsg_type == NLMSG_DONE) {
      std::int32_t error = 0;
      if (read_body(message, error) && error < 0) refuse(table, -error);
      answer.last = true;
    }
    if (header.nlmsg_type == NLMSG_ERROR) {
      nlmsgerr error{};
      read_body(message, error);
      refuse(table, -error.error);
    }
    visit(header, message);
  });
  return answer;
}

bool read_kernel_table(KernelTable table, const KernelVisit& visit) {
  std::vector<std::byte> buffer(kReceiveBytes);
  bool whole = true;
  for (const unsigned char family : {AF_INET, AF_INET6}) {
    const UniqueFd socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
    if (!socket) throw system_error("open a netlink socket", errno);
    ask(socket.get(), table, family);
    for (KernelAnswer answer; !answer.last;) {
      const ssize_t got = ::recv(socket.get(), buffer.data(), buffer.size(), 0);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) refuse(table, errno);
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
