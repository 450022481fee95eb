// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// A hook stands before each store that moves ownership. In the product it is nothing; the race
/// test compiles the same code with MILLRACE_HOOKS and kills the process, or stops it, in between
/// (tests/race).

namespace millrace {

enum class HookPoint : std::uint8_t {
  kTakeOwner,      ///< owner word, or marks, of what is taken
  kTakeTail,       ///< ring: the consumer's index
  kPushElement,    ///< ring: the descriptors or buffers
  kPushTail,       ///< ring: the producer's index
  kOpenHeader,     ///< ingress: header of the slot it opens
  kOpenState,      ///< ingress: state filling
  kHoldMark,       ///< ingress: mark of a buffer that a receive queue keeps
  kFillMark,       ///< ingress: mark of a packet's buffer
  kFillColumn,     ///< ingress: columns of a packet
  kSealHeader,     ///< ingress: count, sequence, running totals
  kSealState,      ///< ingress: state held
  kGpuHolder,      ///< producer: what may complete it, before a push to a GPU
  kAcceptClaim,    ///< acceptor of a completion: compare-and-swap of the holder
  kAcceptClear,    ///< acceptor: holder cleared, after the owner word
  kWorkState,      ///< worker: state worked
  kWorkDirty,      ///< worker: dirty mark of a lane's state
  kWorkNext,       ///< worker: the lane's next number, and the mark cleared
  kCompleteState,  ///< worker: state held for the next stage
  kSendState,      ///< egress: state sending
  kSendMark,       ///< egress: mark of a packet's buffer that a transmit queue may keep
  kSendRecord,     ///< egress: the ledger's other record
  kSendFlip,       ///< egress: the ledger's flip
  kFreeState,      ///< egress: state freeing
  kFreeSlot,       ///< egress: state free, before the slot's push
  kSideMark,       ///< egress: mark of a buffer of its own pool, taken or freed
  kReclaim,        ///< egress: buffers that a transmit queue gave back go home
  kLoopIntent,     ///< egress: what goes into a loop's ring with the ledger's flip
  kLoopHead,       ///< egress: that ring's index, behind the flip
  kLoopStamp,      ///< ingress of a loop: ordinal of a packet that it has read
  kLoopTail,       ///< ingress of a loop: what it lets go of
  kWorkChange,     ///< worker: a line of a lane's state, which has been kept
  kCount
};

#ifdef MILLRACE_HOOKS
void hook(HookPoint point) noexcept;  // tests/race
#else
constexpr void hook(HookPoint) noexcept {}
#endif

}  // namespace millrace
