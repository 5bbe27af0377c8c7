// Walks of gather and scatter, cut into launches: of small tensors carried out on the host, of huge ones by their
// offsets alone.
#include <aten/native/cuda/OffsetCalculator.h>
#include <aten/native/cuda/index_plan.h>

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <vector>

using at::native::cuda::DimVector;
using at::native::cuda::each_part;
using at::native::cuda::elements_of;
using at::native::cuda::LaunchReach;
using at::native::cuda::simplified;
using at::native::cuda::Walk;
using at::native::cuda::WalkOrder;
using at::native::cuda::WalkPart;
using at::native::cuda::widen_to_words;

namespace {

using Place = std::array<int64_t, 3>; // of the plain element, of the indexed one, of the index

/// The places of all elements, in order, `from` the start on.
std::vector<Place> places_of(const Walk& w, Place from = {}) {
  std::vector<Place> places;
  for (int64_t i = 0; i < elements_of(w); ++i) {
    Place place = from;
    int64_t rest = i;
    for (size_t d = w.sizes.size(); d-- > 0;) {
      const int64_t at = rest % w.sizes[d];
      rest /= w.sizes[d];
      place[0] += at * w.plain[d];
      place[1] += at * w.indexed[d];
      place[2] += at * w.index_strides[d];
    }
    places.push_back(place);
  }
  return places;
}

std::vector<Place> sorted(std::vector<Place> places) {
  std::sort(places.begin(), places.end());
  return places;
}

bool fits(const Walk& w, const LaunchReach& reach) {
  int64_t far[3] = {0, 0, 0}, rank = 0;
  for (size_t d = 0; d < w.sizes.size(); ++d) {
    far[0] += (w.sizes[d] - 1) * w.plain[d];
    far[1] += (w.sizes[d] - 1) * w.indexed[d];
    far[2] += (w.sizes[d] - 1) * w.index_strides[d];
    rank += w.sizes[d] > 1 ? 1 : 0;
  }
  return elements_of(w) <= reach.elements && *std::max_element(far, far + 3) <= reach.offset &&
      rank <= at::native::cuda::kMaxDims;
}

Walk drawn_walk(std::mt19937& random) {
  Walk w{"test", {}, {}, {}, {}, 5, 7};
  int64_t plain = 1, indexed = 1, index = 1;
  for (int d = static_cast<int>(random() % 5); d > 0; --d) {
    const int64_t size = 1 + static_cast<int64_t>(random() % 5);
    const bool bound = random() % 2 == 0, broadcast = random() % 3 == 0;
    w.sizes.insert(w.sizes.begin(), size);
    w.plain.insert(w.plain.begin(), plain);
    w.indexed.insert(w.indexed.begin(), bound ? 0 : indexed);
    w.index_strides.insert(w.index_strides.begin(), broadcast ? 0 : index);
    plain *= size + static_cast<int64_t>(random() % 2);
    indexed *= bound ? 1 : size;
    index *= broadcast ? 1 : size;
  }
  return w;
}

} // namespace

TEST_CASE("walks of gather and scatter are cut into parts that have all elements", "[cuda]") {
  std::mt19937 random(3);
  for (int i = 0; i < 2000; ++i) {
    const Walk w = drawn_walk(random);
    const LaunchReach reach{1 + static_cast<int64_t>(random() % 9), static_cast<int64_t>(random() % 20)};
    for (const WalkOrder order : {WalkOrder::Any, WalkOrder::OfElements}) {
      const Walk simple = simplified(w, order);
      CHECK(sorted(places_of(simple)) == sorted(places_of(w)));
      std::vector<Place> places;
      each_part(simple, order, reach, [&](const WalkPart& part) {
        REQUIRE(fits(part.walk, reach));
        const std::vector<Place> more = places_of(part.walk, {part.plain, part.indexed, part.index});
        places.insert(places.end(), more.begin(), more.end());
      });
      CHECK(sorted(places) == sorted(places_of(w)));
      if (order == WalkOrder::OfElements) {
        // What may meet at one place comes in its order.
        std::map<int64_t, std::vector<Place>> want, got;
        for (const Place& place : places_of(w)) {
          want[place[1]].push_back(place);
        }
        for (const Place& place : places) {
          got[place[1]].push_back(place);
        }
        CHECK(got == want);
      }
    }
  }
}

