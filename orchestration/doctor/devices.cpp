// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>

#include "io-worker/ports/ethtool.hpp"
#include "orchestration/doctor/doctor.hpp"
#include "shared/base/nearest.hpp"

namespace millrace {
namespace {

constexpr const char* kNvidiaVendor = "0x10de";

/// A larger one than the port's loses frames without a word; a smaller one is refused by `up`.
void examine_mtu(const HostFiles& host, const std::string& name, const Mtu& mtu, Finding& finding) {
  const std::string found = host.text("/sys/class/net/" + name + "/mtu").value_or("");
  std::uint32_t bytes = 0;
  std::from_chars(found.data(), found.data() + found.size(), bytes);
  if (bytes == 0 || mtu.bytes == 0 || bytes == mtu.bytes) return;
  finding.health = bytes < mtu.bytes ? Health::kProblem : Health::kWarning;
  finding.mend = mtu_warning(mtu.port, mtu.bytes, name, bytes);
}

Finding examine_interface(const HostFiles& host, const std::string& name, const Mtu& mtu) {
  Finding finding{.check = "interface " + name};
  const std::string folder = "/sys/class/net/" + name;
  const std::vector<std::string> names = host.names("/sys/class/net");
  if (std::ranges::find(names, name) == names.end()) {
    const std::vector<std::string_view> views(names.begin(), names.end());
    const std::string near = nearest_of(name, views);
    finding.health = Health::kProblem;
    finding.found = "not there; there is: " + comma_list(views);
    finding.mend = near.empty() ? "name one of these, or make it: ip link add " + name + " ..."
                                : "did you mean '" + near + "'?";
    return finding;
  }
  const std::string state = host.text(folder + "/operstate").value_or("unknown");
  const std::string driver = host.link_name(folder + "/device/driver");
  finding.found = state + ", mtu " + host.text(folder + "/mtu").value_or("?") +
                  (driver.empty() ? ", no device behind it" : ", driver " + driver);
  const auto flags = host.text(folder + "/flags").value_or("0x0");
  const bool up = (std::stoul(flags, nullptr, 16) & 1) != 0;
  if (!up) {
    finding.health = Health::kProblem;
    finding.mend = "ip link set " + name + " up";
  } else if (state == "down" || state == "lowerlayerdown") {
    finding.health = Health::kWarning;
    finding.mend = "no carrier: look at the cable or at the other end";
  } else {
    examine_mtu(host, name, mtu, finding);
  }
  return finding;
}

std::string words_of_list(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : " ") + name;
  return list;
}

Finding examine_offloads(const std::string& name, const Offloads& offloads) {
  Finding finding{.check = "offloads of " + name, .found = "none on that changes frames"};
  if (!offloads.on.empty()) {
    finding.found = words_of_list(offloads.on) + ": off while a topology has it, then on again";
  }
  if (offloads.fixed.empty()) return finding;
  finding.health = Health::kWarning;
  finding.found = words_of_list(offloads.fixed) +
                  " cannot be switched off: checksums and tags are made good, merged segments are "
                  "dropped as oversize";
  finding.mend = "where frames come from: ethtool -K INTERFACE tso off gso off gro off lro off";
  return finding;
}

Finding examine_af_xdp(const HostFiles& host, const Needs& needs) {
  Finding finding{.check = "AF_XDP", .found = "in this kernel"};
  const bool there = host.line("/proc/net/protocols", "XDP").has_value();
  if (!there) {
    finding.found = "not in this kernel (CONFIG_XDP_SOCKETS)";
    finding.health = needs.af_xdp ? Health::kProblem : Health::kNote;
    finding.mend = "use device afpacket, or a kernel with it";
  }
  return finding;
}

Finding examine_tap(const HostFiles& host) {
  const bool there = host.exists("/dev/net/tun");
  return {.check = "tap interfaces",
          .health = there ? Health::kGood : Health::kProblem,
          .found = there ? "/dev/net/tun" : "no /dev/net/tun",
          .mend = there ? "" : "modprobe tun (for a container: --device /dev/net/tun)"};
}

Finding examine_iommu(const HostFiles& host) {
  const std::size_t groups = host.names("/sys/kernel/iommu_groups").size();
  const bool vfio = host.exists("/sys/bus/pci/drivers/vfio-pci");
  return {.check = "IOMMU and VFIO",
          .health = groups == 0 ? Health::kNote : Health::kGood,
          .found = std::to_string(groups) + " groups, vfio-pci " + (vfio ? "" : "not ") + "loaded",
          .mend = groups != 0 ? "" : "for DPDK ports on NICs boot with: intel_iommu=on iommu=pt"};
}

Finding examine_pci(const HostFiles& host, const std::string& address) {
  Finding finding{.check = "PCI device " + address};
  const std::string folder = "/sys/bus/pci/devices/" + address;
  if (!host.exists(folder)) {
    finding.health = Health::kProblem;
    finding.found = "not there";
    finding.mend = "lspci -D | grep -i ethernet names the addresses";
    return finding;
  }
  const std::string driver = host.link_name(folder + "/driver");
  finding.found = driver.empty() ? "no driver" : "driver " + driver;
  // These drive a NIC beside the kernel's driver; all others need VFIO.
  const bool bifurcated = driver == "mlx5_core" || driver == "mlx4_core" || driver == "mana";
  if (driver != "vfio-pci" && !bifurcated) {
    finding.health = Health::kProblem;
    finding.mend = "modprobe vfio-pci && dpdk-devbind.py -b vfio-pci " + address;
  }
  return finding;
}

Finding examine_gpu(const HostFiles& host, const Needs& needs) {
  Finding finding{.check = "GPU"};
  std::string models;
  for (const std::string& name : host.names("/proc/driver/nvidia/gpus")) {
    const auto model = host.line("/proc/driver/nvidia/gpus/" + name + "/information", "Model");
    models += (models.empty() ? "" : ", ") + model.value_or("?");
  }
  if (!models.empty()) {
    finding.found = models;
    return finding;
  }
  finding.health = needs.cuda ? Health::kProblem : Health::kNote;
  finding.found = "none: groups of kind gpu run on the software device, and say so";
  const auto devices = host.names("/sys/bus/pci/devices");
  const bool card = std::ranges::any_of(devices, [&](const std::string& name) {
    const std::string folder = "/sys/bus/pci/devices/" + name;
    return host.text(folder + "/vendor") == kNvidiaVendor &&
           host.text(folder + "/class").value_or("").starts_with("0x03");
  });
  if (card) {
    finding.health = Health::kWarning;
    finding.found = "an NVIDIA GPU without its driver";
    finding.mend = "apt install nvidia-driver (non-free), then boot again";
  } else if (needs.cuda) {
    finding.mend = "device: auto in the group's section";
  }
  return finding;
}

}  // namespace

