// What profilers of programs are made of: lists that only grow, and checks that need not throw.
#include <torch/csrc/profiler/containers.h>
#include <torch/csrc/profiler/util.h>

#include "test/support/matchers.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using torch::profiler::impl::AppendOnlyList;

TEST_CASE("an AppendOnlyList keeps its elements where they are", "[profiler]") {
  AppendOnlyList<std::string, 4> list;
  CHECK(list.begin() == list.end());
  std::vector<std::string*> places;
  for (int i = 0; i < 11; ++i) {
    places.push_back(list.emplace_back(std::to_string(i)));
    CHECK(list.size() == places.size());
  }
  size_t i = 0;
  for (std::string& element : list) {
    CHECK(&element == places[i]);
    CHECK(element == std::to_string(i++));
  }
  CHECK(i == 11);
  CHECK_THROWS_AS(*list.end(), c10::Error);
  list.clear();
  CHECK(list.size() == 0);
  CHECK(list.begin() == list.end());
  CHECK(*list.emplace_back("x") == "x");
}

TEST_CASE("an AppendOnlyList takes arrays across its blocks", "[profiler]") {
  AppendOnlyList<int, 4> list;
  const std::vector<int> values = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  list.emplace_back(0);
  list.copy(c10::ArrayRef<int>(values));
  list.copy(c10::ArrayRef<int>());
  list.emplace_back(11);
  int expected = 0;
  for (auto it = list.begin(); it != list.end(); ++it) {
    CHECK(it.address().second == static_cast<size_t>(expected % 4));
    CHECK(*it == expected++);
  }
  CHECK(expected == 12);
}

TEST_CASE("a failed SOFT_ASSERT throws or warns, as is set", "[profiler]") {
  using torch::profiler::impl::setSoftAssertRaises;
  const auto holds = [](bool condition) { return SOFT_ASSERT(condition, "a soft check of ", 3); };
  const bool by_default = torch::profiler::impl::softAssertRaises();
  CHECK(holds(true));
  setSoftAssertRaises(true);
  CHECK(holds(true));
  CHECK_THROWS_MATCHES(holds(false), c10::Error, test::Says("a soft check of 3"));
  setSoftAssertRaises(false);
  CHECK_FALSE(holds(false));
  setSoftAssertRaises(std::nullopt);
  CHECK(torch::profiler::impl::softAssertRaises() == by_default);
}
