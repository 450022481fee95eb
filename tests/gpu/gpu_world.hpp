// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "orchestration/planner/loader.hpp"
#include "orchestration/planner/planner.hpp"
#include "services/functions/builder/build_image.hpp"
#include "services/functions/stages/function_stages.hpp"
#include "services/functions/table.hpp"
#include "shared/base/flow_key.hpp"
#include "shared/layout/mapping.hpp"
#include "tests/unit/shared/base/packet_frames.hpp"

/// A topology with a gpu group in private memory, its tables built, without processes: what a
/// device and the CPU's functions share.

namespace millrace::test {

class GpuWorld {
 public:
  /// `yaml` names files of `files` (name, text) by their bare names.
  GpuWorld(const std::string& yaml, const std::vector<std::pair<std::string, std::string>>& files) {
    std::string pattern = (std::filesystem::temp_directory_path() / "millrace-gpu-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    for (const auto& [name, text] : files) write(name, text);
    const std::vector<KnownFunction> known = known_functions();
    plan_ = make_plan(parse_topology(yaml, path("t.yaml"), known), known, Host{});
    for (PlanFunction& function : plan_.functions) {
      if (!function_type(function.type).traits.has_image) continue;
      function.image = path(function.name + ".image");
      function.counter_count = build(function).counter_count;
    }
    segment_memory_ = Mapping::create_anonymous(segment_layout(plan_).bytes);
    status_memory_ = Mapping::create_anonymous(status_layout(plan_).bytes);
    segment_ = SegmentView::create(segment_memory_.base(), plan_);
    status_ = StatusView::create(status_memory_.base(), plan_, 2'000'000'000);
  }
  GpuWorld(const GpuWorld&) = delete;  // contexts point to its plan
  GpuWorld& operator=(const GpuWorld&) = delete;
  ~GpuWorld() { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
  }
  BuildReport build(const PlanFunction& function) const {
    return build_image({.function = function, .ports = plan_.ports});
  }
  const Plan& plan() const { return plan_; }
  const SegmentView& segment() const { return segment_; }
  ActorContext context(std::string_view name) const {
    for (std::uint16_t i = 0; i < plan_.actors.size(); ++i) {
      if (plan_.actors[i].name == name) return {&plan_, segment_, status_, {i, 1}};
    }
    std::abort();
  }

  /// Puts a batch into a slot as an ingress would; its packets take the buffers from `buffer` on,
  /// and begin there at `places` different offsets in turn.
  void fill(std::uint32_t slot, std::uint32_t buffer, std::span<const Frame> frames,
            std::uint32_t places = 1) const {
    SlotHeader& header = segment_.slot(slot);
    ++header.generation;
    header.count = static_cast<std::uint16_t>(frames.size());
    header.side_count = header.side_bytes = header.flags = 0;
    const Batch batch = segment_.batch(slot);
    for (std::uint32_t i = 0; i < frames.size(); ++i) {
      batch.buffer[i] = buffer + i;
      batch.offset[i] = static_cast<std::uint16_t>(kBufferHeadroom - i % places);
      batch.length[i] = static_cast<std::uint16_t>(frames[i].size());
      batch.verdict[i] = batch.reason[i] = 0;
      batch.output[i] = kOutputDefault;
      batch.classes[i] = 0;
      std::ranges::copy(frames[i], batch.data(i));
      if (plan_.paths.front().has_keys) batch.key[i] = flow_key_of(batch.bytes(i));
    }
  }
  Descriptor descriptor(std::uint32_t slot, std::uint8_t stage = 0) const {
    return {static_cast<std::uint16_t>(slot), stage, segment_.slot(slot).generation};
  }

 private:
  std::string folder_;
  Plan plan_;
  Mapping segment_memory_, status_memory_;
  SegmentView segment_;
  StatusView status_;
};

}  // namespace millrace::test
