// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/fanout.hpp"

#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstddef>
#include <map>

#include "io-worker/ports/afpacket.hpp"
#include "io-worker/ports/interface.hpp"
#include "shared/base/check.hpp"
#include "shared/base/error.hpp"

namespace millrace {
namespace {

// Odd numbers without a pattern, of the golden ratio and of xxHash: sums of addresses and of ports
// of neighbours differ in few bits.
constexpr std::uint32_t kMixAddresses = 0x9e3779b1, kMixPorts = 0x85ebca77, kMixAll = 0xc2b2ae3d;
constexpr std::uint32_t kFragment = 0x3fff;       // more fragments, or not the first
constexpr std::uint32_t kHash = 0, kScratch = 1;  // words of the program's memory

/// Jumps by name: a classic BPF jump says how many instructions it leaves out.
class Assembler {
 public:
  void add(std::uint16_t code, std::uint32_t k = 0) { program_.push_back({code, 0, 0, k}); }
  /// To `yes` when the accumulator is `k`.
  void jump_if(std::uint32_t k, const char* yes, std::uint16_t how = BPF_JEQ) {
    jumps_.push_back({program_.size(), yes, true});
    program_.push_back({static_cast<std::uint16_t>(BPF_JMP | how | BPF_K), 0, 0, k});
  }
  void jump(const char* to) {
    jumps_.push_back({program_.size(), to, false});
    add(BPF_JMP | BPF_JA);
  }
  void label(const char* name) { labels_[name] = program_.size(); }
  std::vector<sock_filter> assembled() {
    for (const Jump& jump : jumps_) {
      const std::size_t over = labels_.at(jump.to) - jump.at - 1;
      MILLRACE_CHECK(over < 256);
      if (jump.conditional) {
        program_[jump.at].jt = static_cast<std::uint8_t>(over);
      } else {
        program_[jump.at].k = static_cast<std::uint32_t>(over);
      }
    }
    return program_;
  }

 private:
  struct Jump {
    std::size_t at;
    std::string to;
    bool conditional;
  };
  std::vector<sock_filter> program_;
  std::vector<Jump> jumps_;
  std::map<std::string, std::size_t> labels_;
};

constexpr std::uint16_t kLoadWord = BPF_LD | BPF_W | BPF_ABS, kLoadHalf = BPF_LD | BPF_H | BPF_ABS,
                        kLoadByte = BPF_LD | BPF_B | BPF_ABS, kAddX = BPF_ALU | BPF_ADD | BPF_X,
                        kTimes = BPF_ALU | BPF_MUL | BPF_K, kToX = BPF_MISC | BPF_TAX;

void jump_if_ports(Assembler& to, const char* where) {
  for (const std::uint32_t protocol : {IPPROTO_TCP, IPPROTO_UDP, IPPROTO_SCTP}) {
    to.jump_if(protocol, where);
  }
}

/// Adds the accumulator, the sum of two ports, to the hash.
void mix_ports(Assembler& to) {
  to.add(kTimes, kMixPorts);
  to.add(BPF_LDX | BPF_MEM, kHash);
  to.add(kAddX);
  to.add(BPF_ST, kHash);
}

void hash_ipv4(Assembler& to) {
  to.add(kLoadWord, 12);
  to.add(kToX);
  to.add(kLoadWord, 16);
  to.add(kAddX);
  to.add(kTimes, kMixAddresses);
  to.add(BPF_ST, kHash);
  to.add(kLoadHalf, 6);
  to.jump_if(kFragment, "mix", BPF_JSET);
  to.add(kLoadByte, 9);
  jump_if_ports(to, "ports of ipv4");
  to.jump("mix");
  to.label("ports of ipv4");
  to.add(BPF_LDX | BPF_B | BPF_MSH, 0);  // length of the header
  to.add(BPF_LD | BPF_H | BPF_IND, 0);
  to.add(BPF_ST, kScratch);
  to.add(BPF_LD | BPF_H | BPF_IND, 2);
  to.add(BPF_LDX | BPF_MEM, kScratch);
  to.add(kAddX);
  mix_ports(to);
  to.jump("mix");
}

void hash_ipv6(Assembler& to) {
  to.add(kLoadWord, 8);
  for (std::uint32_t at = 12; at < 40; at += 4) {
    to.add(kToX);
    to.add(kLoadWord, at);
    to.add(kAddX);
  }
  to.add(kTimes, kMixAddresses);
  to.add(BPF_ST, kHash);
  to.add(kLoadByte, 6);
  jump_if_ports(to, "ports of ipv6");
  to.jump("mix");
  to.label("ports of ipv6");
  to.add(kLoadHalf, 40);
  to.add(kToX);
  to.add(kLoadHalf, 42);
  to.add(kAddX);
  mix_ports(to);
}

void join(const UniqueFd& socket, const std::string& interface, int how, const char* what) {
  // Groups are numbered by namespace; interfaces too.
  const int group = 0x8000 | (interface_index(interface) & 0x7fff);
  const int wish = group | how << 16;
  if (::setsockopt(socket.get(), SOL_PACKET, PACKET_FANOUT, &wish, sizeof wish) != 0) {
    throw system_error(what, errno);
  }
}

}  // namespace

std::vector<sock_filter> share_program(std::uint32_t queues) {
  Assembler to;
  to.add(kLoadWord, static_cast<std::uint32_t>(SKF_AD_OFF + SKF_AD_PROTOCOL));
  to.jump_if(ETH_P_IP, "ipv4");
  to.jump_if(ETH_P_IPV6, "ipv6");
  to.add(BPF_RET | BPF_K, 0);
  to.label("ipv4");
  hash_ipv4(to);
  to.label("ipv6");
  hash_ipv6(to);
  to.label("mix");
  to.add(BPF_LD | BPF_MEM, kHash);
  to.add(BPF_ALU | BPF_RSH | BPF_K, 15);
  to.add(kToX);
  to.add(BPF_LD | BPF_MEM, kHash);
  to.add(BPF_ALU | BPF_XOR | BPF_X);
  to.add(kTimes, kMixAll);
  to.add(BPF_ALU | BPF_RSH | BPF_K, 16);  // the share of a queue is a range of hashes
  to.add(kTimes, queues);
  to.add(BPF_ALU | BPF_RSH | BPF_K, 16);
  to.add(BPF_RET | BPF_A);
  return to.assembled();
}

void share_by_hash(const UniqueFd& socket, const std::string& interface) {
  join(socket, interface, PACKET_FANOUT_HASH, "share the interface");
}

void share_by_program(const UniqueFd& socket, const std::string& interface) {
  join(socket, interface, PACKET_FANOUT_CBPF, "share the interface by a program");
}

void set_share_program(const UniqueFd& socket, std::uint32_t queues) {
  std::vector<sock_filter> code = share_program(queues);
  const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  if (::setsockopt(socket.get(), SOL_PACKET, PACKET_FANOUT_DATA, &program, sizeof program) != 0) {
    throw system_error("share the interface among " + std::to_string(queues) + " queues", errno);
  }
}

void await_receivers() {
  // The kernel lets nobody close a packet socket before all receiving of then has ended.
  open_packet_socket();
}

}  // namespace millrace
