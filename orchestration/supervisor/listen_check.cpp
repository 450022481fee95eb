// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/listen_check.hpp"

#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>

#include "shared/base/error.hpp"
#include "shared/base/tcp_address.hpp"
#include "shared/base/unique_fd.hpp"

namespace millrace {
namespace {

/// "*" is all addresses; the name of an interface is left to the listener.
std::optional<SocketAddress> address_of(const std::string& what, const std::string& address) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  const std::string host = address.substr(0, colon);
  if (host == "*") return socket_address("0.0.0.0" + address.substr(colon));
  auto known = socket_address(address);
  if (!known && ::if_nametoindex(host.c_str()) == 0) {
    throw Error(what + ": '" + host +
                "' is no address and no interface of this host (those are: ip address)");
  }
  return known;
}

}  // namespace

void check_listen(const std::string& what, const std::string& address) {
  const auto wanted = address_of(what, address);
  if (!wanted) return;
  const UniqueFd socket(::socket(wanted->family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) throw system_error(what + ": listen on " + address, errno);
  const int yes = 1, no = 0;  // as the server does: what closes at this moment is no obstacle
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (wanted->family() == AF_INET6) {
    ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
  }
  if (::bind(socket.get(), wanted->get(), wanted->bytes) == 0) return;
  if (errno == EADDRNOTAVAIL) {
    throw Error(what + ": " + address + " is no address of this host (those are: ip address)");
  }
  if (errno != EADDRINUSE) throw system_error(what + ": listen on " + address, errno);
  throw Error(what + ": " + address + " is in use (by what: ss -tlnp 'sport = " +
              address.substr(address.rfind(':')) + "'); another port in `" + what +
              ": { listen: ... }` mends it, and port 0 takes any free one");
}

}  // namespace millrace
