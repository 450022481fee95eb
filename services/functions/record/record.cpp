// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/record/record.hpp"

#include <cstring>

#include "services/functions/function_rows.hpp"
#include "shared/base/check.hpp"
#include "shared/base/error.hpp"
#include "shared/base/ip_protocol.hpp"
#include "shared/base/packet.hpp"

namespace millrace {
namespace {

constexpr std::uint64_t kNumberedMagic = 0x4d494c4c52414345;  // "MILLRACE"
constexpr std::size_t kStreamOffset = 8;
constexpr std::size_t kNumberOffset = 16;
constexpr std::size_t kNumberedBytesMin = 24;
constexpr std::uint32_t kStateLines = (sizeof(RecordState) + kCacheLine - 1) / kCacheLine;

std::uint64_t big_endian64(const std::byte* at) noexcept {
  std::uint64_t value;
  std::memcpy(&value, at, sizeof value);
  return __builtin_bswap64(value);
}

std::uint32_t big_endian32(const std::byte* at) noexcept {
  std::uint32_t value;
  std::memcpy(&value, at, sizeof value);
  return __builtin_bswap32(value);
}

/// The numbers in the packet's UDP payload, or null when it carries none.
const std::byte* numbers_of(std::span<const std::byte> frame) noexcept {
  const PacketHeaders headers = parse_headers(frame);
  const bool udp = headers.protocol == ip_protocol::kUdp && headers.transport_offset != 0;
  if (!udp || headers.payload_offset == 0) return nullptr;
  if (headers.payload_offset + kNumberedBytesMin > headers.payload_end) return nullptr;
  const std::byte* const payload = frame.data() + headers.payload_offset;
  return big_endian64(payload) == kNumberedMagic ? payload : nullptr;
}

void add(RecordState& state, FunctionCounters counters, RecordCounter which,
         std::uint64_t amount) noexcept {
  const auto number = static_cast<std::size_t>(which);
  state.counts[number] += amount;
  if (number < counters.hits.size()) counters.hits[number] += amount;
}

void record(std::span<const std::byte> frame, RecordState& state,
            FunctionCounters counters) noexcept {
  add(state, counters, RecordCounter::kPackets, 1);
  const std::byte* const numbers = numbers_of(frame);
  const std::uint32_t stream =
      numbers == nullptr ? kRecordStreamsMax : big_endian32(numbers + kStreamOffset);
  if (stream >= kRecordStreamsMax) return add(state, counters, RecordCounter::kUnnumbered, 1);
  const std::uint64_t number = big_endian64(numbers + kNumberOffset);
  const std::uint64_t expected = state.expected[stream];
  state.expected[stream] = number + 1;
  if (expected == 0 || number == expected) return;
  if (number < expected) return add(state, counters, RecordCounter::kInversions, 1);
  add(state, counters, RecordCounter::kSkipped, number - expected);
}

class RecordFunction final : public Function {
 public:
  void compute(const Batch&, Selection selected,
               std::span<std::uint32_t> results) noexcept override {
    for (const std::uint16_t packet : selected.packets) results[packet] = 0;
  }

  void finish(const FinishContext& call) noexcept override {
    MILLRACE_CHECK(call.state.bytes.size() >= sizeof(RecordState));
    const std::span<std::byte> lane = call.state.change(0, sizeof(RecordState));
    RecordState state;
    std::memcpy(&state, lane.data(), sizeof state);
    for (const std::uint16_t packet : call.selected.packets) {
      record(call.batch.bytes(packet), state, call.counters);
    }
    std::memcpy(lane.data(), &state, sizeof state);
  }
};

void check_record(const PlanFunction& function) {
  if (!function.settings.empty()) {
    throw Error(function.settings.front().first + ": record has no settings of its own");
  }
}

}  // namespace

FunctionType record_type() {
  FunctionType type;
  type.traits = {.type = "record",
                 .summary = "watches the order of numbered packets; all pass",
                 .regions = kReadsHeaders,
                 .stateful = true,
                 .lane_needs =
                     [](const LaneRequest&) {
                       return LaneNeeds{sizeof(RecordState), kStateLines};
                     },
                 .counter_count = kRecordCounterCount};
  type.make = [](const FunctionContext&) -> std::unique_ptr<Function> {
    return std::make_unique<RecordFunction>();
  };
  type.build = nullptr;
  type.check = check_record;
  return type;
}

}  // namespace millrace
