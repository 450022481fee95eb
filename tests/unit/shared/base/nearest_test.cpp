// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/base/nearest.hpp"

#include <gtest/gtest.h>

namespace millrace {
namespace {

constexpr std::string_view kNames[] = {"device", "devices", "dispatch", "max"};

TEST(NameDistance, CountsInsertionsDeletionsChangesAndSwaps) {
  EXPECT_EQ(name_distance("", ""), 0u);
  EXPECT_EQ(name_distance("", "abc"), 3u);
  EXPECT_EQ(name_distance("abc", "abc"), 0u);
  EXPECT_EQ(name_distance("abc", "abxc"), 1u);
  EXPECT_EQ(name_distance("abc", "ac"), 1u);
  EXPECT_EQ(name_distance("abc", "axc"), 1u);
  EXPECT_EQ(name_distance("abc", "acb"), 1u);
  EXPECT_EQ(name_distance("kitten", "sitting"), 3u);
}

TEST(NearestName, IsTheOneWithTheFewestChanges) {
  EXPECT_EQ(nearest_of("devcie", kNames), "device");
  EXPECT_EQ(nearest_of("devicess", kNames), "devices");
  EXPECT_EQ(nearest_of("dipsatch", kNames), "dispatch");
  EXPECT_EQ(nearest_of("mex", kNames), "max");
}

TEST(NearestName, IsEmptyWhenMoreThanAThirdDiffers) {
  EXPECT_EQ(nearest_of("colour", kNames), "");
  EXPECT_EQ(nearest_of("mix2", kNames), "");
  EXPECT_EQ(nearest_of("", kNames), "");
  EXPECT_EQ(nearest_of(std::string(1000, 'd'), kNames), "");
}

TEST(NoSuch, SaysWhatThereIsAndWhatWasProbablyMeant) {
  constexpr std::string_view kPorts[] = {"wan", "lan"};
  EXPECT_EQ(no_such("port", "wam", kPorts),
            "no port 'wam'; there are: wan, lan; did you mean 'wan'?");
  EXPECT_EQ(no_such("port", "sink", kPorts), "no port 'sink'; there are: wan, lan");
  EXPECT_EQ(no_such("port", "wan", {}), "no port 'wan'; there are: nothing");
}

TEST(NearestName, OfEqualsIsTheFirst) {
  constexpr std::string_view kEqual[] = {"cat", "car"};
  EXPECT_EQ(nearest_of("cap", kEqual), "cat");
}

TEST(CommaList, SaysNothingForNoNames) {
  EXPECT_EQ(comma_list(kNames), "device, devices, dispatch, max");
  EXPECT_EQ(comma_list({}), "nothing");
}

}  // namespace
}  // namespace millrace