Offloads offloads_of(const InterfaceWish& wish) {
  Offloads offloads;
  for (const Ethtool::Feature& feature : Ethtool(wish.interface).features()) {
    if (!is_unwanted(feature, wish)) continue;
    (feature.fixed ? offloads.fixed : offloads.on).push_back(feature.name);
  }
  return offloads;
}

void examine_devices(const HostFiles& host, const Needs& needs, std::vector<Finding>& findings) {
  for (const std::string& name : needs.interfaces) {
    const auto mtu = needs.mtus.find(name);
    findings.push_back(
        examine_interface(host, name, mtu != needs.mtus.end() ? mtu->second : Mtu{}));
    const auto addresses = needs.addresses.find(name);
    if (addresses != needs.addresses.end()) {
      findings.push_back({.check = "addresses of " + name,
                          .health = Health::kProblem,
                          .found = addresses->second.found,
                          .mend = addresses->second.mend});
    }
    const auto offloads = needs.offloads.find(name);
    if (offloads != needs.offloads.end()) {
      findings.push_back(examine_offloads(name, offloads->second));
    }
  }
  findings.push_back(examine_af_xdp(host, needs));
  if (needs.tap) findings.push_back(examine_tap(host));
  findings.push_back(examine_iommu(host));
  for (const std::string& address : needs.pci) findings.push_back(examine_pci(host, address));
  findings.push_back(examine_gpu(host, needs));
}

}  // namespace millrace
