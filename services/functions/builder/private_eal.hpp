// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace millrace {

/// Starts a DPDK EAL that belongs to this process alone: no huge pages, no files, no devices, no
/// threads; its memory is taken page by page as it is used and dies with the process. For the
/// builder, workers whose functions need one (acl), `millrace try` and tests. The first call starts
/// it, later ones return at once; the calling thread keeps its CPU affinity. Throws Error. Any
/// thread; blocks about 0.15 s, most of it DPDK's measurement of the clock.
void start_private_eal();

}  // namespace millrace
