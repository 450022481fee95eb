// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <string>
#include <vector>

#include "shared/base/unique_fd.hpp"

/// How packet sockets of one interface share what it receives: a fanout group of the kernel
/// (packet(7), PACKET_FANOUT). One thread; all of it throws Error and blocks for moments.

namespace millrace {

/// By the kernel's own flow hash, over all sockets that have joined, from the moment on that they
/// do. While it is bound and has not joined yet, a socket gets the other queues' packets too.
void share_by_hash(const UniqueFd& socket, const std::string& interface);

/// By a program of ours, which says over how many sockets: one that joins gets nothing until the
/// program is another one, so that no packet is lost between. Both directions of a connection come
/// to the same socket; fragments go by addresses, as does what is neither TCP, UDP nor SCTP; what
/// is not IP goes to the first. With more queues a flow stays where it is or goes to a later one.
void share_by_program(const UniqueFd& socket, const std::string& interface);

/// From now on over the first `queues` (>= 1) sockets of the group.
void set_share_program(const UniqueFd& socket, std::uint32_t queues);

/// Returns when every packet that the kernel was receiving lies where it goes to, some 20 ms.
void await_receivers();

/// The program of set_share_program(): sees the packet from its IP header on; returns the queue.
std::vector<sock_filter> share_program(std::uint32_t queues);

}  // namespace millrace
