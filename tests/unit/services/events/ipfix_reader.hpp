// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "shared/layout/event_record.hpp"

/// What a collector does, slowly: RFC 7011, section 3, field by field; knows no element.

namespace millrace::test {

/// By enterprise (0: IANA) and element.
using IpfixElement = std::pair<std::uint32_t, unsigned>;
using IpfixRecord = std::map<IpfixElement, std::vector<std::uint8_t>>;

class IpfixReader {
 public:
  struct Message {
    std::uint32_t time_s = 0, sequence = 0, domain = 0;
    unsigned templates = 0;
    std::vector<IpfixRecord> records;
  };

  /// Throws std::out_of_range or std::runtime_error for what is no message.
  Message read(std::span<const std::byte> bytes) {
    bytes_ = bytes;
    at_ = 0;
    Message message;
    if (number(2) != 10) throw std::runtime_error("version");
    if (number(2) != bytes.size()) throw std::runtime_error("length");
    message.time_s = static_cast<std::uint32_t>(number(4));
    message.sequence = static_cast<std::uint32_t>(number(4));
    message.domain = static_cast<std::uint32_t>(number(4));
    while (at_ < bytes_.size()) read_set(message);
    return message;
  }

 private:
  struct Field {
    IpfixElement element;
    std::size_t bytes;
  };

  std::uint64_t number(std::size_t bytes) {
    std::uint64_t value = 0;
    for (; bytes > 0; --bytes) value = value << 8 | next();
    return value;
  }
  std::uint8_t next() {
    if (at_ >= bytes_.size()) throw std::out_of_range("a message's end");
    return static_cast<std::uint8_t>(bytes_[at_++]);
  }
  void read_set(Message& message) {
    const std::size_t begin = at_;
    const auto id = static_cast<unsigned>(number(2));
    const std::size_t end = begin + number(2);
    if (end > bytes_.size() || end < begin + 4) throw std::runtime_error("length of a set");
    while (at_ < end) {
      if (id == 2) {
        read_template();
        ++message.templates;
      } else {
        message.records.push_back(read_record(templates_.at(id)));
      }
    }
    if (at_ != end) throw std::runtime_error("a set's end");
  }
  void read_template() {
    const auto id = static_cast<unsigned>(number(2));
    if (id < 256) throw std::runtime_error("number of a template");
    std::vector<Field>& fields = templates_[id];
    fields.clear();
    for (std::uint64_t left = number(2); left > 0; --left) {
      const auto element = static_cast<unsigned>(number(2));
      const std::size_t bytes = number(2);
      const auto enterprise = static_cast<std::uint32_t>((element & 0x8000) != 0 ? number(4) : 0);
      fields.push_back({{enterprise, element & 0x7fff}, bytes});
    }
  }
  IpfixRecord read_record(const std::vector<Field>& fields) {
    IpfixRecord record;
    for (const Field& field : fields) {
      std::vector<std::uint8_t> value;
      for (std::size_t i = 0; i < field.bytes; ++i) value.push_back(next());
      if (!record.emplace(field.element, value).second) throw std::runtime_error("twice");
    }
    return record;
  }

  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  std::map<unsigned, std::vector<Field>> templates_;
};

inline std::uint64_t number_of(const IpfixRecord& record, unsigned element,
                               std::uint32_t enterprise = 0) {
  std::uint64_t value = 0;
  for (const std::uint8_t byte : record.at({enterprise, element})) value = value << 8 | byte;
  return value;
}

/// A flow of TCP from 10.1.0.5:40000 to 192.0.2.9:443, with `number` packets.
inline EventRecord flow_record(std::uint64_t number) {
  EventRecord record{};
  record.kind = EventKind::kFlow;
  record.ip_version = 4;
  record.protocol = 6;
  record.source = {10, 1, 0, 5};
  record.destination = {192, 0, 2, 9};
  record.source_port = 40000;
  record.destination_port = 443;
  record.flow.packets[0] = EventCount(number);
  return record;
}

}  // namespace millrace::test
