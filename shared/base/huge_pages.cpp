// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/base/huge_pages.hpp"

#include <sys/statfs.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "shared/base/control_group.hpp"

namespace fs = std::filesystem;

namespace millrace {
namespace {

constexpr std::uint64_t kPageBytes = 2 << 20;
constexpr const char* kFolder = "sys/kernel/mm/hugepages/hugepages-2048kB";

/// Nothing also for "max".
std::optional<std::uint64_t> number_in(const fs::path& path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  if (!(file >> number)) return std::nullopt;
  return number;
}

/// Names of the two files of a cgroup, as versions 1 and 2 have them.
struct LimitFiles {
  const char* limit;
  const char* usage;
};
constexpr LimitFiles kVersion2{"hugetlb.2MB.max", "hugetlb.2MB.current"};
constexpr LimitFiles kVersion1{"hugetlb.2MB.limit_in_bytes", "hugetlb.2MB.usage_in_bytes"};
/// Those of pages that are reserved, which a shared mapping does first.
constexpr LimitFiles kReserved2{"hugetlb.2MB.rsvd.max", "hugetlb.2MB.rsvd.current"};
constexpr LimitFiles kReserved1{"hugetlb.2MB.rsvd.limit_in_bytes",
                                "hugetlb.2MB.rsvd.usage_in_bytes"};

void limit_by(const fs::path& root, const std::string& folder, const LimitFiles& files,
              HugePages& pages) {
  const fs::path here = root / fs::path(folder).relative_path();
  const auto limit = number_in(here / files.limit);
  if (!limit) return;
  const std::uint64_t used = number_in(here / files.usage).value_or(0);
  const std::uint64_t left = (*limit - std::min(used, *limit)) / kPageBytes;
  if (left >= pages.allowed) return;
  pages.allowed = left;
  pages.limit = folder + "/" + files.limit;
}

void apply_limits(const fs::path& root, HugePages& pages) {
  for_each_control_group(root, "hugetlb", [&](const ControlGroup& group) {
    limit_by(root, group.folder, group.version2 ? kVersion2 : kVersion1, pages);
    limit_by(root, group.folder, group.version2 ? kReserved2 : kReserved1, pages);
  });
}

}  // namespace

std::optional<HugePages> huge_pages(const fs::path& root) {
  const fs::path folder = root / kFolder;
  const auto total = number_in(folder / "nr_hugepages");
  const auto free = number_in(folder / "free_hugepages");
  if (!total || !free) return std::nullopt;
  const std::uint64_t surplus = number_in(folder / "surplus_hugepages").value_or(0);
  const std::uint64_t more = number_in(folder / "nr_overcommit_hugepages").value_or(0);
  const std::uint64_t reserved = number_in(folder / "resv_hugepages").value_or(0);
  HugePages pages{.total = *total,
                  .free = *free - std::min(reserved, *free) + more - std::min(surplus, more)};
  apply_limits(root, pages);
  return pages;
}

std::optional<HugeMount> huge_mount(const fs::path& root) {
  std::ifstream mounts(root / "proc/mounts");
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words(line);
    std::string device, folder, type, options;
    words >> device >> folder >> type >> options;
    const bool other_size = options.find("pagesize=") != std::string::npos &&
                            options.find("pagesize=2M") == std::string::npos;
    if (type != "hugetlbfs" || other_size) continue;
    HugeMount mount{.folder = folder};
    struct statfs room {};
    const bool limited = options.find(",size=") != std::string::npos;
    const fs::path path = root / fs::path(folder).relative_path();
    if (limited && ::statfs(path.c_str(), &room) == 0) mount.allowed = room.f_bavail;
    return mount;
  }
  return std::nullopt;
}

std::string too_few_huge_pages(const HugePages& has, std::uint64_t wanted) {
  const std::string need = std::to_string(wanted) + " of 2 MB are needed, ";
  if (has.allowed < wanted) {
    return need + "a limit allows " + std::to_string(has.allowed) + " more (" + has.limit +
           "); mend: raise that limit of the cgroup or container (a pod: hugepages-2Mi), by " +
           std::to_string((wanted - has.allowed) * kPageBytes) + " bytes";
  }
  return need + "the host has " + std::to_string(has.total) + ", " + std::to_string(has.free) +
         " of them free; mend: millrace doctor --fix FILE, which takes back those of killed runs "
         "too, or: sysctl -w vm.nr_hugepages=" +
         std::to_string(has.total + wanted - std::min(has.free, wanted));
}

}  // namespace millrace
