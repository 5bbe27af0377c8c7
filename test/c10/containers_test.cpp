// ArrayRef, SmallVector and the hash maps.

#include <c10/util/ArrayRef.h>
#include <c10/util/DimVector.h>
#include <c10/util/OptionalArrayRef.h>
#include <c10/util/SmallVector.h>
#include <c10/util/flat_hash_map.h>
#include <c10/util/hash.h>
#include <c10/util/order_preserving_flat_hash_map.h>
#include <c10/util/string_view.h>

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

using namespace c10;

namespace {

int64_t count_of(OptionalIntArrayRef values) {
  return values.has_value() ? static_cast<int64_t>(values->size()) : -1;
}

} // namespace

TEST_CASE("an ArrayRef is made from anything contiguous", "[c10][array_ref]") {
  const std::vector<int64_t> vector = {1, 2, 3};
  const std::array<int64_t, 2> array = {4, 5};
  const int64_t plain[] = {6};
  const DimVector dims = {7, 8};
  CHECK(IntArrayRef(vector).size() == 3);
  CHECK(IntArrayRef(array).back() == 5);
  CHECK(IntArrayRef(plain).front() == 6);
  CHECK(IntArrayRef(dims)[1] == 8);
  CHECK(IntArrayRef().empty());
  CHECK(IntArrayRef(vector) == vector);
  CHECK(vector == IntArrayRef(vector));
  CHECK(IntArrayRef(dims) == dims);
  CHECK(IntArrayRef(vector) != IntArrayRef(array));
  CHECK(IntArrayRef(vector).slice(1) == std::vector<int64_t>{2, 3});
  CHECK(IntArrayRef(vector).slice(1, 1).vec() == std::vector<int64_t>{2});
  CHECK(IntArrayRef(vector).allMatch([](int64_t v) { return v > 0; }));
  CHECK_THROWS_AS(IntArrayRef(vector).at(3), IndexError);
  CHECK_THROWS_AS(IntArrayRef(vector).slice(2, 2), IndexError);
  CHECK_THROWS_AS(IntArrayRef().front(), IndexError);
}

TEST_CASE("an OptionalArrayRef takes braces, single values and nullopt", "[c10][array_ref]") {
  const std::vector<int64_t> vector = {1, 2, 3};
  CHECK(count_of({1, 2}) == 2);
  CHECK(count_of(5) == 1);
  CHECK(count_of(vector) == 3);
  CHECK(count_of(std::nullopt) == -1);
  CHECK(count_of({}) == -1);
  CHECK(count_of(std::optional<IntArrayRef>(vector)) == 3);
  CHECK(count_of(std::optional<std::vector<int64_t>>()) == -1);
}

TEST_CASE("a SmallVector behaves like a vector, small or large", "[c10][small_vector]") {
  // Random operations on both; strings show mistakes of construction and destruction to the sanitizers.
  std::mt19937 engine(4);
  SmallVector<std::string, 3> small;
  std::vector<std::string> reference;
  for (int step = 0; step < 3000; ++step) {
    const std::string value = "a string too long for the inline buffer " + std::to_string(step);
    const size_t at = reference.empty() ? 0 : engine() % reference.size();
    const auto offset = static_cast<std::ptrdiff_t>(at);
    switch (engine() % 9) {
      case 0:
      case 1:
        small.push_back(value);
        reference.push_back(value);
        break;
      case 2:
        small.insert(small.begin() + offset, value);
        reference.insert(reference.begin() + offset, value);
        break;
      case 3:
        if (!reference.empty()) {
          small.erase(small.begin() + offset);
          reference.erase(reference.begin() + offset);
        }
        break;
      case 4:
        small.resize(engine() % 8, value);
        reference.resize(small.size(), value);
        break;
      case 5: {
        SmallVector<std::string, 3> copy(small);
        small = std::move(copy);
        break;
      }
      case 6:
        if (!reference.empty()) {
          small.push_back(small.front());
          reference.push_back(std::string(reference.front()));
        }
        break;
      case 7: {
        SmallVector<std::string, 3> other = {"x"};
        std::swap(small, other);
        std::swap(other, small);
        break;
      }
      case 8:
        small.insert(small.begin() + offset, 2, value);
        reference.insert(reference.begin() + offset, 2, value);
        break;
    }
    REQUIRE(small.size() == reference.size());
    REQUIRE(std::equal(small.begin(), small.end(), reference.begin()));
  }
}

TEST_CASE("a SmallVector holds what cannot be copied", "[c10][small_vector]") {
  SmallVector<std::unique_ptr<int>, 2> pointers;
  for (int i = 0; i < 5; ++i) {
    pointers.push_back(std::make_unique<int>(i));
  }
  auto moved = std::move(pointers);
  CHECK(*moved[4] == 4);
  CHECK(*moved.pop_back_val() == 4);
  CHECK(moved.size() == 4);
  CHECK(pointers.empty());
  pointers.push_back(std::make_unique<int>(9));
  CHECK(*pointers.front() == 9);
}

