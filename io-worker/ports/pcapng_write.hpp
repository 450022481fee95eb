// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io-worker/ports/capture_record.hpp"

/// Appends blocks of a pcapng file (draft-ietf-opsawg-pcapng; pcapng_format.hpp reads them), in our
/// byte order: a section, its interfaces, their packets and, at the end, their statistics. Texts
/// are UTF-8; an empty one leaves its option out, what is longer than 1,024 bytes is cut.

namespace millrace {

/// Ethernet, nanoseconds.
struct PcapngInterface {
  std::string name;
  std::string filter;             ///< text of the pcap filter; empty: none
  std::uint32_t snap_length = 0;  ///< 0: packets are whole
};

enum class PcapngDirection : std::uint8_t { kUnknown = 0, kIn = 1, kOut = 2 };

void put_pcapng_section(std::vector<std::byte>& to, std::string_view program);

void put_pcapng_interface(std::vector<std::byte>& to, const PcapngInterface& interface);

/// `interface`: its number in the section, from 0.
void put_pcapng_packet(std::vector<std::byte>& to, std::uint32_t interface,
                       const CaptureRecord& record, PcapngDirection direction,
                       std::string_view comment);

/// `missed`: packets of the interface that the writer lost.
void put_pcapng_statistics(std::vector<std::byte>& to, std::uint32_t interface,
                           std::uint64_t time_ns, std::uint64_t written, std::uint64_t missed);

}  // namespace millrace
