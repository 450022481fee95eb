// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/control/messages.hpp"

#include <array>
#include <type_traits>
#include <utility>

#include "shared/control/control.capnp.h"
#include "shared/control/field_codec.hpp"
#include "shared/control/message_fields.hpp"

namespace millrace {
namespace {

using wire::SchemaField;

/// The schema's field of each kind of message, in the order of ControlBody: it is called kName.
/// Looked up once a process.
const auto& body_fields() {
  static const auto kFound = []<typename... Body>(std::type_identity<std::variant<Body...>>) {
    const capnp::StructSchema schema = capnp::Schema::from<wire::Message>();
    return std::array{schema.getFieldByName(wire::camel_case(Body::kName).c_str())...};
  }(std::type_identity<ControlBody>{});
  return kFound;
}

/// A body without members is Void in the schema, one with one is that member, others are structs.
template <typename Body>
void write_body(wire::StructBuilder out, SchemaField field, const Body& body) {
  if constexpr (!HasFields<Body>) {
    static_assert(std::is_empty_v<Body>, "message_fields.hpp needs its rows");
    out.set(field, capnp::VOID);
  } else if constexpr (kFieldRows<Body> == 1) {
    out.set(field, wire::scalar(body.*std::get<0>(kFields<Body>).member));
  } else {
    wire::write_item(out.init(field).as<capnp::DynamicStruct>(), body);
  }
}

template <typename Body>
void read_body(Body& body, wire::StructReader in, SchemaField field) {
  if constexpr (kFieldRows<Body> == 1) {
    wire::read_value(body.*std::get<0>(kFields<Body>).member, in.get(field));
  } else if constexpr (HasFields<Body>) {
    wire::read_item(body, in.get(field).as<capnp::DynamicStruct>());
  }
}

template <std::size_t... kAt>
ControlBody body_of(wire::Message::Reader in, std::index_sequence<kAt...>) {
  ControlBody body;
  const auto number = static_cast<unsigned>(in.which());
  const auto read = [&]<std::size_t kKind>(std::integral_constant<std::size_t, kKind>) {
    const SchemaField field = body_fields()[kKind];
    if (field.getProto().getDiscriminantValue() != number) return false;
    read_body(body.emplace<kKind>(), in, field);
    return true;
  };
  if ((read(std::integral_constant<std::size_t, kAt>{}) || ...)) return body;
  throw Error("kind " + std::to_string(number) + " is unknown");
}

}  // namespace

std::vector<std::byte> encode_message(const ControlMessage& message) {
  capnp::MallocMessageBuilder builder;
  auto out = builder.initRoot<wire::Message>();
  out.setId(message.id);
  const SchemaField field = body_fields().at(message.body.index());
  std::visit([&](const auto& body) { write_body(out, field, body); }, message.body);
  return wire::message_bytes(builder);
}

ControlMessage decode_message(std::span<const std::byte> bytes) {
  if (bytes.size() > kMessageBytesMax) {
    throw Error("message: " + std::to_string(bytes.size()) + " bytes, at most " +
                std::to_string(kMessageBytesMax));
  }
  return while_doing("message", [&] {
    return wire::read_message<wire::Message>(bytes, "bytes", [](wire::Message::Reader in) {
      constexpr std::size_t kKinds = std::variant_size_v<ControlBody>;
      return ControlMessage{.id = in.getId(),
                            .body = body_of(in, std::make_index_sequence<kKinds>{})};
    });
  });
}

}  // namespace millrace
