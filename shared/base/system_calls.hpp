// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Which system calls a process that is set up may still make (seccomp). Packets are hostile: what
/// takes over a process by one of them gets no further than that process could have gone itself.
///
/// Processes of our own code have a list of what they may call; a list of what is forbidden would
/// miss each call that a newer kernel brings. A call that is on neither list answers EPERM, as if
/// the kernel had no right for it to give: if a library has a use for one that is not listed, a
/// statistic is lost and not the packets. The few that an attacker makes next and that
/// no process here ever makes (a program executed, another process's memory, mounts, namespaces,
/// kernel modules, BPF) end the process: the supervisor says so ("Bad system call") and starts a
/// clean one.
///
/// Code of drivers (DPDK's, NVIDIA's) is not ours to list and changes with each version. Processes
/// that load it may make all calls but those few, which answer EPERM: a driver may try a helper.

namespace millrace {

/// What there is besides files in reach, memory without execution, threads, waiting, and Unix
/// sockets, which all have.
struct SystemCalls {
  bool network = false;    ///< questions about interfaces; sockets of IP and netlink
  bool processes = false;  ///< pidfds: watching and killing processes of the same user
  bool driver = false;     ///< all but the few that end others
};

/// From here on, for all threads of this process and what they start. Cannot be undone. A later
/// call can only take away more. Costs no speculation barriers (SECCOMP_FILTER_FLAG_SPEC_ALLOW);
/// calls that are allowed whatever their arguments cost some nanoseconds more. Builds with a
/// sanitizer have no filter: its leak check traces the process. Throws Error.
void filter_system_calls(const SystemCalls& wanted);

}  // namespace millrace
