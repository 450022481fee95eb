// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <capnp/dynamic.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "shared/base/check.hpp"
#include "shared/base/error.hpp"
#include "shared/config/field.hpp"
#include "shared/control/wire.hpp"

/// Writes and reads structs with a list of fields (field.hpp): plan, messages, state of a run. The
/// schema's fields are found by their names.

namespace millrace::wire {

using SchemaField = capnp::StructSchema::Field;
using StructBuilder = capnp::DynamicStruct::Builder;
using StructReader = capnp::DynamicStruct::Reader;
using TextPair = std::pair<std::string, std::string>;  ///< `Setting` of the schema

/// "lane_first" is laneFirst in the schema; so is "lane first".
inline std::string camel_case(std::string_view name) {
  std::string text;
  bool upper = false;
  for (const char letter : name) {
    const bool begins_word = std::exchange(upper, letter == '_' || letter == ' ');
    if (!upper) text += static_cast<char>(begins_word ? letter - 'a' + 'A' : letter);
  }
  return text;
}

template <typename Value>
inline constexpr bool kStandsInItsItem = false;
template <typename Value>
inline constexpr bool kStandsInItsItem<std::optional<Value>> = kIsInlined<Value>;

/// The schema's fields, in the order of the rows of Item; an inlined row has its item's first one.
/// Looked up once a process.
template <HasFields Item>
const auto& schema_fields(capnp::StructSchema schema) {
  constexpr std::size_t kCount = kFieldRows<Item>;
  static const std::array<SchemaField, kCount> kFound = std::apply(
      [&](const auto&... row) {
        const auto find = [&]<typename Row>(const Row& of) {
          using Value = std::remove_cvref_t<decltype(std::declval<Item>().*of.member)>;
          if constexpr (kStandsInItsItem<Value>) return schema.getFields()[0];
          return schema.getFieldByName(camel_case(of.name).c_str());
        };
        return std::array<SchemaField, kCount>{find(row)...};
      },
      kFields<Item>);
  return kFound;
}

/// Calls `use(row, field of the schema)` for each row of Item.
template <HasFields Item, typename Use>
void each_schema_field(capnp::StructSchema schema, Use&& use) {
  const auto& fields = schema_fields<Item>(schema);
  std::size_t at = 0;
  each_field<Item>([&](const auto& row) {
    MILLRACE_CHECK(at < fields.size());
    use(row, fields[at++]);
  });
}

/// Of an optional number, say "bypass": the field that says whether there is one, "hasBypass".
inline SchemaField presence_of(capnp::StructSchema schema, std::string_view name) {
  return schema.getFieldByName(camel_case("has_" + std::string(name)).c_str());
}

template <HasFields Item>
void write_item(StructBuilder out, const Item& item);

/// What is neither list nor struct.
template <typename Value>
capnp::DynamicValue::Reader scalar(const Value& value) {
  if constexpr (std::is_enum_v<Value>) {
    return static_cast<std::uint16_t>(value);
  } else {
    return value;
  }
}
inline capnp::DynamicValue::Reader scalar(const std::string& value) {
  return capnp::Text::Reader(value.c_str(), value.size());
}

inline void write_element(capnp::DynamicList::Builder list, unsigned at, const TextPair& pair) {
  auto out = list[at].as<capnp::DynamicStruct>();
  out.set("key", scalar(pair.first));
  out.set("value", scalar(pair.second));
}
template <typename Element>
void write_element(capnp::DynamicList::Builder list, unsigned at, const Element& element) {
  if constexpr (HasFields<Element>) {
    write_item(list[at].template as<capnp::DynamicStruct>(), element);
  } else {
    list.set(at, scalar(element));
  }
}

template <typename Value>
void write_field(StructBuilder out, SchemaField field, std::string_view /*name*/,
                 const Value& value) {
  if constexpr (HasFields<Value>) {
    write_item(out.init(field).template as<capnp::DynamicStruct>(), value);
  } else {
    out.set(field, scalar(value));
  }
}
template <typename Value>
void write_field(StructBuilder out, SchemaField field, std::string_view name,
                 const std::optional<Value>& value) {
  if (!value) return;
  if constexpr (kIsInlined<Value>) {
    write_item(out, *value);
  } else {
    if constexpr (!HasFields<Value>) out.set(presence_of(out.getSchema(), name), true);
    write_field(out, field, name, *value);
  }
}
template <typename Element>
void write_field(StructBuilder out, SchemaField field, std::string_view /*name*/,
                 const std::vector<Element>& elements) {
  const auto count = static_cast<unsigned>(elements.size());
  auto list = out.init(field, count).template as<capnp::DynamicList>();
  for (unsigned i = 0; i < count; ++i) write_element(list, i, elements[i]);
}

/// Writes all fields of `item`; those of the schema that have no row stay as they are.
template <HasFields Item>
void write_item(StructBuilder out, const Item& item) {
  each_schema_field<Item>(out.getSchema(), [&](const auto& row, SchemaField field) {
    write_field(out, field, row.name, item.*row.member);
  });
}

template <HasFields Item>
void read_item(Item& item, StructReader in);

inline void read_value(std::string& value, capnp::DynamicValue::Reader in) {
  const auto text = in.as<capnp::Text>();
  value.assign(text.cStr(), text.size());
}
inline void read_value(TextPair& pair, capnp::DynamicValue::Reader in) {
  const auto from = in.as<capnp::DynamicStruct>();
  read_value(pair.first, from.get("key"));
  read_value(pair.second, from.get("value"));
}
template <typename Value>
void read_value(Value& value, capnp::DynamicValue::Reader in) {
  if constexpr (HasFields<Value>) {
    read_item(value, in.template as<capnp::DynamicStruct>());
  } else {
    value = in.template as<Value>();
  }
}

/// Throws Error "severity 7 is unknown". Enumerators of the schema have the numbers of C++.
template <typename Enum>
Enum read_enum(capnp::DynamicValue::Reader in, std::string_view name) {
  const std::uint16_t number = in.getType() == capnp::DynamicValue::ENUM
                                   ? in.as<capnp::DynamicEnum>().getRaw()
                                   : in.as<std::uint16_t>();
  if (number >= kEnumNames<Enum>.size()) {
    throw Error(std::string(name) + " " + std::to_string(number) + " is unknown");
  }
  return static_cast<Enum>(number);
}

template <typename Row, typename Value>
void read_field(const Row& row, Value& value, StructReader in, SchemaField field) {
  if constexpr (std::is_enum_v<Value>) {
    value = read_enum<Value>(in.get(field), row.name);
  } else {
    read_value(value, in.get(field));
  }
}
template <typename Row, typename Value>
void read_field(const Row& row, std::optional<Value>& value, StructReader in, SchemaField field) {
  if constexpr (kIsInlined<Value>) {
    Value found;
    read_item(found, in);
    const auto first = std::get<0>(kFields<Value>).member;
    if (found.*first != Value{}.*first) value = std::move(found);
  } else {
    bool there = in.has(field);
    if constexpr (!HasFields<Value>) {
      there = in.get(presence_of(in.getSchema(), row.name)).template as<bool>();
    }
    if (there) read_value(value.emplace(), in.get(field));
  }
}
template <typename Row, typename Element>
void read_field(const Row& row, std::vector<Element>& elements, StructReader in,
                SchemaField field) {
  const auto list = in.get(field).template as<capnp::DynamicList>();
  if (list.size() > row.count_max) {
    throw Error(std::to_string(list.size()) + " " + std::string(row.name) + ", at most " +
                std::to_string(row.count_max));
  }
  elements.resize(list.size());
  for (unsigned i = 0; i < list.size(); ++i) read_value(elements[i], list[i]);
}

/// Reads all fields of `item`. Throws Error for a list that is too long and an unknown enumerator,
/// kj::Exception for bytes that are none of the schema's.
template <HasFields Item>
void read_item(Item& item, StructReader in) {
  each_schema_field<Item>(in.getSchema(), [&](const auto& row, SchemaField field) {
    read_field(row, item.*row.member, in, field);
  });
}

}  // namespace millrace::wire
