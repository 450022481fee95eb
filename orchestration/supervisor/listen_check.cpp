// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/listen_check.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <charconv>

#include "shared/base/error.hpp"
#include "shared/base/unique_fd.hpp"

namespace millrace {

void check_listen(const std::string& what, const std::string& address) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos) return;
  std::uint16_t port = 0;
  std::from_chars(address.data() + colon + 1, address.data() + address.size(), port);
  if (port == 0) return;
  sockaddr_in wanted{};
  wanted.sin_family = AF_INET;
  wanted.sin_port = htons(port);
  if (::inet_pton(AF_INET, address.substr(0, colon).c_str(), &wanted.sin_addr) != 1) return;
  const UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int yes = 1;  // as the server does: what closes at this moment is no obstacle
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  const auto* name = reinterpret_cast<const sockaddr*>(&wanted);
  if (::bind(socket.get(), name, sizeof wanted) == 0) return;
  if (errno == EADDRNOTAVAIL) {
    throw Error(what + ": " + address + " is no address of this host (those are: ip address)");
  }
  if (errno == EACCES) throw system_error(what + ": listen on " + address, errno);
  if (errno != EADDRINUSE) return;
  throw Error(what + ": " + address + " is in use (by whom: ss -tlnp 'sport = " +
              address.substr(colon) + "'); another port in `" + what +
              ": { listen: ... }` mends it, and port 0 takes any free one");
}

}  // namespace millrace
