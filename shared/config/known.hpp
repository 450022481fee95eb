// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "shared/base/reason.hpp"
#include "shared/config/plan.hpp"

/// What the configuration knows of the parts that it configures: their keys and what these may
/// hold. The table of functions lies in services/, so callers pass it in.

namespace millrace {

enum class SettingKind : std::uint8_t {
  kText,
  kInputFile,   ///< made absolute against the folder of the YAML; has to be there at start
  kOutputPort,  ///< name of a port that can send, and is no loop
  kOutputFile,  ///< made absolute likewise; its folder has to be there at start
  kFlag,        ///< true, false
  kInteger,     ///< within [low, high]
  kNumber,      ///< within [low, high]
};

/// One key of a port's, device's or function's section. The views live as long as the program.
struct KnownSetting {
  std::string_view name;
  SettingKind kind = SettingKind::kText;
  double low = 0;
  double high = 1e15;
  bool list = false;             ///< one value or a list of them
  bool required = false;         ///< the section is refused without it
  std::string_view unless = {};  ///< then not: the key that can stand in its place
  /// What holds where the file does not say it; empty: nothing, or it follows from others.
  std::string_view otherwise = {};
};

/// The row with this name; null: there is none.
constexpr const KnownSetting* known_setting(std::span<const KnownSetting> known,
                                            std::string_view name) {
  for (const KnownSetting& setting : known) {
    if (setting.name == name) return &setting;
  }
  return nullptr;
}

/// What a function does to the bytes of packets that it does not end.
enum class Rewrites : std::uint8_t {
  kNone,     ///< nothing
  kHeaders,  ///< it may change the first kHeaderRewriteBytes, and move the packet's ends
  kAll,      ///< it may change any byte
};
inline constexpr std::uint32_t kHeaderRewriteBytes = 128;

/// What a stateful function asks for, by its settings.
struct LaneRequest {
  const Settings& settings;
  std::uint32_t lanes = 1;  ///< of its path
  std::uint32_t batch_capacity = 64;
};
struct LaneNeeds {
  std::uint64_t state_bytes = 0;  ///< for each lane, in shared memory, zeroed at start
  /// Lines of 64 bytes of that state that one batch changes at most, each as often as
  /// LaneState::change() is called for it. 0: a worker's death amid a batch zeroes the state.
  std::uint32_t undo_lines = 0;
};

/// What a function has to do with the flow table of its stage.
enum class FlowUse : std::uint8_t {
  kNone,
  kGives,  ///< it looks flows up, for the functions behind it
  kNeeds,  ///< one that gives them stands in front of it in its stage
};

/// A function as the planner sees it; from FunctionTraits (services/functions/function.hpp).
struct KnownFunction {
  std::string_view type;
  bool stateful = false;
  LaneNeeds (*lane_needs)(const LaneRequest&) = nullptr;  ///< null: none
  FlowUse flows = FlowUse::kNone;
  /// How it translates, by its settings and the ports' names; null: it does not.
  PlanTranslation (*translation)(const Settings&, const std::vector<PlanPort>&) = nullptr;
  bool runs_on_gpu = false;
  bool keys_suffice = false;
  bool has_image = false;
  std::uint32_t counter_count = 0;  ///< when it has no image
  Rewrites rewrites = Rewrites::kNone;
  std::uint32_t headroom = 0;
  std::uint32_t tailroom = 0;
  std::uint32_t growth = 0;
  std::span<const DeclaredReason> reasons = {};
  std::span<const KnownSetting> settings;  ///< of its own, beside type, on, when, ...
};

}  // namespace millrace
