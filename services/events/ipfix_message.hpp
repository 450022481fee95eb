// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "shared/layout/event_record.hpp"

/// Records of flows and translations as messages of IPFIX (RFC 7011). A flow is one record with
/// both directions (RFC 5103, direction by initiator); translations are the events of RFC 8158.

namespace millrace {

/// Templates, by what a record is about. Their numbers are kIpfixTemplateFirst and so on.
enum class IpfixTemplate : std::uint8_t {
  kFlowIpv4,
  kFlowIpv6,
  kFlowIcmp,
  kFlowIcmpIpv6,
  kNat44Session,
  kNat64Session,
  kNat44Mapping,
  kNat64Mapping,
  kNat44Block,
  kNat64Block,
  kCount
};
inline constexpr std::uint16_t kIpfixTemplateFirst = 256;

/// The template of a record; kCount: it is not exported.
IpfixTemplate ipfix_template_of(const EventRecord& record) noexcept;
inline bool is_ipfix_record(const EventRecord& record) noexcept {
  return ipfix_template_of(record) != IpfixTemplate::kCount;
}

/// One message under construction. Nothing allocates.
class IpfixMessage {
 public:
  static constexpr std::size_t kBytesMax = 1400;  ///< it fits a packet, tunnels included

  /// Begins an empty message, or one with all templates. `sequence`: data records in earlier
  /// messages, modulo 2^32. `time_s`: Unix time.
  void begin(std::uint32_t time_s, std::uint32_t sequence, std::uint32_t domain,
             bool with_templates) noexcept;
  /// Adds a record that has a template. `time_ns`: its time, Unix. False: there is no room.
  bool add(const EventRecord& record, std::uint64_t time_ns) noexcept;
  std::uint32_t records() const noexcept { return records_; }
  /// The message as it is sent.
  std::span<const std::byte> finish() noexcept;

 private:
  void put(std::uint64_t value, std::size_t bytes) noexcept;
  void put_template(IpfixTemplate which) noexcept;
  void put_address(const std::array<std::uint8_t, 16>& address) noexcept;
  void begin_set(std::uint16_t id) noexcept;
  void end_set() noexcept;
  void set_u16(std::size_t at, std::size_t value) noexcept;

  std::array<std::byte, kBytesMax> bytes_;
  std::size_t size_ = 0, set_at_ = 0;  ///< set_at_: where the set that is open begins; 0: none is
  IpfixTemplate open_ = IpfixTemplate::kCount;  ///< what the set that is open has
  std::uint32_t records_ = 0;
};

}  // namespace millrace
