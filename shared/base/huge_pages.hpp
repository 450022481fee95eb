// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

/// Huge pages of 2 MB: what the kernel has, and what the limits of cgroups leave of it. Files are
/// seen below `root`, so that a test can show another host. Nothing throws.

namespace millrace {

struct HugePages {
  std::uint64_t total = 0;
  std::uint64_t free = 0;  ///< those too that the kernel would make (nr_overcommit_hugepages)
  /// Pages that the tightest cgroup of this process still allows.
  std::uint64_t allowed = UINT64_MAX;
  std::string limit;  ///< file of that cgroup; empty: none limits
};

/// Nothing: this kernel has no pages of 2 MB.
std::optional<HugePages> huge_pages(const std::filesystem::path& root = "/");

/// A mount of hugetlbfs with 2 MB pages. Only drivers of DPDK need one.
struct HugeMount {
  std::string folder;
  std::uint64_t allowed = UINT64_MAX;  ///< pages that its `size=` still allows
};
/// The first; nothing: there is none.
std::optional<HugeMount> huge_mount(const std::filesystem::path& root = "/");

/// Why `wanted` pages are not to be had, and the commands that mend it.
std::string too_few_huge_pages(const HugePages& has, std::uint64_t wanted);

}  // namespace millrace
