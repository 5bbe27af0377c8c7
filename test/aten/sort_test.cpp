// Order, stability, NaN and ties of sorting and selection, against the standard library.
#include <catch2/catch.hpp>

#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <aten/parallel/Parallel.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

using at::Tensor;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Values with many repeats, both zeros, infinities and, for floating dtypes, NaNs.
template <class T>
std::vector<T> rough(int64_t count, uint64_t state) {
  std::vector<T> result(count);
  for (auto& value : result) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    const auto draw = static_cast<int64_t>(state >> 40);
    if constexpr (std::is_floating_point_v<T>) {
      value = draw % 17 == 0 ? static_cast<T>(kNan)
          : draw % 13 == 0   ? (draw % 2 ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity())
          : draw % 11 == 0   ? (draw % 2 ? T(-0.0) : T(0.0))
                             : static_cast<T>(draw % 101 - 50) / T(4);
    } else {
      value = static_cast<T>(draw);
    }
  }
  return result;
}

template <class T>
Tensor tensor_of(const std::vector<T>& data) {
  Tensor result = at::empty({static_cast<int64_t>(data.size())}, c10::CppTypeToScalarType<T>::value);
  std::copy(data.begin(), data.end(), result.template data_ptr<T>());
  return result;
}

template <class T>
bool before(T a, T b) {
  return a < b || (b != b && a == a);
}

template <class T>
std::vector<int64_t> naive_order(const std::vector<T>& data, bool descending) {
  std::vector<int64_t> order(data.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return descending ? before(data[b], data[a]) : before(data[a], data[b]);
  });
  return order;
}

std::vector<int64_t> places(const Tensor& t) {
  const Tensor flat = t.contiguous();
  return {flat.data_ptr<int64_t>(), flat.data_ptr<int64_t>() + flat.numel()};
}

} // namespace

TEMPLATE_TEST_CASE(
    "sort is stable, with NaN as the largest value",
    "[sort]",
    uint8_t,
    int8_t,
    int16_t,
    int32_t,
    int64_t,
    float,
    double) {
  for (const int64_t count : {1, 2, 17, 100, 700, 5000}) {
    const auto data = rough<TestType>(count, 99 + count);
    const Tensor x = tensor_of(data);
    for (const bool descending : {false, true}) {
      const auto want = naive_order(data, descending);
      const auto got = at::sort(x, /*stable=*/true, 0, descending);
      CHECK(places(std::get<1>(got)) == want);
      const Tensor gathered = x.index_select(0, std::get<1>(got));
      CHECK(std::memcmp(gathered.data_ptr(), std::get<0>(got).data_ptr(), count * sizeof(TestType)) == 0);
    }
  }
}

