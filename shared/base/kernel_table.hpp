// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/netlink.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

/// Tables of this host's kernel that are followed, by rtnetlink(7): a reader takes all of one, then
/// what a socket that listens is told of it. Control plane.

namespace millrace {

enum class KernelTable : std::uint8_t {
  kRoutes,      ///< of all its tables of routes: messages RTM_NEWROUTE
  kInterfaces,  ///< of this network namespace: messages RTM_NEWLINK
  kNeighbours,  ///< of ARP and Neighbour Discovery: messages RTM_NEWNEIGH
};

/// `message`: one, with `header`.
using KernelVisit = std::function<void(const nlmsghdr& header, std::span<const std::byte> message)>;

/// Calls `visit` with each message of the table, IPv4 first where it has both, as it is now, in the
/// kernel's order, and with the message that ends each. A change meanwhile may be in it or not.
/// Waits for the kernel. Throws Error, also what `visit` throws. False: the kernel says that a
/// change came between two of its answers (NLM_F_DUMP_INTR), so what did not change may be missing,
/// or be there twice. Then all of it is to be read again.
bool read_kernel_table(KernelTable table, const KernelVisit& visit);

/// What one answer of the kernel has said of the table.
struct KernelAnswer {
  bool last = false;  ///< nothing more comes
  bool whole = true;  ///< no change came between this answer and the one before
};

/// Calls `visit` with each message of one answer, `bytes`. Throws Error when the kernel says one: a
/// table that breaks off ends with an error in its last message.
KernelAnswer take_kernel_answer(KernelTable table, std::span<const std::byte> bytes,
                                const KernelVisit& visit);

struct KernelTold {
  bool lost = false;  ///< the kernel had no room for a message: any may be missing
  bool more = false;  ///< there may be more to read
  int error = 0;      ///< errno of a socket that can be read no more
};

/// Calls `visit` with each message that `socket`, which does not block, has been told, in order.
/// Takes `reads_max` datagrams at most. `room`: for the longest; the kernel's have up to 32 KB.
KernelTold read_kernel_changes(int socket, std::span<std::byte> room, int reads_max,
                               const KernelVisit& visit);

}  // namespace millrace
