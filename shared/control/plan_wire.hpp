// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <capnp/dynamic.h>

#include <array>
#include <string>
#include <tuple>
#include <utility>

#include "shared/base/check.hpp"
#include "shared/config/plan_fields.hpp"

/// How plan_write.cpp and plan_read.cpp find the fields of a plan in control.capnp: by their names.

namespace millrace::wire {

/// "lane_first" is laneFirst in the schema.
inline std::string camel_case(std::string_view name) {
  std::string text;
  bool upper = false;
  for (const char letter : name) {
    const bool begins_word = std::exchange(upper, letter == '_');
    if (!upper) text += static_cast<char>(begins_word ? letter - 'a' + 'A' : letter);
  }
  return text;
}

/// Stands in the schema's struct of the item that has it, field by field.
template <typename Value>
inline constexpr bool kIsInlined = false;
template <>
inline constexpr bool kIsInlined<std::optional<PlanIpfix>> = true;

/// The schema's fields, in the order of the rows of Item; an inlined row has its item's first one.
/// Looked up once a process.
template <PlanStruct Item>
const auto& schema_fields(capnp::StructSchema schema) {
  constexpr std::size_t kCount = std::tuple_size_v<decltype(kPlanFields<Item>)>;
  static const std::array<capnp::StructSchema::Field, kCount> kFields = std::apply(
      [&](const auto&... row) {
        const auto find = [&]<typename Value>(const PlanField<Item, Value>& field) {
          if constexpr (kIsInlined<Value>) return schema.getFields()[0];
          return schema.getFieldByName(camel_case(field.name).c_str());
        };
        return std::array<capnp::StructSchema::Field, kCount>{find(row)...};
      },
      kPlanFields<Item>);
  return kFields;
}

/// Calls `use(row, field of the schema)` for each row of Item.
template <PlanStruct Item, typename Use>
void each_schema_field(capnp::StructSchema schema, Use&& use) {
  const auto& fields = schema_fields<Item>(schema);
  std::size_t at = 0;
  each_plan_field<Item>([&](const auto& row) {
    MILLRACE_CHECK(at < fields.size());
    use(row, fields[at++]);
  });
}

}  // namespace millrace::wire