TEST_CASE("walks beyond 2^31 elements are cut into few launches", "[cuda]") {
  const int64_t giga = int64_t{1} << 30;
  struct Case {
    Walk walk;
    int most;
  };
  const Case cases[] = {
      {{"rows", {3 * giga, 2}, {2, 1}, {0, 1}, {1, 0}, 9, 2}, 4}, // index_select of short rows
      {{"elements", {6 * giga}, {1}, {0}, {1}, 9, 1}, 4}, // take
      {{"transposed", {3 * giga, 4}, {1, 3 * giga}, {0, 3 * giga}, {1, 0}, 9, 1}, 8},
      {{"one for all", {8 * giga}, {0}, {0}, {0}, 9, 1}, 8},
      {{"thirteen dimensions",
        DimVector(13, 2),
        {1, 3, 9, 27, 81, 243, 729, 2187, 6561, 19683, 59049, 177147, 531441},
        DimVector(13, 0),
        DimVector(13, 0),
        9,
        1},
       2},
  };
  for (const auto& [walk, most] : cases) {
    for (const WalkOrder order : {WalkOrder::Any, WalkOrder::OfElements}) {
      INFO(walk.op);
      int parts = 0;
      int64_t elements = 0;
      each_part(simplified(walk, order), order, {}, [&](const WalkPart& part) {
        ++parts;
        elements += elements_of(part.walk);
        CHECK(fits(part.walk, {}));
      });
      CHECK(parts <= most);
      CHECK(elements == elements_of(walk));
    }
  }
}

TEST_CASE("neighbouring dimensions of a walk become one, and rows lie as in memory", "[cuda]") {
  // index_select along the first dimension of 5 x 4 x 6 elements.
  const Walk rows =
      simplified({"rows", {9, 4, 1, 6}, {24, 6, 6, 1}, {0, 6, 6, 1}, {1, 0, 0, 0}, 5, 24}, WalkOrder::Any);
  CHECK(rows.sizes == DimVector{9, 24});
  CHECK(rows.plain == DimVector{24, 1});
  CHECK(rows.indexed == DimVector{0, 1});
  CHECK(rows.index_strides == DimVector{1, 0});
  // The same with channels last in both.
  const Walk turned = simplified({"turned", {9, 6, 4}, {24, 1, 6}, {0, 1, 6}, {1, 0, 0}, 5, 24}, WalkOrder::Any);
  CHECK(turned.sizes == DimVector{9, 24});
}

TEST_CASE("aligned rows are moved 16 bytes at a time", "[cuda]") {
  alignas(16) static char memory[32];
  const auto word = [](int64_t row, int64_t stride, std::size_t itemsize, const char* from) {
    Walk w{"rows", {9, row}, {row, 1}, {0, 1}, {1, 0}, 5, stride};
    const std::size_t size = widen_to_words(w, itemsize, memory, from);
    const auto elements = static_cast<int64_t>(size / itemsize);
    CHECK(w.sizes == DimVector{9, row / elements});
    CHECK(w.plain == DimVector{row / elements, 1});
    CHECK(w.step == stride / elements);
    return size;
  };
  CHECK(word(768, 768, 2, memory) == 16);
  CHECK(word(768, 768, 4, memory) == 16);
  CHECK(word(768, 770, 2, memory) == 4); // of a wider table
  CHECK(word(6, 6, 4, memory) == 8);
  CHECK(word(5, 5, 4, memory) == 4);
  CHECK(word(768, 768, 2, memory + 8) == 8);
  CHECK(word(768, 768, 16, memory) == 16);
  CHECK(word(48, 48, 1, memory) == 16);
  Walk columns{"columns", {9, 4}, {4, 1}, {1, 0}, {0, 1}, 5, 9};
  CHECK(widen_to_words(columns, 4, memory, memory) == 4); // one element of each row
}
