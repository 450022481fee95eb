// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/base/packet_filter.hpp"

#include <gtest/gtest.h>
#include <pcap/pcap.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

namespace millrace {
namespace {

using Program = std::vector<std::uint64_t>;

std::vector<bpf_insn> for_libpcap(const Program& program) {
  std::vector<bpf_insn> out;
  for (const std::uint64_t word : program) {
    out.push_back({static_cast<u_short>(word >> 48), static_cast<u_char>(word >> 40),
                   static_cast<u_char>(word >> 32), static_cast<u_int>(word)});
  }
  return out;
}

bool libpcap_takes(const Program& program, std::span<const std::byte> bytes, std::uint32_t wire) {
  const std::vector<bpf_insn> code = for_libpcap(program);
  return bpf_filter(code.data(), reinterpret_cast<const u_char*>(bytes.data()), wire,
                    static_cast<u_int>(bytes.size())) != 0;
}

std::string text_of(const Program& program) {
  char word[20];
  std::string text;
  for (const std::uint64_t at : program) {
    std::snprintf(word, sizeof word, "%016lx ", at);
    text += word;
  }
  return text;
}

/// Ours starts with zeros, libpcap's with whatever was there.
bool reads_memory(std::uint64_t word) {
  const auto code = static_cast<std::uint32_t>(word >> 48);
  return (code & 0x06) == 0 && (code & 0xe0) == 0x60;
}

Program compiled(const std::string& filter) {
  pcap_t* pcap = pcap_open_dead(DLT_EN10MB, 65535);
  bpf_program program{};
  EXPECT_EQ(pcap_compile(pcap, &program, filter.c_str(), 1, PCAP_NETMASK_UNKNOWN), 0) << filter;
  Program out;
  for (u_int i = 0; i < program.bf_len; ++i) {
    const bpf_insn& at = program.bf_insns[i];
    out.push_back(filter_word(at.code, at.jt, at.jf, at.k));
  }
  pcap_freecode(&program);
  pcap_close(pcap);
  return out;
}

const char* const kFilters[] = {
    "ip",
    "ip6 and udp port 53",
    "tcp portrange 1000-2000 or not ip",
    "src net 10.0.0.0/8 and dst host 10.1.2.3",
    "vlan 5 and udp",
    "tcp[tcpflags] & (tcp-syn|tcp-fin) != 0",
    "ip[6:2] & 0x1fff != 0 or ip[8] < 5",
    "len >= 100 and ether[0] & 1 == 0",
    "ether host 02:00:00:00:00:01 or arp",
    "icmp or (ip proto 47 and greater 60)",
    "ip[2:2] - ((ip[0] & 0xf) << 2) > 40",
    "tcp[((tcp[12] & 0xf0) >> 2):4] = 0x47455420",
};

TEST(PacketFilter, AnswersAsLibpcapDoes) {
  std::mt19937_64 random(3);
  std::uint32_t taken = 0;
  for (const char* filter : kFilters) {
    const Program program = compiled(filter);
    ASSERT_TRUE(is_sound_filter(program)) << filter;
    for (int i = 0; i < 4000; ++i) {
      std::vector<std::byte> frame(random() % 120);
      for (std::byte& byte : frame) byte = static_cast<std::byte>(random());
      if (frame.size() > 40 && i % 8 != 0) {
        frame[12] = i % 3 == 0 ? std::byte{0x86} : std::byte{0x08};
        frame[13] = i % 3 == 0 ? std::byte{0xdd} : std::byte{0};
        frame[14] = std::byte{0x45};
        frame[20] = frame[21] = std::byte{0};
        frame[23] = i % 2 == 0 ? std::byte{6} : std::byte{17};
        frame[26] = frame[30] = std::byte{10};
      }
      const auto wire = static_cast<std::uint32_t>(frame.size() + random() % 40);
      const bool ours = filter_takes(program, frame, wire);
      ASSERT_EQ(ours, libpcap_takes(program, frame, wire)) << filter << ", frame " << i;
      taken += ours ? 1 : 0;
    }
  }
  EXPECT_GT(taken, 1000u);
}

TEST(PacketFilter, RunsAnySoundProgramAsLibpcapDoes) {
  std::mt19937_64 random(4);
  std::uint32_t sound = 0;
  for (int i = 0; i < 400'000; ++i) {
    Program program;
    const std::size_t size = 1 + random() % 6;
    for (std::size_t at = 0; at + 1 < size; ++at) {
      program.push_back(filter_word(random() % 0xb8, random() % 4, random() % 4, random() % 24));
    }
    program.push_back(filter_word(random() % 2 == 0 ? 0x16 : 0x06, 0, 0, random() % 2));
    if (!is_sound_filter(program) || std::ranges::any_of(program, reads_memory)) continue;
    const auto code = for_libpcap(program);
    // libpcap refuses a constant division by zero when it is validated, we when it is run.
    if (bpf_validate(code.data(), static_cast<int>(code.size())) == 0) continue;
    ++sound;
    std::vector<std::byte> frame(random() % 24);
    for (std::byte& byte : frame) byte = static_cast<std::byte>(random());
    ASSERT_EQ(filter_takes(program, frame, 99), libpcap_takes(program, frame, 99))
        << i << ": " << text_of(program);
  }
  EXPECT_GT(sound, 5000u);
}

TEST(PacketFilter, WithoutInstructionsTakesAll) {
  EXPECT_TRUE(is_sound_filter({}));
  EXPECT_TRUE(filter_takes({}, {}, 0));
}

TEST(PacketFilter, IsNotSoundWhenItCouldRunAway) {
  constexpr std::uint64_t kTake = filter_word(0x06, 0, 0, 1);
  const auto refused = [](const Program& program) { return !is_sound_filter(program); };
  EXPECT_TRUE(refused({filter_word(0x00, 0, 0, 1)}));                  // no return
  EXPECT_TRUE(refused({filter_word(0x15, 0, 1, 1), kTake}));           // jump behind the end
  EXPECT_TRUE(refused({filter_word(0x05, 0, 0, 0xffffffff), kTake}));  // around the number range
  EXPECT_TRUE(refused({filter_word(0x60, 0, 0, 16), kTake}));          // no such memory word
  EXPECT_TRUE(refused({filter_word(0x02, 0, 0, 16), kTake}));
  EXPECT_TRUE(refused({filter_word(0x38, 0, 0, 0), kTake}));  // a load of no size
  EXPECT_TRUE(refused({filter_word(0x106, 0, 0, 0)}));
  EXPECT_TRUE(refused({filter_word(0x07, 0, 0, 0)}));  // ends with a move
  EXPECT_FALSE(refused({filter_word(0x15, 0, 0, 1), kTake}));
}

}  // namespace
}  // namespace millrace
