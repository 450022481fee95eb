// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "io-worker/ports/interface.hpp"
#include "io-worker/ports/trouble.hpp"
#include "shared/config/known_devices.hpp"
#include "shared/config/plan.hpp"
#include "shared/layout/batch.hpp"

/// A port as the I/O actors see it: receive queues for ingress, transmit queues for egress. One
/// object a queue and process; every call from the actor's own thread; nothing here blocks,
/// allocates or throws after construction. Devices: README.md in this folder.

namespace millrace {

/// The number of queues that a port has with its settings. 0: it cannot receive, or cannot send.
struct PortQueues {
  std::uint32_t receive = 0;
  std::uint32_t send = 0;
};

/// Empty buffers of one ingress, newest first so that they are still in the cache. Implemented by
/// the ingress (io-worker/ingress/buffer_pool.hpp); a queue may keep buffers (a driver's ring): it
/// says so by held().
class BufferSource {
 public:
  virtual ~BufferSource() = default;
  /// Takes up to out.size() buffers out of the pool; returns how many. They belong to the caller
  /// until poll() hands them out or they are given back.
  virtual std::uint32_t take(std::span<std::uint32_t> out) noexcept = 0;
  /// Takes this very buffer if it is free (for `replay`, whose packets stay in their buffers).
  virtual bool take_exactly(std::uint32_t buffer) noexcept = 0;
  /// Takes the first n of the buffers [first, first + count) that are free, in order; returns n.
  virtual std::uint32_t take_run(std::uint32_t first, std::uint32_t count) noexcept {
    std::uint32_t taken = 0;
    while (taken < count && take_exactly(first + taken)) ++taken;
    return taken;
  }
  virtual void give_back(std::span<const std::uint32_t> buffers) noexcept = 0;
  /// Marks taken buffers as in the queue (a driver's ring). Called before the driver gets them: if
  /// this process dies, they are free only when its queue is stopped. Ends when poll() hands them
  /// out or they are given back.
  virtual void hold(std::span<const std::uint32_t> buffers) noexcept { static_cast<void>(buffers); }
  virtual BufferArea area() const noexcept = 0;
  virtual std::uint32_t first() const noexcept = 0;  ///< number of the pool's first buffer
  virtual std::uint32_t count() const noexcept = 0;
};

/// A received packet. The buffer belongs to the ingress from here on.
struct RxPacket {
  std::uint32_t buffer = 0;
  std::uint16_t offset = 0;       ///< of the first byte in the buffer
  std::uint16_t length = 0;       ///< bytes in the buffer
  std::uint32_t wire_length = 0;  ///< as it was on the wire; > length: cut by the capture
  bool oversize = false;       ///< did not fit: only the first bytes are here; it will be dropped
  bool malformed = false;      ///< of one that is oversize: it is dropped as malformed
  std::uint64_t ordinal = 0;   ///< number of the packet in its source, from 0
  std::uint64_t time_tsc = 0;  ///< arrival; 0: now
};
static_assert(sizeof(RxPacket) == 32);  // two to a line: a burst of them stays in the first cache

/// Shares of a port, a bit each, by number.
using ShareSet = std::uint32_t;

/// A port's flows, divided for good into shares, of which each of its queues reads some. A share
/// moves to another queue, with all packets that wait in it, when the packets polled from it have
/// left; so nothing is lost. Data thread of the queue's ingress.
class RxShares {
 public:
  virtual ~RxShares() = default;
  /// The shares that this queue reads, held ones too.
  virtual ShareSet read_here() const noexcept = 0;
  /// Called when all shares of the port are there: lets packets in. Until then a flow's share is
  /// not certain.
  virtual void admit() noexcept = 0;
  /// Polls no more from these shares, only from the others. False, and nothing changes, while
  /// packets that the process before had polled are still to come again.
  virtual bool hold(ShareSet shares) noexcept = 0;
  /// Stops reading a held share of which every packet has been handed on for good
  /// (RxQueue::release_below()). False: not yet, or no process would keep it meanwhile. Takes some
  /// milliseconds, seldom 100.
  virtual bool leave(std::uint32_t share) noexcept = 0;
  /// Begins to read a share that another queue has left. False: no process has it. Takes as long as
  /// leave().
  virtual bool join(std::uint32_t share) noexcept = 0;
};

class RxQueue {
 public:
  virtual ~RxQueue() = default;
  /// Receives up to out.size() (<= kBurstMax) packets in the order of the wire; returns how many.
  /// Fewer than asked means that no more are there now (or no free buffer).
  virtual std::uint32_t poll(BufferSource& pool, std::span<RxPacket> out) noexcept = 0;
  /// After a restart: the processes before have handed on all packets with ordinal < first_wanted.
  /// Files, generators and rings that outlive their reader go on there; other devices begin above
  /// all numbers so far. Called once, before the first poll.
  virtual void resume(std::uint64_t first_wanted) noexcept = 0;
  /// Packets with smaller ordinals have been handed on for good: no successor will want them again.
  /// Called once in a round in which that has changed.
  virtual void release_below(std::uint64_t ordinal) noexcept { static_cast<void>(ordinal); }
  /// The topology is drained: nothing polls until further notice. Called in each round meanwhile;
  /// a source with a rate stands still, a device goes on filling its own queue.
  virtual void rest() noexcept {}
  /// True when nothing will ever come again (end of a file): the ingress then sleeps until woken.
  virtual bool exhausted() const noexcept = 0;
  /// True when a packet waits, for a queue that other actors of the topology fill; they wake this
  /// one.
  virtual bool has_waiting() const noexcept { return false; }
  /// True when other ports have received its packets before: it is read on while these rest.
  virtual bool reads_when_drained() const noexcept { return false; }
  /// Nanoseconds until a packet can be there at the earliest, to sleep by; 0: poll again at once or
  /// at the idle interval (200 us); files: 0.
  virtual std::uint64_t next_ready_ns() const noexcept = 0;
  /// Descriptor that gets readable when there is a packet, to wait on when idle; -1: none, the
  /// ingress polls at the idle interval. Asked before each sleep. A queue reads a pending error of
  /// its descriptor here, else the descriptor would stay ready.
  virtual int wait_descriptor() noexcept = 0;
  /// Buffers that the queue keeps between polls (a driver's ring, a replay's packets not handed
  /// out).
  virtual std::uint32_t held() const noexcept = 0;
  /// Packets that arrived and never got a buffer, since construction; the port's own count.
  virtual std::uint64_t missed() const noexcept { return 0; }
  /// Called when an actor has died or come, before this actor acknowledges it.
  virtual void roster_moved() noexcept {}
  /// Called when hub or standby are new processes: gives them the files that outlive this reader
  /// (kept_file.hpp). False: one of them has not got them yet. May take as long as leave().
  virtual bool leave_with_keepers() noexcept { return true; }
  /// Times that the source could not be read on (a truncated or corrupt record, a packet that is
  /// not Ethernet), since construction.
  virtual std::uint64_t errors() const noexcept { return 0; }
  /// For people: what these errors are. Empty: nothing that the port itself knows.
  virtual TroubleText trouble() const noexcept { return {}; }
  /// For people, once: what could not be opened is read now.
  virtual bool has_recovered() noexcept { return false; }
  /// The port's shares, if its flows can move from one queue to another; null: they cannot.
  virtual RxShares* shares() noexcept { return nullptr; }
  /// For people, at the start: what it found. Empty: nothing to say.
  virtual std::string remark() const { return {}; }
};

/// A packet to send: bytes stay valid until send() returns, or, for queues that hold buffers, until
/// reclaim().
struct TxPacket {
  std::uint32_t buffer = 0;
  std::span<const std::byte> bytes;
  std::uint32_t wire_length = 0;  ///< >= bytes.size(); files keep it
  std::uint64_t time_ns = 0;      ///< system clock, for captures; 0: when it is written
};

/// A transmit queue of a loop: its packets come in again, so they must become visible together with
/// their count. Called around the flip of a lane's ledger: intend() before it, commit() after it.
/// Data thread of the queue's egress.
class TxCommit {
 public:
  virtual ~TxCommit() = default;
  /// All packets that send() has taken since the last commit() are counted in the ledger of this
  /// stream and lane, which is about to flip; it will then have flipped `flips` times.
  virtual void intend(std::uint32_t stream, std::uint32_t lane, std::uint64_t flips) noexcept = 0;
  /// The ledger has flipped.
  virtual void commit() noexcept = 0;
  /// Wakes the readers of what was committed since the last call: once a round, at its start.
  virtual void wake_readers() noexcept = 0;
};

class TxQueue {
 public:
  virtual ~TxQueue() = default;
  /// Takes the first n packets for transmission and returns n. The caller retries a bounded number
  /// of times, then drops the rest as tx_full, or waits when waits_when_full().
  virtual std::uint32_t send(std::span<const TxPacket> packets) noexcept = 0;
  /// True when it takes packets straight from their batch, by send_of().
  virtual bool reads_batches() const noexcept { return false; }
  /// As send(), for packets of `batch` by their numbers in it, which ascend; no TxPackets are made.
  /// Called only when reads_batches().
  virtual std::uint32_t send_of(const Batch& batch,
                                std::span<const std::uint16_t> packets) noexcept {
    static_cast<void>(batch), static_cast<void>(packets);
    return 0;
  }
  /// True for files, of which no packet is dropped because they are slow. failed() tells an error
  /// that lasts (disk full, interface down).
  virtual bool waits_when_full() const noexcept { return false; }
  virtual bool failed() const noexcept = 0;
  /// For people: why it has failed. Empty: nothing that the port itself knows.
  virtual TroubleText trouble() const noexcept { return {}; }
  /// True when the first packet that the last send() did not take can never be sent here (longer
  /// than the device takes): it is dropped as oversize, the others follow.
  virtual bool refused() const noexcept { return false; }
  /// Writes out what is buffered. Called when the egress goes idle and before it stops.
  virtual void flush() noexcept {}
  /// As for a receive queue.
  virtual void roster_moved() noexcept {}
  /// True when sent buffers stay with the queue until reclaim() returns them (a driver's ring).
  virtual bool holds_buffers() const noexcept { return false; }
  /// Gives the buffers that the queue has let go, each once. Called in every round, and between the
  /// tries of a send().
  virtual std::uint32_t reclaim(std::span<std::uint32_t> out) noexcept {
    static_cast<void>(out);
    return 0;
  }
  /// The commits of a queue that leads back into the topology; null for all others.
  virtual TxCommit* commits() noexcept { return nullptr; }
};

/// Tells operators of a port's trouble, in at most 199 bytes, once a change. Called by the data
/// thread: it neither waits nor allocates.
using TellTrouble = std::function<void(std::string_view text)>;

/// Checks the settings of a port and that its files can be used, for `validate`: opens no port,
/// needs no root and no shared memory. Throws Error.
void check_port(const PlanPort& port);
/// Throws Error for a bad setting. Looks at no file.
PortQueues port_queues(const PlanPort& port);

/// Takes the interface that the port needs, before any of its queues is opened. The supervisor
/// calls it, and gives back by give_back_interfaces(). Returns what was done, for people; empty:
/// the device needs nothing. Throws Error with the command that mends it.
std::string take_port(const PlanPort& port, const std::string& run_dir, const InUse& in_use);

/// The interface that take_port() takes; nothing when the device needs none.
std::optional<InterfaceWish> interface_wish(const PlanPort& port);

/// Of two of these ports with interfaces that lie on each other (VLAN, macvlan, bridge, bond): what
/// the upper one would not receive, and what mends it. Empty: there are none, or the lower one
/// leaves the kernel's stack what it receives (`host`).
struct StackedPorts {
  std::size_t upper = 0;  ///< number in the ports
  std::string trouble;
};
std::optional<StackedPorts> stacked_ports(std::span<const PlanPort> ports);

/// Opens queue `queue` of `port`. Throws millrace::Error with the file or setting that is wrong.
/// `restarted`: an earlier life of this actor wrote or read this port; a file is continued, not
/// begun anew, and one that cannot be opened gives a queue that goes on trying
/// (closed_queues.hpp), for which `pool` has to live as long. `run_dir`:
/// where hub and standby lend what they keep (kept_file.hpp). `shares`: that it reads, where the
/// port has such; nothing: the one with its own number.
std::unique_ptr<RxQueue> open_rx_queue(const PlanPort& port, std::uint32_t queue,
                                       const BufferSource& pool, bool restarted,
                                       const std::string& run_dir = {},
                                       std::optional<ShareSet> shares = std::nullopt);
std::unique_ptr<TxQueue> open_tx_queue(const PlanPort& port, std::uint32_t queue, bool restarted,
                                       const std::string& run_dir = {});

/// What an egress sends by: a queue for each port that it can reach, null elsewhere.
using TxQueues = std::array<std::unique_ptr<TxQueue>, kPortCountMax>;

}  // namespace millrace
