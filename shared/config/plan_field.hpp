// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "shared/config/field.hpp"
#include "shared/config/plan.hpp"

/// What a row of the list of the plan's fields (plan_fields.hpp) says: what a codec asks
/// (field.hpp), and what the plan's checks, its JSON and its comparison ask.

namespace millrace {

/// What a field's numbers are indexes of. A packet's classes are bits.
enum class PlanTable : std::uint8_t {
  kNone,
  kPorts,
  kFunctions,
  kClasses,
  kGroups,
  kStages,  ///< a byte is where a chain of stages begins; kEgressStage: it is empty
  kPaths,
  kActors
};

/// What another value of a field means for a topology that runs.
enum class PlanChange : std::uint8_t {
  kRestart,  ///< it has to be started anew
  kLive,     ///< plan_diff.cpp looks at it by itself: it may change under traffic
  kFollows,  ///< nothing: it follows from other fields, or tells of the run
};

/// A row of the list. The functions below are for its making: each returns a changed copy.
template <typename Item, typename Value>
struct PlanField {
  std::string_view name;  ///< of the member
  Value Item::*member;
  std::string_view shown;     ///< key in JSON; empty: it is not shown
  std::string_view in_file;   ///< what a topology file calls it
  std::string_view element;   ///< what one element of a list is called
  std::size_t count_max = 0;  ///< elements of a list
  PlanTable table = PlanTable::kNone;
  PlanChange change = PlanChange::kRestart;
  bool (*applies)(const Item&) = nullptr;  ///< the field means something only then; null: always

  constexpr PlanField show_as(std::string_view key) const {
    PlanField field = *this;
    field.shown = key;
    return field;
  }
  constexpr PlanField hide() const { return show_as({}); }
  constexpr PlanField called(std::string_view text) const {
    PlanField field = *this;
    field.in_file = text;
    return field;
  }
  constexpr PlanField list(std::size_t most, std::string_view one) const {
    PlanField field = *this;
    field.count_max = most;
    field.element = one;
    return field;
  }
  constexpr PlanField of(PlanTable numbers) const {
    PlanField field = *this;
    field.table = numbers;
    return field;
  }
  constexpr PlanField live() const {
    PlanField field = *this;
    field.change = PlanChange::kLive;
    return field;
  }
  constexpr PlanField follows() const {
    PlanField field = *this;
    field.change = PlanChange::kFollows;
    return field;
  }
  constexpr PlanField where(bool (*condition)(const Item&)) const {
    PlanField field = *this;
    field.applies = condition;
    return field;
  }
};

template <typename Item, typename Value>
constexpr PlanField<Item, Value> plan_field(std::string_view name, Value Item::*member) {
  return {.name = name, .member = member, .shown = name, .in_file = name, .element = name};
}

template <>
inline constexpr std::array<std::string_view, 2> kEnumNames<GroupKind> = {"classifier", "gpu"};
template <>
inline constexpr std::array<std::string_view, 2> kEnumNames<Dispatch> = {"any", "flow"};
template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<Fallback> = {"drop", "pass", "wait"};
template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<LanesBy> = {"flow", "addresses",
                                                                        "inside"};
template <>
inline constexpr std::array<std::string_view, 6> kEnumNames<ActorKind> = {
    "hub", "standby", "ingress", "classifier", "gpu", "egress"};
template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<ReasonCause> = {"policy", "packet",
                                                                            "loss"};

}  // namespace millrace