TEST_CASE("SmallVector checks and converts", "[c10][small_vector]") {
  DimVector dims(3, 7);
  CHECK(dims == DimVector{7, 7, 7});
  CHECK_THROWS_AS(dims.at(3), IndexError);
  CHECK(DimVector(IntArrayRef({1, 2})) == DimVector{1, 2});
  const std::vector<int> ints = {1, 2, 3, 4, 5, 6, 7};
  const DimVector from_range(ints.begin(), ints.end());
  CHECK(from_range.size() == 7);
  CHECK(str(from_range) == "[1, 2, 3, 4, 5, 6, 7]");
  SmallVectorImpl<int64_t>& any = dims;
  any.assign({4, 5});
  CHECK(dims == DimVector{4, 5});
  CHECK(sizeof(DimVector) == 16 + 5 * sizeof(int64_t));
}

TEST_CASE("flat_hash_map agrees with std::map", "[c10][flat_hash_map]") {
  std::mt19937 engine(5);
  ska::flat_hash_map<int, std::string> map;
  std::map<int, std::string> reference;
  for (int step = 0; step < 20000; ++step) {
    const int key = static_cast<int>(engine() % 500) * 64; // multiples of 64 collide under a poor hash
    switch (engine() % 4) {
      case 0:
      case 1:
        map[key] = std::to_string(step);
        reference[key] = std::to_string(step);
        break;
      case 2:
        REQUIRE(map.erase(key) == reference.erase(key));
        break;
      case 3:
        REQUIRE(map.count(key) == reference.count(key));
        break;
    }
    REQUIRE(map.size() == reference.size());
  }
  size_t seen = 0;
  for (const auto& [key, value] : map) {
    REQUIRE(reference.at(key) == value);
    ++seen;
  }
  CHECK(seen == reference.size());
  CHECK(map == ska::flat_hash_map<int, std::string>(map));
  CHECK_THROWS_AS(map.at(-1), std::out_of_range);
  ska::flat_hash_map<int, std::string> empty;
  CHECK(empty.begin() == empty.end());
  CHECK(empty.find(3) == empty.end());
}

TEST_CASE("the ordered map keeps the order of insertion", "[c10][flat_hash_map]") {
  ska_ordered::order_preserving_flat_hash_map<std::string, int> map;
  for (const char* key : {"z", "a", "m", "b"}) {
    map.emplace(key, static_cast<int>(map.size()));
  }
  const auto keys = [&] {
    std::string text;
    for (const auto& entry : map) {
      text += entry.first;
    }
    return text;
  };
  CHECK(keys() == "zamb");
  CHECK_FALSE(map.emplace("a", 9).second);
  map.insert_or_assign("a", 7);
  CHECK(map.at("a") == 7);
  CHECK(map.erase("m") == 1);
  map["m"] = 4;
  CHECK(keys() == "zabm");
  auto copy = map;
  map.clear();
  CHECK(copy.size() == 4);
  CHECK(copy.find("b")->second == 3);
  CHECK(map.find("b") == map.end());
}

TEST_CASE("hash maps take hashes and comparisons whose call operator is not const", "[c10][flat_hash_map]") {
  struct SameHash {
    size_t operator()(const int&) {
      return 7;
    }
  };
  struct SameValue {
    bool operator()(const int& a, const int& b) {
      return a == b;
    }
  };
  ska_ordered::order_preserving_flat_hash_map<int, int, SameHash, SameValue> map;
  for (int i = 0; i < 100; ++i) {
    map[i] = 2 * i;
  }
  CHECK(map.erase(3) == 1);
  CHECK(map.size() == 99);
  CHECK(map.find(3) == map.end());
  CHECK(std::as_const(map).find(99)->second == 198);
  ska::flat_hash_map<int, int, SameHash, SameValue> unordered;
  for (int i = 0; i < 100; ++i) {
    unordered[i] = 2 * i;
  }
  CHECK(unordered.erase(3) == 1);
  CHECK(unordered.find(99)->second == 198);
}

TEST_CASE("hashes of compound values differ with their parts", "[c10][hash]") {
  using Key = std::tuple<int, std::string>;
  CHECK(c10::hash<Key>()(Key(1, "a")) == c10::hash<Key>()(Key(1, "a")));
  CHECK(c10::hash<Key>()(Key(1, "a")) != c10::hash<Key>()(Key(2, "a")));
  CHECK(c10::hash<std::vector<int64_t>>()({1, 2}) == c10::hash<IntArrayRef>()(IntArrayRef({1, 2})));
  CHECK(c10::get_hash(1, 2) != c10::get_hash(2, 1));
}

TEST_CASE("maps of strings are searched by string views", "[c10][string_view]") {
  const std::unordered_map<std::string, int, TransparentStringHash, std::equal_to<>> map = {{"one", 1}, {"two", 2}};
  const c10_string_view text = "two, three";
  CHECK(map.find(text.substr(0, 3))->second == 2);
  CHECK(map.count(text) == 0);
}
