// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <random>
#include <utility>

#include "orchestration/planner/filter.hpp"
#include "shared/base/packet_filter.hpp"

namespace millrace {
namespace {

using Address = std::array<std::uint8_t, 16>;  ///< IPv4 in the first four
using Mac = std::array<std::uint8_t, 6>;

/// One end of a flow.
struct End {
  Mac mac{};
  Address address{};
  std::uint16_t port = 0;
};

struct Shape {
  bool six = false;
  std::uint8_t protocol = 17;
  std::uint16_t vlan = 0;  ///< 0: no tag
};

/// What the program compares with: of this its trial packets are made.
struct Constants {
  std::vector<std::uint32_t> words;  ///< after a load of four bytes, in the order of the program
  std::vector<std::uint16_t> halves;
  std::vector<std::uint8_t> bytes;
  std::vector<Mac> macs;
};

template <typename T>
void add_unique(std::vector<T>& to, const T& value) {
  if (std::find(to.begin(), to.end(), value) == to.end()) to.push_back(value);
}

Mac mac_of(std::uint32_t high, std::uint32_t low) {
  return {static_cast<std::uint8_t>(high >> 8), static_cast<std::uint8_t>(high),
          static_cast<std::uint8_t>(low >> 24), static_cast<std::uint8_t>(low >> 16),
          static_cast<std::uint8_t>(low >> 8),  static_cast<std::uint8_t>(low)};
}

void add_half(Constants& constants, std::uint32_t k) {
  if (k <= 0xffff) add_unique(constants.halves, static_cast<std::uint16_t>(k));
}

Constants constants_of(std::span<const std::uint64_t> program) {
  constexpr std::uint32_t kLoad = 0, kJump = 5, kReturn = 6, kEqual = 0x10;
  Constants constants;
  std::uint32_t width = 0;
  std::uint32_t last_word = 0;  // no optional: GCC 12 takes its value for uninitialized
  bool has_last_word = false;
  for (const std::uint64_t instruction : program) {
    const auto code = static_cast<std::uint32_t>(instruction >> 48);
    const auto k = static_cast<std::uint32_t>(instruction);
    if ((code & 7) == kLoad && (code & 0xe0) != 0) width = (code & 0x18) == 0 ? 4 : 2;
    if ((code & 7) == kReturn || (code & 7) == kLoad) continue;
    if (width == 4 && (code & 7) == kJump) {
      constants.words.push_back(k);
      last_word = k;
      has_last_word = true;
    } else if (has_last_word && (code & 7) == kJump) {
      // Its last four bytes come first. What goes to a group has no answer.
      if ((k >> 8 & 1) == 0) add_unique(constants.macs, mac_of(k, last_word));
      has_last_word = false;
    }
    add_half(constants, k);
    if ((code & 7) == kJump && (code & 0xf0) != kEqual) {
      add_half(constants, k - 1);
      add_half(constants, k + 1);
    }
    if (k <= 0xff) add_unique(constants.bytes, static_cast<std::uint8_t>(k));
  }
  return constants;
}

Address address_of(std::span<const std::uint32_t> words) {
  Address address{};
  for (std::size_t i = 0; i < words.size() * 4; ++i) {
    address[i] = static_cast<std::uint8_t>(words[i / 4] >> (24 - i % 4 * 8));
  }
  return address;
}

constexpr std::uint32_t kStranger = 0xc0000201;   // 192.0.2.1
constexpr std::uint32_t kStranger6 = 0x20010db8;  // 2001:db8::
constexpr std::uint16_t kFreePort = 40001;

std::vector<Address> addresses_of(const Constants& constants, bool six) {
  std::vector<Address> addresses;
  for (const std::uint32_t stranger : {six ? kStranger6 : kStranger, kStranger + (six ? 7 : 1)}) {
    addresses.push_back(address_of({&stranger, 1}));
  }
  const std::span<const std::uint32_t> words = constants.words;
  for (std::size_t i = 0; i < words.size(); ++i) {
    for (const std::size_t length :
         {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{4}}) {
      if (i + length > words.size() || (!six && length > 1)) continue;
      add_unique(addresses, address_of(words.subspan(i, length)));
    }
    // The far side of a comparison.
    const std::uint32_t next = words[i] + 1;
    if (!six) add_unique(addresses, address_of({&next, 1}));
  }
  return addresses;
}

using Frame = std::vector<std::byte>;

class Writer {
 public:
  explicit Writer(Frame& frame) : frame_(frame) { frame_.clear(); }
  void put(std::span<const std::uint8_t> bytes) {
    for (const std::uint8_t byte : bytes) frame_.push_back(static_cast<std::byte>(byte));
  }
  void put8(std::uint32_t value) { frame_.push_back(static_cast<std::byte>(value)); }
  void put16(std::uint32_t value) {
    put8(value >> 8 & 0xff);
    put8(value & 0xff);
  }
  void fill(std::size_t size) { frame_.resize(frame_.size() + size); }

