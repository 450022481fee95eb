// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <capnp/dynamic.h>

#include "shared/control/control.capnp.h"
#include "shared/control/plan_file.hpp"
#include "shared/control/plan_wire.hpp"
#include "shared/control/wire.hpp"

namespace millrace {
namespace {

using Builder = capnp::DynamicStruct::Builder;
using Field = capnp::StructSchema::Field;

template <PlanStruct Item>
void write_item(Builder out, const Item& item);

/// What is neither list nor struct.
template <typename Value>
capnp::DynamicValue::Reader scalar(const Value& value) {
  if constexpr (std::is_enum_v<Value>) {
    return static_cast<std::uint16_t>(value);
  } else {
    return value;
  }
}
capnp::DynamicValue::Reader scalar(const std::string& value) {
  return capnp::Text::Reader(value.c_str(), value.size());
}

void write_element(capnp::DynamicList::Builder list, unsigned at,
                   const Settings::value_type& setting) {
  auto out = list[at].as<capnp::DynamicStruct>();
  out.set("key", scalar(setting.first));
  out.set("value", scalar(setting.second));
}
template <typename Element>
void write_element(capnp::DynamicList::Builder list, unsigned at, const Element& element) {
  if constexpr (PlanStruct<Element>) {
    write_item(list[at].template as<capnp::DynamicStruct>(), element);
  } else {
    list.set(at, scalar(element));
  }
}

template <typename Value>
void write_field(Builder out, Field field, const Value& value) {
  if constexpr (PlanStruct<Value>) {
    write_item(out.init(field).template as<capnp::DynamicStruct>(), value);
  } else {
    out.set(field, scalar(value));
  }
}
template <typename Value>
void write_field(Builder out, Field field, const std::optional<Value>& value) {
  if (!value) return;
  if constexpr (wire::kIsInlined<std::optional<Value>>) {
    write_item(out, *value);
  } else {
    write_field(out, field, *value);
  }
}
template <typename Element>
void write_field(Builder out, Field field, const std::vector<Element>& elements) {
  auto list = out.init(field, wire::size_of(elements)).template as<capnp::DynamicList>();
  for (unsigned i = 0; i < elements.size(); ++i) write_element(list, i, elements[i]);
}

template <PlanStruct Item>
void write_item(Builder out, const Item& item) {
  wire::each_schema_field<Item>(out.getSchema(), [&](const auto& row, Field field) {
    write_field(out, field, item.*row.member);
  });
}

}  // namespace

std::vector<std::byte> encode_plan(const Plan& plan) {
  capnp::MallocMessageBuilder message;
  write_item(message.initRoot<capnp::DynamicStruct>(capnp::Schema::from<wire::Plan>()), plan);
  return wire::message_bytes(message);
}

}  // namespace millrace
