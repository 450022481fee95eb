// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

/// A packet's fate, and why. Both are one byte in the batch's columns (`verdict`, `reason`); the
/// egress counts each packet's end by them, and the names are label values of the metrics
/// (shared/metrics/metrics.yaml).

namespace millrace {

/// Bit 0: it is not transmitted. Bit 1: it has ended in order; no later function looks at it.
enum class Verdict : std::uint8_t {
  kPass = 0,  ///< goes on; transmitted at the end
  kDrop = 1,  ///< freed at the end; `reason` says why. No later function looks at it
  kDone = 2,  ///< leaves by its `output`; no later function looks at it. With a reason: it is an
              ///< answer, made out of the packet that it answers; the reason says which
  kConsumed = 3,  ///< ended here, as it should: `reason` says what it was for
};
constexpr bool goes_on(std::uint8_t verdict) { return verdict == 0; }
constexpr bool leaves(std::uint8_t verdict) { return (verdict & 1) == 0; }
constexpr bool is_dropped(std::uint8_t verdict) { return verdict == 1; }

/// Why packets are dropped, consumed or generated; one numbering for all three, three counts. The
/// numbers below kCount are the core's. Functions declare reasons of their own
/// (FunctionTraits::reasons); the plan numbers them from kCoreReasonCount on (Plan::reasons), and
/// what a number is called is a matter of the plan (shared/config/plan_reasons.hpp).
/// Values are stable: they stand in shared memory. Add at the end. Those that are missing were of
/// functions once.
enum class Reason : std::uint8_t {
  kNone = 0,
  kOversize = 1,      ///< ingress: longer than a buffer; egress: than the port can send
  kMalformed = 3,     ///< a header contradicts itself or ends early
  kWorkerLost = 11,   ///< in the hands of a worker that died
  kEgressLost = 12,   ///< being sent when the egress died; some may have left
  kQuarantined = 13,  ///< with a process that could not be killed
  kTxFull = 14,       ///< the port took no more after the bounded retry
  kNoOutput = 15,     ///< the output port does not exist, or cannot send (its file is full)
  kOverload = 17,  ///< a function's share was used up and `overload: drop`; ingress: the slots of
                   ///< a path with `overload` were used up
  kUnavailable = 18,  ///< the function is out of service and `unavailable: drop`
  kNoPath = 19,       ///< ingress: no path of the port has a `match` that takes it
  kSideFull = 20,     ///< what a function asked of the egress did not fit into the side list
  kNoBuffer = 21,     ///< egress: no buffer of its own was free for a copy
  kHoldFull = 22,     ///< egress: too many packets wait for that neighbour
  kNoNeighbour = 23,  ///< the neighbour does not answer
  // Consumed.
  kAnswered = 24,    ///< turned into its answer, which is generated
  kHeld = 25,        ///< waits at the egress; generated again when it leaves or is dropped
  kFragmented = 26,  ///< its fragments are generated
  kControl = 27,     ///< was for this machine, which has dealt with it
  // Generated.
  kCopy = 28,      ///< copy to another port
  kFragment = 29,  ///< piece of a packet that was too long
  kReport = 30,    ///< an error report to the sender of a packet (ICMP)
  kReply = 31,     ///< an answer to a question (ARP, neighbour discovery, echo)
  kSolicit = 32,   ///< a question of this machine (ARP, neighbour discovery)
  kPunt = 33,      ///< a copy for the host behind the port that it came in by
  kAnnounce = 34,  ///< what a router says unasked: its addresses, networks of a port
  kCount
};

inline constexpr std::size_t kCoreReasonCount = 36;  ///< with room for one that comes
inline constexpr std::size_t kReasonCount = 64;      ///< room in the tables of shared memory
inline constexpr std::size_t kDeclaredReasonCountMax = kReasonCount - kCoreReasonCount;
static_assert(static_cast<std::size_t>(Reason::kCount) <= kCoreReasonCount);

// clang-format off
/// Empty where there is none.
inline constexpr std::array<std::string_view, static_cast<std::size_t>(Reason::kCount)> kReasonNames = {
    "none", "oversize", "", "malformed", "", "", "", "", "", "", "", "worker_lost", "egress_lost",
    "quarantined", "tx_full", "no_output", "", "overload", "unavailable", "no_path", "side_full",
    "no_buffer", "hold_full", "no_neighbour", "answered", "held", "fragmented", "control", "copy",
    "fragment", "report", "reply", "solicit", "punt", "announce"};
// clang-format on

/// Whose doing a drop is: the configuration's, the packet's own, or ours. Alerts look at the last.
enum class ReasonCause : std::uint8_t { kPolicy = 0, kPacket = 1, kLoss = 2 };

/// A reason of a function's own. The function refers to it by its place in FunctionTraits::reasons.
struct DeclaredReason {
  /// Lower case letters, digits, underscores. Functions that declare the same name share a number;
  /// with the name of a core reason it is that one, and the cause is the core's.
  std::string_view name;
  ReasonCause cause = ReasonCause::kLoss;
  std::string_view summary;  ///< which packets, in one line
};

}  // namespace millrace
