// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "shared/config/known.hpp"
#include "shared/config/plan.hpp"
#include "shared/config/plan_settings.hpp"

/// The devices of ports, each with its keys: the one place of a key's range and default. By it the
/// loader and the ports (io-worker/ports/settings.hpp) check what a file says; tests compare it
/// with orchestration/schema/topology.schema.json and io-worker/ports/README.md, which say what a
/// key means.

namespace millrace {

/// A port device of this version.
struct KnownDevice {
  std::string_view name;
  std::span<const KnownSetting> settings;
  std::uint32_t send_queue_max = 0;  ///< 0: it never sends
  std::string_view held_by = {};  ///< setting: buffers that each receive queue keeps; empty: none
  std::string_view sent_by = {};  ///< setting: buffers that each transmit queue keeps; empty: none
};

inline constexpr std::uint32_t kPortQueueCountMax = 16;  ///< of a port, in each direction

inline constexpr KnownSetting kQueuesSetting = {.name = "queues",
                                                .kind = SettingKind::kInteger,
                                                .low = 1,
                                                .high = kPortQueueCountMax,
                                                .otherwise = "1"};
inline constexpr KnownSetting kRateSetting = {
    .name = "rate_mpps", .kind = SettingKind::kNumber, .high = 1000, .otherwise = "0"};

inline constexpr KnownSetting kSettingsOfAfpacket[] = {
    {.name = "follow"},
    {.name = "host", .kind = SettingKind::kFlag, .otherwise = "false"},
    {.name = "interface", .required = true},
    kQueuesSetting,
    {.name = "queues_max", .kind = SettingKind::kInteger, .low = 1, .high = kPortQueueCountMax},
    {.name = "ring", .kind = SettingKind::kInteger, .low = 64, .high = 65536, .otherwise = "2048"},
    {.name = "super_frames", .kind = SettingKind::kFlag, .otherwise = "false"},
};
inline constexpr KnownSetting kSettingsOfAfxdp[] = {
    {.name = "follow"},
    {.name = "interface", .required = true},
    kQueuesSetting,
    {.name = "ring", .kind = SettingKind::kInteger, .low = 64, .high = 16384, .otherwise = "1024"},
};
inline constexpr KnownSetting kSettingsOfPcap[] = {
    {.name = "in", .kind = SettingKind::kInputFile},
    {.name = "out", .kind = SettingKind::kOutputFile},
};
inline constexpr KnownSetting kSettingsOfReplay[] = {
    {.name = "copy", .kind = SettingKind::kFlag, .otherwise = "false"},
    {.name = "count", .kind = SettingKind::kInteger, .otherwise = "0"},
    {.name = "file", .kind = SettingKind::kInputFile, .required = true},
    {.name = "loop", .kind = SettingKind::kFlag, .otherwise = "true"},
    kQueuesSetting,
    kRateSetting,
};
inline constexpr KnownSetting kSettingsOfGenerate[] = {
    {.name = "count", .kind = SettingKind::kInteger, .otherwise = "0"},
    {.name = "destinations", .list = true, .otherwise = "10.0.0.0/8"},
    {.name = "flows", .kind = SettingKind::kInteger, .low = 1, .high = 1e6, .otherwise = "1024"},
    {.name = "numbered", .kind = SettingKind::kFlag, .otherwise = "false"},
    kQueuesSetting,
    kRateSetting,
    {.name = "seed", .kind = SettingKind::kInteger, .otherwise = "1"},
    {.name = "size", .kind = SettingKind::kInteger, .low = 60, .high = 9000, .list = true},
    {.name = "sources",
     .kind = SettingKind::kInteger,
     .low = 1,
     .high = 131072,
     .otherwise = "131072"},
    {.name = "stream", .kind = SettingKind::kInteger, .high = 4095, .otherwise = "0"},
    {.name = "syn", .kind = SettingKind::kFlag, .otherwise = "false"},
};
inline constexpr KnownSetting kSettingsOfLoop[] = {
    {.name = "depth", .kind = SettingKind::kInteger, .low = 64, .high = 65536, .otherwise = "1024"},
    kQueuesSetting,
    {.name = "tick"},
};
inline constexpr KnownSetting kSettingsOfDpdk[] = {
    {.name = "devargs", .required = true},
    {.name = "promiscuous", .kind = SettingKind::kFlag, .otherwise = "true"},
    kQueuesSetting,
    {.name = "rx_descriptors",
     .kind = SettingKind::kInteger,
     .low = 32,
     .high = 4096,
     .otherwise = "512"},
    {.name = "tx_descriptors",
     .kind = SettingKind::kInteger,
     .low = 32,
     .high = 4096,
     .otherwise = "512"},
};
inline constexpr KnownSetting kSettingsOfTap[] = {
    {.name = "host_addresses", .list = true},
    {.name = "host_mac"},
    {.name = "interface", .required = true},
    kQueuesSetting,
    {.name = "ring", .kind = SettingKind::kInteger, .low = 64, .high = 65536, .otherwise = "1024"},
    {.name = "super_frames", .kind = SettingKind::kFlag, .otherwise = "false"},
};
inline constexpr KnownSetting kSettingsOfVlan[] = {
    {.name = "id", .kind = SettingKind::kInteger, .low = 1, .high = 4094, .required = true},
    {.name = "link", .required = true},
    {.name = "outer", .kind = SettingKind::kInteger, .low = 1, .high = 4094},
};
inline constexpr KnownDevice kKnownDevices[] = {
    {.name = "afpacket", .settings = kSettingsOfAfpacket, .send_queue_max = kPortQueueCountMax},
    {.name = "afxdp",
     .settings = kSettingsOfAfxdp,
     .send_queue_max = kPortQueueCountMax,
     .held_by = "ring"},
    {.name = "dpdk",
     .settings = kSettingsOfDpdk,
     .send_queue_max = kPortQueueCountMax,
     .held_by = "rx_descriptors",
     .sent_by = "tx_descriptors"},
    {.name = "generate", .settings = kSettingsOfGenerate},
    {.name = "loop", .settings = kSettingsOfLoop, .send_queue_max = kPortQueueCountMax},
    {.name = "null", .settings = {}, .send_queue_max = kPortQueueCountMax},
    {.name = "pcap", .settings = kSettingsOfPcap, .send_queue_max = 1},
    {.name = "replay", .settings = kSettingsOfReplay},
    {.name = "tap", .settings = kSettingsOfTap, .send_queue_max = kPortQueueCountMax},
    {.name = "vlan", .settings = kSettingsOfVlan, .send_queue_max = kPortQueueCountMax},
};

inline constexpr KnownSetting kSettingsOfSoftwareDevice[] = {
    {.name = "seed", .kind = SettingKind::kInteger},
    {.name = "delay_us", .kind = SettingKind::kInteger, .high = 1e6},
    {.name = "reorder", .kind = SettingKind::kFlag},
    {.name = "late", .kind = SettingKind::kInteger, .high = 1000},
};

/// All that this version has, by name, sorted.
constexpr std::span<const KnownDevice> known_devices() { return kKnownDevices; }

/// Null for a name that no device has.
constexpr const KnownDevice* known_device(std::string_view name) {
  for (const KnownDevice& device : known_devices()) {
    if (device.name == name) return &device;
  }
  return nullptr;
}

/// Keys of the software device of a gpu group.
constexpr std::span<const KnownSetting> known_software_device() {
  return kSettingsOfSoftwareDevice;
}

/// What a checked port has for one of its device's keys: by its settings, else by default. Empty:
/// neither.
inline std::string port_setting(const PlanPort& port, std::string_view key) {
  const KnownDevice* const device = known_device(port.device);
  const KnownSetting* const known =
      device == nullptr ? nullptr : known_setting(device->settings, key);
  return setting_of(port.settings, key, known == nullptr ? "" : known->otherwise);
}
/// Likewise a whole number; 0: neither.
inline std::uint32_t port_number(const PlanPort& port, std::string_view key) {
  return whole_number(port_setting(port, key));
}

}  // namespace millrace
