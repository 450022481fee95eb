// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "shared/config/field_count.hpp"

/// Lists of fields: for a struct that leaves its process, one row for each member. The codec
/// (shared/control/field_codec.hpp) goes through them. The plan's rows (plan_field.hpp) say more.

namespace millrace {

/// A row. It has to know what a codec asks: these members.
template <typename Item, typename Value>
struct Field {
  std::string_view name;  ///< of the member; the schema has it in camelCase
  Value Item::*member;
  std::size_t count_max = 0;  ///< elements of a list

  constexpr Field list(std::size_t most) const { return {name, member, most}; }
};

template <typename Item, typename Value>
constexpr Field<Item, Value> field_row(std::string_view name, Value Item::*member) {
  return {.name = name, .member = member};
}

/// The rows of one struct.
template <typename Item>
inline constexpr auto kFields = std::tuple<>{};

template <typename Item>
inline constexpr std::size_t kFieldRows =
    std::tuple_size_v<std::remove_cvref_t<decltype(kFields<Item>)>>;

template <typename Item>
concept HasFields = kFieldRows<Item>
!= 0;

/// Calls `use(row)` for each row of the struct.
template <HasFields Item, typename Use>
constexpr void each_field(Use&& use) {
  std::apply([&](const auto&... row) { (use(row), ...); }, kFields<Item>);
}

/// True when each member of the structs has a row.
template <typename... Items>
constexpr bool have_all_rows() {
  return ((field_count<Items>() == kFieldRows<Items>)&&...);
}

/// An optional one has no field of its own: its fields stand in the struct that has it, and there
/// is one when its first field says something.
template <typename Item>
inline constexpr bool kIsInlined = false;

/// Names of the enumerators, by number: those of the schema, and of JSON.
template <typename Enum>
inline constexpr std::array<std::string_view, 0> kEnumNames = {};

template <typename Enum>
constexpr std::string_view enum_name(Enum value) {
  return kEnumNames<Enum>[static_cast<std::size_t>(value)];
}

}  // namespace millrace
