// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/config/known.hpp"

#include "shared/config/loop.hpp"
#include "shared/layout/limits.hpp"

namespace millrace {
namespace {

constexpr KnownSetting kQueues = {
    .name = "queues", .kind = SettingKind::kInteger, .low = 1, .high = kStreamCountMax};
constexpr KnownSetting kRate = {.name = "rate_mpps", .kind = SettingKind::kNumber, .high = 1000};

constexpr KnownSetting kAfpacket[] = {
    {.name = "follow"},
    {.name = "host", .kind = SettingKind::kFlag},
    {.name = "interface", .required = true},
    kQueues,
    {.name = "queues_max", .kind = SettingKind::kInteger, .low = 1, .high = kStreamCountMax},
    {.name = "ring", .kind = SettingKind::kInteger, .low = 64, .high = 65536},
    {.name = "super_frames", .kind = SettingKind::kFlag},
};
constexpr KnownSetting kAfxdp[] = {
    {.name = "follow"},
    {.name = "interface", .required = true},
    kQueues,
    {.name = "ring", .kind = SettingKind::kInteger, .low = 64, .high = 16384},
};
constexpr KnownSetting kPcap[] = {
    {.name = "in", .kind = SettingKind::kInputFile},
    {.name = "out", .kind = SettingKind::kOutputFile},
};
constexpr KnownSetting kReplay[] = {
    {.name = "copy", .kind = SettingKind::kFlag},
    {.name = "count", .kind = SettingKind::kInteger},
    {.name = "file", .kind = SettingKind::kInputFile, .required = true},
    {.name = "loop", .kind = SettingKind::kFlag},
    kQueues,
    kRate,
};
constexpr KnownSetting kGenerate[] = {
    {.name = "count", .kind = SettingKind::kInteger},
    {.name = "destinations", .list = true},
    {.name = "flows", .kind = SettingKind::kInteger, .low = 1, .high = 1e6},
    {.name = "numbered", .kind = SettingKind::kFlag},
    kQueues,
    kRate,
    {.name = "seed", .kind = SettingKind::kInteger},
    {.name = "size", .kind = SettingKind::kInteger, .low = 60, .high = 9000, .list = true},
    {.name = "sources", .kind = SettingKind::kInteger, .low = 1, .high = 131072},
    {.name = "stream", .kind = SettingKind::kInteger, .high = 4095},
    {.name = "syn", .kind = SettingKind::kFlag},
};
constexpr KnownSetting kLoop[] = {
    {.name = "depth", .kind = SettingKind::kInteger, .low = kLoopDepthMin, .high = kLoopDepthMax},
    kQueues,
    {.name = "tick"},
};
constexpr KnownSetting kDpdk[] = {
    {.name = "devargs", .required = true},
    {.name = "promiscuous", .kind = SettingKind::kFlag},
    kQueues,
    {.name = "rx_descriptors", .kind = SettingKind::kInteger, .low = 32, .high = 4096},
    {.name = "tx_descriptors", .kind = SettingKind::kInteger, .low = 32, .high = 4096},
};
constexpr KnownSetting kTap[] = {
    {.name = "host_addresses", .list = true},
    {.name = "host_mac"},
    {.name = "interface", .required = true},
    kQueues,
    {.name = "ring", .kind = SettingKind::kInteger, .low = 64, .high = 65536},
    {.name = "super_frames", .kind = SettingKind::kFlag},
};
constexpr KnownSetting kVlan[] = {
    {.name = "id", .kind = SettingKind::kInteger, .low = 1, .high = 4094, .required = true},
    {.name = "link", .required = true},
    {.name = "outer", .kind = SettingKind::kInteger, .low = 1, .high = 4094},
};
constexpr KnownDevice kDevices[] = {
    {.name = "afpacket", .settings = kAfpacket, .send_queue_max = kStreamCountMax},
    {.name = "afxdp",
     .settings = kAfxdp,
     .send_queue_max = kStreamCountMax,
     .buffers_held = 1024},  // kAfxdpRingDefault
    {.name = "dpdk",
     .settings = kDpdk,
     .send_queue_max = kStreamCountMax,
     .buffers_held = 512,
     .buffers_sent = 512},
    {.name = "generate", .settings = kGenerate},
    {.name = "loop", .settings = kLoop, .send_queue_max = kStreamCountMax},
    {.name = "null", .settings = {}, .send_queue_max = kStreamCountMax},
    {.name = "pcap", .settings = kPcap, .send_queue_max = 1},
    {.name = "replay", .settings = kReplay},
    {.name = "tap", .settings = kTap, .send_queue_max = kStreamCountMax},
    {.name = "vlan", .settings = kVlan, .send_queue_max = kStreamCountMax},
};

constexpr KnownSetting kSoftwareDevice[] = {
    {.name = "seed", .kind = SettingKind::kInteger},
    {.name = "delay_us", .kind = SettingKind::kInteger, .high = 1e6},
    {.name = "reorder", .kind = SettingKind::kFlag},
    {.name = "late", .kind = SettingKind::kInteger, .high = 1000},
};

}  // namespace

std::span<const KnownDevice> known_devices() { return kDevices; }
std::span<const KnownSetting> known_software_device() { return kSoftwareDevice; }

}  // namespace millrace
