// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "io-worker/ports/capture_reader.hpp"
#include "services/functions/device_function.hpp"
#include "tests/gpu/gpu_world.hpp"
#include "tests/unit/services/functions/acl/acl_traces.hpp"
#include "tests/unit/services/functions/device_memory_fake.hpp"

/// What millrace-gpu-figures measures: frames, and a function of a GPU with its batches of them.

namespace millrace::gpu_cases {

/// Frames, again and again.
class Frames {
 public:
  /// Those of a capture.
  explicit Frames(const std::string& path) {
    CaptureReader reader(path);
    CaptureRecord record;
    while (reader.next(record) == CaptureStatus::kRecord) {
      if (record.bytes.size() <= 1514) all_.emplace_back(record.bytes.begin(), record.bytes.end());
    }
    if (all_.empty()) throw Error(path + " holds no packet that fits");
  }
  /// Of one size, UDP, without a literal, to these addresses in turn (host byte order).
  Frames(std::uint32_t bytes, std::span<const std::uint32_t> destinations) {
    std::mt19937 random(5);
    for (const std::uint32_t destination : destinations) {
      const std::uint32_t payload = bytes - 42;
      std::string text(payload, ' ');
      for (char& letter : text) letter = static_cast<char>(' ' + random() % 95);
      Frame frame = FrameBuilder().ipv4(17, 8 + payload).udp(payload).text(text).build();
      const std::uint32_t on_wire = __builtin_bswap32(destination);
      std::memcpy(&frame[30], &on_wire, sizeof on_wire);
      put_checksum(frame);
      all_.push_back(std::move(frame));
    }
  }
  /// `options`: of IPv4, four bytes that mean nothing, so that the keys say nothing either.
  Frames(const AclTrace& trace, bool options) {
    std::mt19937 random(5);
    for (AclKey key : trace.keys) {
      // Another protocol would have no ports; TCP instead meets as many rules.
      if (key.protocol != 17) key.protocol = 6;
      all_.push_back(frame_of(key));
      if (options) {
        Frame& frame = all_.back();
        frame.insert(frame.begin() + 34, 4, std::byte{1});
        frame[14] = std::byte{0x46};
        frame[17] = static_cast<std::byte>(std::to_integer<int>(frame[17]) + 4);
      }
    }
    std::ranges::shuffle(all_, random);
  }
  const Frame& next() { return all_[at_++ % all_.size()]; }

 private:
  /// Of an IPv4 header without options: without it `route` drops the packet before it looks it up.
  static void put_checksum(Frame& frame) {
    frame[24] = frame[25] = std::byte{0};
    std::uint32_t sum = 0;
    for (std::size_t at = 14; at < 34; at += 2) {
      sum += std::to_integer<std::uint32_t>(frame[at]) << 8 |
             std::to_integer<std::uint32_t>(frame[at + 1]);
    }
    while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
    frame[24] = static_cast<std::byte>(~sum >> 8);
    frame[25] = static_cast<std::byte>(~sum);
  }

  std::vector<Frame> all_;
  std::size_t at_ = 0;
};

inline constexpr std::uint32_t kSlots = 2048;

/// One function on a GPU.
struct Case {
  std::string name, type, table, text;  ///< `table`: the setting that names it
};

/// One stage of a function on a GPU, and its batches.
class Stage {
 public:
  Stage(const Case& what, std::uint32_t batch_packets, Frames frames)
      : world_(yaml_of(what, batch_packets), {{"table", what.text}}) {
    const PlanFunction& function = world_.plan().functions.front();
    FakeDeviceMemory tables;
    const std::uint32_t frame_bytes =
        function_type(function.type).upload(function, tables).frame_bytes;
    for (std::uint32_t slot = 0; slot < kSlots; ++slot) {
      std::vector<Frame> batch;
      for (std::uint32_t i = 0; i < batch_packets; ++i) batch.push_back(frames.next());
      for (const Frame& frame : batch) {
        bytes_ += frame.size();
        read_bytes_ += bytes_read_of(frame, frame_bytes);
      }
      world_.fill(slot, slot * batch_packets, batch);
    }
    packets_ = std::uint64_t{kSlots} * batch_packets;
  }
  test::GpuWorld& world() { return world_; }
  double bytes_per_packet() const { return of_packets(bytes_); }
  /// What the resident kernel asks the bus for: columns, and bytes of frames.
  double read_bytes_per_packet() const { return of_packets(read_bytes_); }

 private:
  static std::string yaml_of(const Case& what, std::uint32_t capacity) {
    return "millrace: 1\nname: figures\nbatch: { capacity: " + std::to_string(capacity) +
           " }\nports: { a: { device: \"null\" }, b: { device: \"null\" } }\n"
           "workers: { cpu: { kind: classifier }, gpu: { kind: gpu, device: cuda } }\n"
           "functions: { f: { type: " +
           what.type + ", " + what.table +
           ": table, on: gpu } }\n"
           "paths: { one: { from: [a], run: [f], slots: " +
           std::to_string(kSlots) + " } }\n";
  }
  /// As gpu-worker/resident/staging.cuh reads: verdict and classes of each packet; its key, or
  /// where its frame is; of the frame whole pieces of 16 bytes, at which buffers begin.
  std::uint64_t bytes_read_of(const Frame& frame, std::uint32_t frame_bytes) const {
    constexpr std::uint64_t kMarks = 5, kPlace = 12, kPiece = 16;
    const bool keyed = world_.plan().paths.front().has_keys;
    const std::uint64_t columns = kMarks + (keyed ? sizeof(FlowKey) : 0);
    if (keyed && flow_key_of(frame).protocol != 0) return columns;
    const std::uint64_t bytes = std::min<std::uint64_t>(frame.size(), frame_bytes);
    return columns + kPlace + (bytes + kPiece - 1) / kPiece * kPiece;
  }
  double of_packets(std::uint64_t bytes) const {
    return static_cast<double>(bytes) / static_cast<double>(packets_);
  }

  test::GpuWorld world_;
  std::uint64_t bytes_ = 0, read_bytes_ = 0, packets_ = 0;
};

}  // namespace millrace::gpu_cases
