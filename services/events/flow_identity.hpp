// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "shared/layout/event_record.hpp"

/// Which connection a record is about, as other programs number connections.

namespace millrace {

/// EVE's flow_id: the same for a flow, for what answers it and for packets of both ways; at most 51
/// bits, as Suricata has it for readers that keep numbers as doubles. A hash of addresses, ports
/// and protocol, so a later connection with the same ones has it too. None: the record does not
/// tell ports (a fragment), it is of no flow (errors of ICMP), or has no addresses.
std::optional<std::uint64_t> flow_id_of(const EventRecord& record) noexcept;

/// Community ID, version 1, seed 0 (github.com/corelight/community-id-spec): "1:" and base64 of a
/// SHA-1. Empty: the record has no addresses, or a protocol with ports and no ports. The first call
/// loads the digest of libcrypto, which opens files.
std::string community_id_of(const EventRecord& record);

}  // namespace millrace