 private:
  Frame& frame_;
};

/// A small packet from one end to the other, with nothing in it that differs within a flow.
void write_frame(const Shape& shape, const End& from, const End& to, Frame& frame) {
  constexpr std::size_t kTransportBytes = 40;
  Writer out(frame);
  out.put(to.mac);
  out.put(from.mac);
  if (shape.vlan != 0) {
    out.put16(0x8100);
    out.put16(shape.vlan);
  }
  const std::size_t address_bytes = shape.six ? 16 : 4;
  out.put16(shape.six ? 0x86dd : 0x0800);
  if (shape.six) {
    out.put16(0x6000);
    out.put16(0);
    out.put16(kTransportBytes);
    out.put8(shape.protocol);
    out.put8(64);
  } else {
    out.put16(0x4500);
    out.put16(20 + kTransportBytes);
    out.put16(0);
    out.put16(0);
    out.put8(64);
    out.put8(shape.protocol);
    out.put16(0);
  }
  out.put(std::span(from.address).first(address_bytes));
  out.put(std::span(to.address).first(address_bytes));
  const bool ports = shape.protocol == 6 || shape.protocol == 17 || shape.protocol == 132;
  out.put16(ports ? from.port : 0);
  out.put16(ports ? to.port : 0);
  out.fill(kTransportBytes - 4);
}

std::string text_of(const Shape& shape, const End& end) {
  char address[INET6_ADDRSTRLEN] = "";
  inet_ntop(shape.six ? AF_INET6 : AF_INET, end.address.data(), address, sizeof address);
  return shape.six ? "[" + std::string(address) + "]:" + std::to_string(end.port)
                   : std::string(address) + ":" + std::to_string(end.port);
}

std::string text_of(const Shape& shape, const End& from, const End& to) {
  const std::string protocol = shape.protocol == 17  ? "UDP"
                               : shape.protocol == 6 ? "TCP"
                                                     : "protocol " + std::to_string(shape.protocol);
  return protocol + " from " + text_of(shape, from) + " to " + text_of(shape, to);
}

/// All pairs of ends of a shape in turn when they are few, else a seeded draw of them.
class Trial {
 public:
  explicit Trial(std::span<const std::uint64_t> program)
      : program_(program), constants_(constants_of(program)) {
    constants_.halves.insert(constants_.halves.begin(), kFreePort);
    constants_.macs.insert(constants_.macs.begin(), Mac{2, 0, 0, 0, 0, 1});
  }
  std::optional<std::string> run();

 private:
  static constexpr std::size_t kPairsMax = 10'000;  ///< of a shape
  std::optional<std::string> run(const Shape& shape);
  bool splits(const Shape& shape, const End& one, const End& other);
  End end_at(std::size_t number) const;

  std::span<const std::uint64_t> program_;
  Constants constants_;
  std::vector<Address> addresses_;
  Frame frame_;
  std::mt19937_64 random_{1};
};

End Trial::end_at(std::size_t number) const {
  const std::size_t macs = constants_.macs.size();
  const std::size_t addresses = addresses_.size();
  return {constants_.macs[number % macs], addresses_[number / macs % addresses],
          constants_.halves[number / macs / addresses]};
}

bool Trial::splits(const Shape& shape, const End& one, const End& other) {
  const auto taken = [&](const End& from, const End& to) {
    write_frame(shape, from, to, frame_);
    return filter_takes(program_, frame_, static_cast<std::uint32_t>(frame_.size()));
  };
  return taken(one, other) && !taken(other, one);
}

std::optional<std::string> Trial::run(const Shape& shape) {
  const std::size_t ends = constants_.macs.size() * addresses_.size() * constants_.halves.size();
  const bool all = ends * ends <= kPairsMax;
  const std::size_t count = all ? ends * ends : kPairsMax;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t pair = all ? i : random_() % (ends * ends);
    const End one = end_at(pair % ends);
    const End other = end_at(pair / ends);
    if (one.address != other.address && splits(shape, one, other))
      return text_of(shape, one, other);
  }
  return std::nullopt;
}

std::optional<std::string> Trial::run() {
  std::vector<std::uint8_t> protocols = {17, 6, 1, 58, 132};
  for (const std::uint8_t byte : constants_.bytes) {
    if (protocols.size() < 12) add_unique(protocols, byte);
  }
  std::vector<std::uint16_t> vlans = {0};
  const auto& halves = constants_.halves;
  if (std::find(halves.begin(), halves.end(), 0x8100) != halves.end()) {
    vlans.push_back(1);
    for (const std::uint16_t half : halves) {
      if (vlans.size() < 6 && half > 0 && half < 4095) add_unique(vlans, half);
    }
  }
  for (const bool six : {false, true}) {
    addresses_ = addresses_of(constants_, six);
    for (const std::uint8_t protocol : protocols) {
      for (const std::uint16_t vlan : vlans) {
        if (auto flow = run({six, protocol, vlan})) return flow;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> one_way_flow(std::span<const std::uint64_t> program) {
  if (program.size() < 2) return std::nullopt;
  return Trial(program).run();
}

}  // namespace millrace
