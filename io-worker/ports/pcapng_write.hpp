// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "io-worker/ports/capture_record.hpp"

/// Blocks of a pcapng file (pcapng_format.hpp reads them), in our byte order.

namespace millrace {

/// Appends a Section Header Block and one Ethernet interface with nanoseconds.
void put_pcapng_header(std::vector<std::byte>& to);

/// Appends an Enhanced Packet Block of that interface. `comment`: shown with the packet; empty:
/// none; what is longer than 65,535 bytes is cut.
void put_pcapng_packet(std::vector<std::byte>& to, const CaptureRecord& record,
                       std::string_view comment = {});

}  // namespace millrace
