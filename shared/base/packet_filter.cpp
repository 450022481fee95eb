// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/base/packet_filter.hpp"

#include <linux/filter.h>

#include <array>
#include <optional>

namespace millrace {
namespace {

constexpr std::uint32_t kModulo = 0x90;  // BPF_MOD, BPF_XOR, BPF_TXA: not in every header
constexpr std::uint32_t kXor = 0xa0;
constexpr std::uint16_t kIndexFromA = BPF_MISC;
constexpr std::uint16_t kAFromIndex = BPF_MISC | 0x80;

struct Instruction {
  std::uint16_t code;
  std::uint8_t jt, jf;
  std::uint32_t k;
};

Instruction instruction_of(std::uint64_t word) noexcept {
  return {static_cast<std::uint16_t>(word >> 48), static_cast<std::uint8_t>(word >> 40),
          static_cast<std::uint8_t>(word >> 32), static_cast<std::uint32_t>(word)};
}

struct Machine {
  std::span<const std::byte> bytes;
  std::uint32_t wire_length;
  std::uint32_t a = 0, x = 0;
  std::array<std::uint32_t, BPF_MEMWORDS> memory{};

  /// `size` bytes in network order; nothing when they are not all there.
  std::optional<std::uint32_t> read(std::uint64_t at, std::uint32_t size) const noexcept {
    if (at + size > bytes.size()) return std::nullopt;
    std::uint32_t value = 0;
    for (std::uint32_t i = 0; i < size; ++i) {
      value = value << 8 | static_cast<std::uint32_t>(bytes[at + i]);
    }
    return value;
  }
  bool load(const Instruction& at) noexcept;
  bool load_index(const Instruction& at) noexcept;
  bool compute(const Instruction& at) noexcept;
  bool compare(const Instruction& at) const noexcept;
};

std::uint32_t size_of_load(std::uint16_t code) noexcept {
  return BPF_SIZE(code) == BPF_W ? 4 : BPF_SIZE(code) == BPF_H ? 2 : 1;
}

bool Machine::load(const Instruction& at) noexcept {
  std::optional<std::uint32_t> value;
  switch (BPF_MODE(at.code)) {
    case BPF_ABS:
      value = read(at.k, size_of_load(at.code));
      break;
    case BPF_IND:
      value = read(std::uint64_t{x} + at.k, size_of_load(at.code));
      break;
    case BPF_LEN:
      value = wire_length;
      break;
    case BPF_IMM:
      value = at.k;
      break;
    default:
      value = memory[at.k];
  }
  a = value.value_or(0);
  return value.has_value();
}

bool Machine::load_index(const Instruction& at) noexcept {
  switch (BPF_MODE(at.code)) {
    case BPF_MSH: {
      const auto value = read(at.k, 1);
      x = (value.value_or(0) & 0xf) << 2;
      return value.has_value();
    }
    case BPF_LEN:
      x = wire_length;
      break;
    case BPF_IMM:
      x = at.k;
      break;
    default:
      x = memory[at.k];
  }
  return true;
}

bool Machine::compute(const Instruction& at) noexcept {
  const std::uint32_t other = BPF_SRC(at.code) == BPF_X ? x : at.k;
  const auto operation = static_cast<std::uint32_t>(BPF_OP(at.code));
  if (other == 0 && (operation == BPF_DIV || operation == kModulo)) return false;
  switch (operation) {
    case BPF_ADD:
      a += other;
      break;
    case BPF_SUB:
      a -= other;
      break;
    case BPF_MUL:
      a *= other;
      break;
    case BPF_DIV:
      a /= other;
      break;
    case BPF_OR:
      a |= other;
      break;
    case BPF_AND:
      a &= other;
      break;
    case BPF_LSH:
      a = other < 32 ? a << other : 0;
      break;
    case BPF_RSH:
      a = other < 32 ? a >> other : 0;
      break;
    case BPF_NEG:
      a = 0u - a;
      break;
    case kModulo:
      a %= other;
      break;
    default:  // kXor
      a ^= other;
  }
  return true;
}

bool Machine::compare(const Instruction& at) const noexcept {
  const std::uint32_t other = BPF_SRC(at.code) == BPF_X ? x : at.k;
  switch (BPF_OP(at.code)) {
    case BPF_JEQ:
      return a == other;
    case BPF_JGT:
      return a > other;
    case BPF_JGE:
      return a >= other;
    default:
      return (a & other) != 0;
  }
}

bool is_known_load(const Instruction& at, bool index) noexcept {
  const std::uint32_t mode = BPF_MODE(at.code);
  if (mode == BPF_MEM) return BPF_SIZE(at.code) == BPF_W && at.k < BPF_MEMWORDS;
  if (mode == BPF_IMM || mode == BPF_LEN) return BPF_SIZE(at.code) == BPF_W;
  if (index) return mode == BPF_MSH && BPF_SIZE(at.code) == BPF_B;
  return (mode == BPF_ABS || mode == BPF_IND) && BPF_SIZE(at.code) <= BPF_B;
}

bool is_known_computation(const Instruction& at) noexcept {
  const auto operation = static_cast<std::uint32_t>(BPF_OP(at.code));
  if (operation == BPF_NEG) return BPF_SRC(at.code) == BPF_K;
  return operation <= kXor;
}

/// `behind`: instructions that follow it.
bool is_sound(const Instruction& at, std::size_t behind) noexcept {
  if (at.code > 0xff) return false;
  switch (BPF_CLASS(at.code)) {
    case BPF_LD:
    case BPF_LDX:
      return is_known_load(at, BPF_CLASS(at.code) == BPF_LDX) && behind > 0;
    case BPF_ST:
    case BPF_STX:
      return at.code <= BPF_STX && at.k < BPF_MEMWORDS && behind > 0;
    case BPF_ALU:
      return is_known_computation(at) && behind > 0;
    case BPF_JMP:
      if (BPF_OP(at.code) == BPF_JA) return BPF_SRC(at.code) == BPF_K && at.k < behind;
      return BPF_OP(at.code) <= BPF_JSET && at.jt < behind && at.jf < behind;
    case BPF_RET:
      return at.code == (BPF_RET | BPF_K) || at.code == (BPF_RET | BPF_A);
    default:
      return (at.code == kIndexFromA || at.code == kAFromIndex) && behind > 0;
  }
}

}  // namespace

bool is_sound_filter(std::span<const std::uint64_t> program) noexcept {
  for (std::size_t i = 0; i < program.size(); ++i) {
    const Instruction at = instruction_of(program[i]);
    if (!is_sound(at, program.size() - i - 1)) return false;
    if (i + 1 == program.size() && BPF_CLASS(at.code) != BPF_RET) return false;
  }
  return true;
}

bool filter_takes(std::span<const std::uint64_t> program, std::span<const std::byte> bytes,
                  std::uint32_t wire_length) noexcept {
  if (program.empty()) return true;
  Machine machine{.bytes = bytes, .wire_length = wire_length};
  for (std::size_t i = 0;; ++i) {
    const Instruction at = instruction_of(program[i]);
    bool goes_on = true;
    switch (BPF_CLASS(at.code)) {
      case BPF_LD:
        goes_on = machine.load(at);
        break;
      case BPF_LDX:
        goes_on = machine.load_index(at);
        break;
      case BPF_ST:
        machine.memory[at.k] = machine.a;
        break;
      case BPF_STX:
        machine.memory[at.k] = machine.x;
        break;
      case BPF_ALU:
        goes_on = machine.compute(at);
        break;
      case BPF_JMP:
        i += BPF_OP(at.code) == BPF_JA ? at.k : machine.compare(at) ? at.jt : at.jf;
        break;
      case BPF_RET:
        return (BPF_RVAL(at.code) == BPF_A ? machine.a : at.k) != 0;
      default:
        if (at.code == kIndexFromA) {
          machine.x = machine.a;
        } else {
          machine.a = machine.x;
        }
    }
    if (!goes_on) return false;
  }
}

}  // namespace millrace
