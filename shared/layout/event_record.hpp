// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "shared/layout/limits.hpp"

/// What a function tells of a packet, in two cache lines: which one, when, about which packet, and
/// a payload that its kind says how to read. It goes from the data thread to the process `events`
/// by a ring (event_rings.hpp); what becomes of it there is services/events' business.

namespace millrace {

enum class EventKind : std::uint8_t {
  kAlert = 0,    ///< a rule that asks for it has matched
  kAnomaly = 1,  ///< something on the network is not as it should be
  kCount
};

/// What became of the packet that an alert is about.
enum class EventAction : std::uint8_t { kAllowed = 0, kBlocked = 1 };

inline constexpr std::size_t kEventNameBytes = 63;
struct AlertEvent {
  std::uint32_t rule;          ///< its number in the function, from 0
  EventAction action;          ///< what the rule does with the packet
  char name[kEventNameBytes];  ///< of the rule; a shorter one is followed by zeros
};

enum class AnomalyType : std::uint8_t {
  kAddressConflict = 0,  ///< another host claims an address of ours, or of a permanent neighbour:
                         ///< the record's source
  kCount
};
struct AnomalyEvent {
  AnomalyType type;
  std::array<std::uint8_t, 6> mac;  ///< of the host that it is about
  std::uint8_t padding[61];
};

inline constexpr std::size_t kEventPayloadBytes = 68;

/// Addresses and ports are those of the packet when it was told of; numbers are the host's, not
/// the wire's. An IPv4 address has the first 4 bytes.
struct alignas(kCacheLine) EventRecord {
  std::uint64_t time_tsc;  ///< arrival of the first packet of its batch
  std::uint64_t sequence;  ///< of the batch, in its stream and lane
  std::array<std::uint8_t, 16> source, destination;
  std::uint16_t source_port, destination_port;  ///< 0: not known, or its protocol has none
  std::uint16_t lane;
  std::uint8_t packet;      ///< index in the batch
  std::uint8_t stream;      ///< it says which port the packet came in by
  EventKind kind;           ///< which payload
  std::uint8_t function;    ///< number in the plan
  std::uint8_t ip_version;  ///< 4, 6: addresses are known; 0: they are not
  std::uint8_t protocol;    ///< of IP; 0 where ip_version is 0
  union {
    AlertEvent alert;
    AnomalyEvent anomaly;
    std::byte payload[kEventPayloadBytes];
  };
};
static_assert(sizeof(AlertEvent) == 68 && offsetof(AlertEvent, action) == 4);
static_assert(offsetof(AlertEvent, name) == 5);
static_assert(sizeof(AnomalyEvent) == 68 && offsetof(AnomalyEvent, mac) == 1);
static_assert(sizeof(EventRecord) == 128 && std::is_trivially_copyable_v<EventRecord>);
static_assert(offsetof(EventRecord, time_tsc) == 0 && offsetof(EventRecord, sequence) == 8);
static_assert(offsetof(EventRecord, source) == 16 && offsetof(EventRecord, destination) == 32);
static_assert(offsetof(EventRecord, source_port) == 48);
static_assert(offsetof(EventRecord, destination_port) == 50 && offsetof(EventRecord, lane) == 52);
static_assert(offsetof(EventRecord, packet) == 54 && offsetof(EventRecord, stream) == 55);
static_assert(offsetof(EventRecord, kind) == 56 && offsetof(EventRecord, function) == 57);
static_assert(offsetof(EventRecord, ip_version) == 58 && offsetof(EventRecord, protocol) == 59);
static_assert(offsetof(EventRecord, payload) == 60);
static_assert(kBatchCapacityMax <= 256 && kStreamCountMax <= 256 && kFunctionPlaceMax <= 256);

}  // namespace millrace
