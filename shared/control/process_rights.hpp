// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "shared/base/capabilities.hpp"
#include "shared/base/system_calls.hpp"
#include "shared/config/plan.hpp"

/// What each kind of process keeps once it is set up. Everything that needs more (sockets, XDP
/// programs, interfaces, huge pages) has been opened by then, and descriptors need no rights.

namespace millrace {

/// Nothing, but for those that a DPDK driver works in (the hub as its primary, io-workers of dpdk
/// ports, and every egress of such a topology). What drivers do while they run, when a queue is set
/// up anew after a death for example, is theirs: CAP_NET_ADMIN and CAP_NET_RAW (net_tap,
/// net_af_packet, NICs that share their device with the kernel), CAP_IPC_LOCK (memory for DMA),
/// CAP_SYS_RAWIO (devices without an IOMMU, old virtio), CAP_BPF (net_af_xdp).
Capabilities capabilities_of(const Plan& plan, const PlanActor& actor);

/// Nothing; CAP_NET_BIND_SERVICE when it is to listen at a port below 1024.
Capabilities capabilities_of_telemetry(const Plan& plan);

/// Those of interfaces for a process with ports, a fused one too; those to watch others, and end
/// them, for hub and standby; all but a few with a driver (DPDK's as above, CUDA's).
SystemCalls system_calls_of(const Plan& plan, const PlanActor& actor);
/// It serves by TCP; NVML is a driver.
SystemCalls system_calls_of_telemetry(const Plan& plan);

/// keep_capabilities(keep), then looks whether the process can still use its run directory: root
/// gets into directories of others by CAP_DAC_OVERRIDE alone. Throws Error with what to do.
void give_up_capabilities(Capabilities keep, const std::string& run_dir);

}  // namespace millrace