TEST_CASE("one long row sorts the same on one thread and on four", "[sort]") {
  const auto data = rough<float>(300'000, 5);
  const Tensor x = tensor_of(data);
  const int before_threads = at::get_num_threads();
  at::set_num_threads(1);
  const auto one = places(std::get<1>(x.sort(0, false)));
  at::set_num_threads(4);
  const auto four = places(std::get<1>(x.sort(0, false)));
  at::set_num_threads(before_threads);
  CHECK(one == four);
  CHECK(one == naive_order(data, false));
}

TEST_CASE("integers of 64 bits sort by keys that fit a word beside their place, and by those that do not", "[sort]") {
  const int bits = GENERATE(0, 1, 9, 30, 45, 46, 47, 63, 64); // 17 bits are left for the place beside 47
  const bool descending = GENERATE(false, true);
  const int64_t count = GENERATE(1, 2, 400, 100'000);
  std::vector<int64_t> data(count);
  uint64_t state = 11;
  for (auto& value : data) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    const uint64_t draw = bits == 0 ? 0 : (state ^ (state >> 32)) >> (64 - bits);
    value = static_cast<int64_t>(draw - (bits == 0 ? 0 : uint64_t{1} << (bits - 1)));
  }
  const auto order = naive_order(data, descending);
  const auto got = at::sort(tensor_of(data), /*stable=*/true, 0, descending);
  CHECK(places(std::get<1>(got)) == order);
  const auto sorted = places(std::get<0>(got));
  CHECK(std::equal(
      order.begin(), order.end(), sorted.begin(), [&](int64_t place, int64_t value) { return data[place] == value; }));
}

TEST_CASE("sort along any dimension of any layout", "[sort]") {
  const Tensor base = tensor_of(rough<double>(4 * 30 * 7, 3)).view({4, 30, 7});
  for (const Tensor& x : {base, base.permute({2, 0, 1}), base.slice(1, 0, 30, 2)}) {
    for (int64_t dim = 0; dim < 3; ++dim) {
      const auto got = x.sort(dim, true);
      CHECK(std::get<0>(got).sizes() == x.sizes());
      const auto want = x.movedim(dim, -1).contiguous().sort(-1, true);
      CHECK(std::get<1>(got).movedim(dim, -1).equal(std::get<1>(want)));
    }
  }
}

TEMPLATE_TEST_CASE("topk and kthvalue agree with sort", "[sort]", int16_t, int64_t, float, double) {
  for (const int64_t count : {1, 9, 600, 20'000}) {
    const auto data = rough<TestType>(count, 7 * count);
    const Tensor x = tensor_of(data);
    for (const int64_t k : {int64_t{1}, count / 3, count}) {
      for (const bool largest : {false, true}) {
        const auto order = naive_order(data, largest);
        const auto got = x.topk(k, 0, largest, true);
        const Tensor want = x.index_select(0, tensor_of(std::vector<int64_t>(order.begin(), order.begin() + k)));
        CHECK(at::allclose(std::get<0>(got), want, 0, 0, /*equal_nan=*/true));
        CHECK(at::allclose(x.index_select(0, std::get<1>(got)), want, 0, 0, /*equal_nan=*/true));
      }
      if (k > 0) {
        const auto order = naive_order(data, false);
        const auto got = x.kthvalue(k, 0);
        const Tensor want = x[order[k - 1]];
        CHECK(at::allclose(std::get<0>(got), want, 0, 0, /*equal_nan=*/true));
      }
    }
  }
}

TEST_CASE("median is the lower middle; NaN decides it unless ignored", "[sort]") {
  const Tensor x = tensor_of(std::vector<double>{5, 1, 4, 2});
  CHECK(x.median().item<double>() == 2);
  CHECK(std::get<1>(x.median(0)).item<int64_t>() == 3);
  const Tensor y = tensor_of(std::vector<double>{5, kNan, 4, kNan, 1});
  CHECK(std::isnan(y.median().item<double>()));
  CHECK(std::get<1>(y.median(0)).item<int64_t>() == 1);
  CHECK(y.nanmedian().item<double>() == 4);
  CHECK(std::isnan(tensor_of(std::vector<double>{kNan, kNan}).nanmedian().item<double>()));
}

TEST_CASE("of equal elements kthvalue and mode name the one that PyTorch names", "[sort]") {
  const at::Tensor x = at::arange(24).mul(7).remainder(5).to(at::kFloat);
  const std::vector<int64_t> places{0,  20, 5, 10, 15, 18, 13, 23, 8, 3,  16, 21,
                                    11, 6,  1, 19, 9,  14, 4,  22, 7, 17, 2,  12};
  for (int64_t k = 1; k <= 24; ++k) {
    CHECK(std::get<1>(x.kthvalue(k)).item<int64_t>() == places[k - 1]);
  }
  const at::Tensor rows = std::get<1>(x.view({2, 12}).kthvalue(6, 1));
  CHECK(rows[0].item<int64_t>() == 11);
  CHECK(rows[1].item<int64_t>() == 9);
  const at::Tensor z = at::arange(40).mul(11).remainder(6);
  CHECK(std::get<1>(z.mode()).item<int64_t>() == 24);
  CHECK(std::get<1>(z.to(at::kDouble).mode()).item<int64_t>() == 24);
  CHECK(std::get<1>(z.slice(0, 0, 17).mode()).item<int64_t>() == 12);
}

TEST_CASE("NaNs of a short row keep mode from seeing what is behind them, as in PyTorch", "[sort]") {
  const auto place = [](std::vector<double> values) { return std::get<1>(tensor_of(values).mode()).item<int64_t>(); };
  CHECK(place({2, kNan, 1, 1, kNan}) == 2);
  CHECK(place({kNan, 1, 1, kNan}) == 2);
  CHECK(place({kNan, 2, 1}) == 0);
  CHECK(place({2, 2, kNan, kNan, kNan}) == 1);
}

TEST_CASE("isin takes bfloat16", "[sort]") {
  const Tensor x = tensor_of(std::vector<float>{1, 2, 3}).to(at::kBFloat16);
  CHECK(at::isin(x, x.slice(0, 1)).equal(tensor_of(std::vector<float>{0, 1, 1}).to(at::kBool)));
}

TEST_CASE("mode is the smallest of the most frequent values", "[sort]") {
  const Tensor x = tensor_of(std::vector<double>{3, 1, 3, 1, 2});
  CHECK(std::get<0>(x.mode(0)).item<double>() == 1);
  CHECK(std::get<1>(x.mode(0)).item<int64_t>() == 3);
}

TEST_CASE("unique finds values, places and counts", "[sort][unique]") {
  const Tensor x = tensor_of(std::vector<int64_t>{3, 1, 3, 2, 1, 3});
  const auto [value, inverse, counts] = at::_unique2(x, true, true, true);
  CHECK(places(value) == std::vector<int64_t>{1, 2, 3});
  CHECK(places(inverse) == std::vector<int64_t>{2, 0, 2, 1, 0, 2});
  CHECK(places(counts) == std::vector<int64_t>{2, 1, 3});
  const auto runs = at::unique_consecutive(tensor_of(std::vector<int64_t>{1, 1, 2, 2, 2, 1}), true, true);
  CHECK(places(std::get<0>(runs)) == std::vector<int64_t>{1, 2, 1});
  CHECK(places(std::get<2>(runs)) == std::vector<int64_t>{2, 3, 1});
  const Tensor rows = tensor_of(std::vector<int64_t>{1, 2, 0, 1, 1, 2}).view({3, 2});
  const auto by_row = at::unique_dim(rows, 0, true, true, true);
  CHECK(places(std::get<0>(by_row)) == std::vector<int64_t>{0, 1, 1, 2});
  CHECK(places(std::get<1>(by_row)) == std::vector<int64_t>{1, 0, 1});
  const Tensor nans = tensor_of(std::vector<double>{kNan, 1, kNan});
  CHECK(std::get<0>(at::_unique2(nans)).numel() == 3);
}

TEST_CASE("unique of a long tensor does not depend on the number of threads", "[sort][unique]") {
  const int threads = at::get_num_threads();
  at::manual_seed(6);
  Tensor numbers = at::randint(-2000, 2000, {300'001}, at::kFloat);
  numbers.slice(0, 100, 103).fill_(kNan);
  for (const Tensor& x :
       {numbers, at::randint(-40'000, 40'000, {300'001}), at::randn({150'000}, at::kDouble), at::zeros({200'000})}) {
    at::set_num_threads(1);
    const auto [value, inverse, counts] = at::_unique2(x, true, true, true);
    CHECK(at::equal(value.index_select(0, inverse).nan_to_num(9e9), x.nan_to_num(9e9)));
    CHECK(counts.sum().item<int64_t>() == x.numel());
    for (const int count : {2, 3, 5}) {
      at::set_num_threads(count);
      const auto [other_value, other_inverse, other_counts] = at::_unique2(x, true, true, true);
      CHECK(at::equal(other_value.nan_to_num(9e9), value.nan_to_num(9e9)));
      CHECK(at::equal(other_inverse, inverse));
      CHECK(at::equal(other_counts, counts));
    }
  }
  at::set_num_threads(threads);
}

TEST_CASE("searchsorted finds the left and the right end of equal values", "[sort]") {
  const Tensor edges = tensor_of(std::vector<double>{1, 3, 3, 5});
  const Tensor wanted = tensor_of(std::vector<double>{0, 3, 6, kNan});
  CHECK(places(at::searchsorted(edges, wanted)) == std::vector<int64_t>{0, 1, 4, 4});
  CHECK(places(at::searchsorted(edges, wanted, false, true)) == std::vector<int64_t>{0, 3, 4, 4});
  CHECK(at::bucketize(wanted, edges, /*out_int32=*/true).scalar_type() == at::kInt);
}

TEST_CASE("topk of a long row does not depend on the number of threads", "[sort]") {
  const int threads = at::get_num_threads();
  at::manual_seed(5);
  const at::Tensor x = at::randint(-2000, 2000, {300'001}, at::kFloat); // with many ties
  x.slice(0, 100, 103).fill_(NAN);
  const at::Tensor narrow = at::stack({x, -x}, 1).select(1, 1);
  for (const bool largest : {false, true}) {
    for (const int64_t k : {1, 5, 3000, 30'000}) {
      at::set_num_threads(1);
      const auto want = narrow.topk(k, 0, largest);
      at::set_num_threads(3);
      const auto got = narrow.topk(k, 0, largest);
      CHECK(std::get<0>(got).equal(std::get<0>(want)) == !largest); // NaN is equal to nothing
      CHECK(std::get<1>(got).equal(std::get<1>(want)));
      CHECK(
          std::get<1>(got).slice(0, 0, 1).equal(std::get<1>(narrow.sort(/*stable=*/true, 0, largest)).slice(0, 0, 1)));
    }
  }
  at::set_num_threads(threads);
}
