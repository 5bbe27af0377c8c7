// What the operator table cannot see of reductions: accuracy, order, layouts of every kind, NaN and ties.
#include <catch2/catch.hpp>

#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <aten/parallel/Parallel.h>

#include <cmath>
#include <limits>
#include <vector>

using at::Tensor;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Deterministic values in [-1, 1) without the random generator.
Tensor noise(at::IntArrayRef sizes, at::ScalarType dtype = at::kFloat) {
  int64_t count = 1;
  for (const int64_t size : sizes) {
    count *= size;
  }
  Tensor result = at::empty({count}, at::kDouble);
  double* data = result.data_ptr<double>();
  uint64_t state = 12345;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    data[i] = static_cast<double>(state >> 11) / 9007199254740992.0 * 2 - 1;
  }
  return result.view(sizes).to(dtype);
}

std::vector<double> numbers(const Tensor& t) {
  const Tensor flat = t.to(at::kDouble).contiguous();
  return std::vector<double>(flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel());
}

// Element-by-element sums in long double: nothing in common with the kernels.
std::vector<double> naive_sum(const Tensor& self, const std::vector<bool>& reduced) {
  const Tensor flat = self.to(at::kDouble).contiguous();
  const double* data = flat.data_ptr<double>();
  int64_t outputs = 1;
  for (int64_t d = 0; d < self.dim(); ++d) {
    outputs *= reduced[d] ? 1 : self.size(d);
  }
  std::vector<long double> sums(outputs, 0);
  for (int64_t i = 0; i < self.numel(); ++i) {
    int64_t rest = i;
    int64_t place = 0;
    int64_t step = 1;
    for (int64_t d = self.dim() - 1; d >= 0; --d) {
      if (!reduced[d]) {
        place += rest % self.size(d) * step;
        step *= self.size(d);
      }
      rest /= self.size(d);
    }
    sums[place] += data[i];
  }
  return {sums.begin(), sums.end()};
}

void check_close(const Tensor& got, const std::vector<double>& want, double tolerance) {
  const auto have = numbers(got);
  REQUIRE(have.size() == want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    REQUIRE(std::abs(have[i] - want[i]) <= tolerance * (1 + std::abs(want[i])));
  }
}

} // namespace

TEST_CASE("a sum of ten million floats keeps nearly all of its digits", "[reduce]") {
  const int64_t count = 10'000'000;
  const Tensor x = noise({count}).add_(0.5);
  long double want = 0;
  const float* data = x.data_ptr<float>();
  for (int64_t i = 0; i < count; ++i) {
    want += data[i];
  }
  CHECK(std::abs(x.sum().item<float>() - static_cast<double>(want)) < 1e-6 * static_cast<double>(want));
  CHECK(std::abs(x.mean().item<float>() - static_cast<double>(want / count)) < 1e-6);
  CHECK(at::full({count}, 0.1f).sum().item<float>() == Approx(count * 0.1).epsilon(1e-6));
  CHECK(x.view({1000, 10000}).sum(0).sum().item<float>() == Approx(static_cast<double>(want)).epsilon(1e-6));
}

TEST_CASE("a reduction does not depend on the number of threads", "[reduce]") {
  const Tensor x = noise({3, 400'001});
  const Tensor columns = noise({300'001, 7});
  const int before = at::get_num_threads();
  at::set_num_threads(1);
  const auto rows_one = numbers(x.sum(1));
  const auto columns_one = numbers(columns.sum(0));
  const auto var_one = numbers(columns.var(at::IntArrayRef{0}));
  at::set_num_threads(4);
  CHECK(numbers(x.sum(1)) == rows_one);
  CHECK(numbers(columns.sum(0)) == columns_one);
  CHECK(numbers(columns.var(at::IntArrayRef{0})) == var_one);
  at::set_num_threads(before);
}

TEST_CASE("sums agree with plain loops for every layout and choice of dimensions", "[reduce]") {
  const Tensor base = noise({7, 12, 33, 5});
  const std::vector<Tensor> layouts = {
      base,
      base.permute({2, 0, 3, 1}),
      base.permute({3, 2, 1, 0}),
      base.slice(1, 1, 12, 2).slice(3, 0, 5, 3),
      base.slice(0, 2, 3).expand({4, 12, 33, 5}),
      noise({3, 1, 70, 9}).permute({1, 3, 0, 2}),
  };
  for (const auto& x : layouts) {
    for (int bits = 1; bits < 16; ++bits) {
      std::vector<int64_t> dims;
      std::vector<bool> reduced(4);
      for (int d = 0; d < 4; ++d) {
        if ((bits >> d) & 1) {
          dims.push_back(d);
          reduced[d] = true;
        }
      }
      const auto want = naive_sum(x, reduced);
      check_close(x.sum(dims), want, 1e-5);
      check_close(x.sum(dims, /*keepdim=*/true), want, 1e-5);
      check_close(x.to(at::kDouble).sum(dims), want, 1e-12);
      const auto squares = naive_sum(x * x, reduced);
      std::vector<double> norms;
      for (const double s : squares) {
        norms.push_back(std::sqrt(s));
      }
      check_close(at::linalg_vector_norm(x, 2, dims), norms, 1e-5);
    }
  }
}

TEST_CASE("long columns, narrow columns and long rows", "[reduce]") {
  for (const auto& sizes :
       std::vector<std::vector<int64_t>>{{5000, 3}, {5000, 1}, {3, 5000}, {70'000, 8}, {200, 1500}, {1, 9}}) {
    const Tensor x = noise(sizes);
    check_close(x.sum(0), naive_sum(x, {true, false}), 1e-5);
    check_close(x.sum(1), naive_sum(x, {false, true}), 1e-5);
    check_close(x.t().sum(0), naive_sum(x, {false, true}), 1e-5);
  }
}

TEST_CASE("half precision adds up in float", "[reduce]") {
  const Tensor ones = at::ones({4096}, at::kHalf);
  CHECK(ones.sum().item<float>() == 4096.f);
  CHECK(at::ones({70'000}, at::kBFloat16).mean().item<float>() == 1.f);
  CHECK(at::ones({100'000}, at::kHalf).sum(at::IntArrayRef{}, false, at::kFloat).item<float>() == 100'000.f);
}

TEST_CASE("half is read by vectors as it is one by one", "[reduce]") {
  at::manual_seed(1);
  const auto sizes = GENERATE(
      std::vector<int64_t>{7, 3}, std::vector<int64_t>{40, 37}, std::vector<int64_t>{3000, 5},
      std::vector<int64_t>{9, 2500}, std::vector<int64_t>{130, 700});
  // Small integers, whose sums are exact in any order.
  const Tensor values = at::randint(-4, 5, {sizes[0], 2 * sizes[1]}, at::kHalf);
  const Tensor strided = values.slice(1, 0, 2 * sizes[1], 2), rows = strided.contiguous(),
               columns = rows.t().contiguous().t();
  for (const Tensor& x : {rows, columns, strided}) {
    const Tensor wide = x.to(at::kFloat);
    CHECK(at::equal(x.sum(), wide.sum().to(at::kHalf)));
    for (const int64_t dim : {0, 1}) {
      INFO(x.sizes() << " strides " << x.strides() << " dim " << dim);
      CHECK(at::equal(x.sum(dim), wide.sum(dim).to(at::kHalf)));
      CHECK(at::equal(x.amax(dim), wide.amax(dim).to(at::kHalf)));
      CHECK(at::equal(x.amin(dim), wide.amin(dim).to(at::kHalf)));
      CHECK(at::equal(x.argmax(dim), wide.argmax(dim)));
      CHECK(at::equal(x.norm(2, dim), wide.norm(2, dim).to(at::kHalf)));
      const at::IntArrayRef dims(dim);
      CHECK(at::allclose(x.var(dims, true).to(at::kFloat), wide.var(dims, true), 1e-3));
    }
  }
}

TEST_CASE("bytes have their extrema in rows of any length", "[reduce]") {
  for (int64_t count = 1; count < 200; ++count) {
    Tensor x = at::full({count}, 100, at::kByte);
    x[count / 2].fill_(200);
    CHECK(x.max().item<int64_t>() == 200);
    x[count - 1].fill_(3);
    CHECK(x.min().item<int64_t>() == 3);
  }
  for (const auto dtype : {at::kByte, at::kChar, at::kShort, at::kLong}) {
    for (const int64_t count : {2049, 70'000}) {
      for (const int64_t place : {int64_t{0}, int64_t{63}, int64_t{2048}, count - 1}) {
        Tensor x = at::full({count}, 50, dtype);
        x[place].fill_(100);
        CHECK(x.max().item<int64_t>() == 100);
        CHECK(x.argmax().item<int64_t>() == place);
        x[place].fill_(3);
        CHECK(x.min().item<int64_t>() == 3);
        CHECK(x.argmin().item<int64_t>() == place);
      }
    }
  }
}

TEST_CASE("integer sums are int64, and wrap in the dtype asked for", "[reduce]") {
  const Tensor x = at::full({300}, 100, at::kByte);
  CHECK(x.sum().scalar_type() == at::kLong);
  CHECK(x.sum().item<int64_t>() == 30'000);
  CHECK(x.sum(at::kByte).item<int64_t>() == 30'000 % 256);
  CHECK(at::ones({5}, at::kBool).sum().item<int64_t>() == 5);
  CHECK(at::ones({5}, at::kBool).sum(at::kBool).item<bool>());
}

TEST_CASE("NaN wins over every value in extrema", "[reduce]") {
  for (const int64_t count : {3, 40, 5000}) {
    for (const int64_t place : {int64_t{0}, count / 2, count - 1}) {
      Tensor x = noise({count});
      x[place] = kNan;
      CHECK(std::isnan(x.max().item<float>()));
      CHECK(std::isnan(x.amin(0).item<float>()));
      CHECK(x.argmax().item<int64_t>() == place);
      CHECK(x.argmin(0).item<int64_t>() == place);
      const auto found = x.max(0);
      CHECK(std::isnan(std::get<0>(found).item<float>()));
      CHECK(std::get<1>(found).item<int64_t>() == place);
    }
  }
}

TEST_CASE("extrema, truth and norms at the ends of each dtype", "[reduce]") {
  const auto type = GENERATE(
      at::kByte, at::kChar, at::kShort, at::kInt, at::kLong, at::kHalf, at::kBFloat16, at::kFloat, at::kDouble);
  const double low = type == at::kByte ? 0 : -128, high = type == at::kByte ? 255 : 127;
  const Tensor x = at::full({100}, 5, at::TensorOptions().dtype(type));
  x[40].fill_(low);
  x[60].fill_(high);
  INFO(type);
  CHECK(at::amax(x, {0}).to(at::kDouble).item<double>() == high);
  CHECK(at::amin(x, {0}).to(at::kDouble).item<double>() == low);
  CHECK(at::argmax(x).item<int64_t>() == 60);
  CHECK(at::argmin(x).item<int64_t>() == 40);
  CHECK(at::count_nonzero(x).item<int64_t>() == (low == 0 ? 99 : 100));
  if (x.is_floating_point()) {
    CHECK_FALSE(at::any(at::full({9}, -0.0, at::TensorOptions().dtype(type))).item<bool>());
    CHECK(at::norm(at::complex(at::ones({2}, at::kFloat) * 3, at::ones({2}, at::kFloat) * 4), 1).item<float>() == 10);
  }
}

TEST_CASE("the first of equal extrema is found, along rows and columns", "[reduce]") {
  for (const int64_t count : {5, 100, 100'000}) {
    Tensor x = at::zeros({count, 20});
    x.select(0, count / 2).fill_(1);
    x.select(0, count - 1).fill_(1);
    const auto columns = x.max(0);
    CHECK((std::get<1>(columns) == count / 2).all().item<bool>());
    const auto rows = x.t().contiguous().max(1);
    CHECK((std::get<1>(rows) == count / 2).all().item<bool>());
    CHECK(x.select(1, 0).argmax().item<int64_t>() == count / 2);
  }
  for (const auto dtype : {at::kHalf, at::kBFloat16, at::kDouble}) {
    for (const int64_t count : {64, 65, 2047, 5000}) {
      for (const int64_t place : {int64_t{0}, int64_t{63}, count / 2, count - 1}) {
        Tensor x = at::zeros({3, count}, dtype);
        x.slice(1, place).fill_(2);
        CHECK((x.argmax(1) == place).all().item<bool>());
        x.slice(1, place).fill_(NAN);
        CHECK((x.argmin(1) == place).all().item<bool>());
      }
    }
  }
  CHECK(at::zeros({4, 6}).t().argmax().item<int64_t>() == 0);
  const Tensor y = noise({6, 50});
  CHECK(y.t().argmax().item<int64_t>() == y.t().contiguous().argmax().item<int64_t>());
}

TEST_CASE("variance survives a large mean", "[reduce]") {
  const Tensor x = noise({20'000}, at::kDouble);
  const Tensor moved = x + 1e8;
  CHECK(moved.var().item<double>() == Approx(x.var().item<double>()).epsilon(1e-6));
  const Tensor columns = moved.view({2000, 10});
  check_close(columns.var(at::IntArrayRef{0}), numbers(x.view({2000, 10}).var(at::IntArrayRef{0})), 1e-6);
  check_close(
      columns.t().contiguous().var(at::IntArrayRef{1}), numbers(x.view({2000, 10}).var(at::IntArrayRef{0})), 1e-6);
  const auto both = at::var_mean(x.view({40, 500}), at::IntArrayRef{1}, at::Scalar(0), false);
  check_close(std::get<1>(both), numbers(x.view({40, 500}).mean(1)), 1e-12);
  CHECK(std::isnan(at::ones({1}).var().item<float>()));
  CHECK(std::isnan(at::empty({0}).var().item<float>()));
  CHECK(at::ones({1}).var(at::IntArrayRef{0}, at::Scalar(0), false).item<float>() == 0.f);
}

TEST_CASE("means of elements that lie apart are as exact as of neighbours", "[reduce]") {
  const Tensor values = at::tensor({0.404148f, 0.1f, 0.7f}), want = values.to(at::kDouble);
  for (const int64_t n : {100, 1247, 5000, 100'000}) {
    const Tensor apart = at::zeros({3, 3 * n}).slice(1, 0, 3 * n, 3).copy_(values.unsqueeze(1).expand({3, n}));
    for (const Tensor& x :
         {values.unsqueeze(1).expand({3, n}), apart, apart.contiguous(), apart.t().contiguous().t()}) {
      CHECK((x.mean(1).to(at::kDouble).div(want).sub(1).abs() < 1.5e-6).all().item<bool>());
    }
  }
}

TEST_CASE("equal elements have no variance", "[reduce]") {
  for (const auto dtype : {at::kDouble, at::kFloat, at::kComplexDouble, at::kHalf}) {
    for (const int64_t n : {2, 10, 803, 5000}) {
      const Tensor equal = at::full({n, 3}, 0.1, dtype);
      CHECK(equal.var().item<double>() == 0);
      CHECK(equal.std(0).eq(0).all().item<bool>());
      CHECK(equal.t().contiguous().std(1).eq(0).all().item<bool>());
      CHECK(equal.select(0, 0).select(0, 0).expand({n}).var().item<double>() == 0);
    }
  }
  const double large = std::numeric_limits<double>::max();
  CHECK(
      std::get<1>(at::var_mean(at::tensor({large, -large, large, -large}, at::kDouble), at::IntArrayRef{0}))
          .item<double>() == 0);
}

TEST_CASE("variance in float: equal elements, large means and all magnitudes", "[reduce]") {
  const bool down = GENERATE(false, true);
  // The same numbers down columns: enough of them side by side to fill vectors, and some left over.
  const auto turned = [&](const Tensor& x) { return down ? x.t().repeat({1, 17}) : x; };
  const auto dim = at::IntArrayRef(down ? 0 : 1);
  const auto both = [&](const Tensor& x) {
    const auto [var, mean] = at::var_mean(turned(x), dim, at::Scalar(1), false);
    const Tensor alone = at::var(turned(x), dim, at::Scalar(1), false);
    CHECK(
        (alone == var).logical_or(alone.sub(var).abs() < 1e-6 * var.abs()).logical_or(var.isnan()).all().item<bool>());
    return alone;
  };
  const auto wide = [&](const Tensor& x) { return turned(x).to(at::kDouble).var(dim); };
  for (const auto dtype : {at::kFloat, at::kHalf, at::kBFloat16}) {
    for (const double value : {0.0, 0.1, -1e4, 1e-7}) {
      for (const int64_t count : {2, 63, 64, 65, 1000, 5000}) {
        CHECK((turned(at::full({3, count}, value, dtype)).var(dim) == 0).all().item<bool>());
      }
    }
    const Tensor x = noise({5, 3001}, dtype);
    check_close(turned(x).var(dim), numbers(wide(x)), dtype == at::kFloat ? 1e-7 : dtype == at::kHalf ? 1e-3 : 8e-3);
  }
  for (const int64_t count : {100, 1000, 100'000}) {
    const Tensor x = noise({2, count});
    // Steps of a float near a million are 1/16.
    const Tensor moved = (x.sign() + 1e6f);
    CHECK((wide(moved).sub(both(moved)).abs() < 1e-7).all().item<bool>());
    for (const float scale : {1e-30f, 1e-20f, 1e-10f, 1e10f, 1e19f, 1e25f, 1e38f}) {
      const Tensor scaled = x * scale;
      const Tensor want = wide(scaled).sqrt();
      CHECK((turned(scaled).std(dim).to(at::kDouble).div(want).sub(1).abs() < 1e-6).all().item<bool>());
    }
    Tensor outlier = x.clone();
    outlier.select(1, 0).fill_(1e6f);
    check_close(both(outlier).log(), numbers(wide(outlier).log()), 1e-6);
    outlier.select(1, count / 2).fill_(std::numeric_limits<float>::infinity());
    CHECK(both(outlier).isnan().all().item<bool>());
    outlier.select(1, count / 2).fill_(kNan);
    CHECK(both(outlier).isnan().all().item<bool>());
  }
}

TEST_CASE("the mean beside a variance is that of doubles", "[reduce]") {
  const int64_t count = GENERATE(100, 1024, 5000);
  const Tensor x = noise({400, count});
  // Means next to zero, where the rounding of elements would show.
  const Tensor centred = x - x.to(at::kDouble).mean(at::IntArrayRef{1}, true).to(at::kFloat);
  for (const Tensor& values : {x, centred}) {
    for (const int64_t dim : {0, 1}) {
      const Tensor want = values.to(at::kDouble).mean(dim), tolerance = want.abs() * 0x1p-24 + 1e-15;
      for (const auto& [spread, mean] :
           {at::var_mean(values, at::IntArrayRef(dim), true), at::std_mean(values, at::IntArrayRef(dim), true)}) {
        CHECK((mean.to(at::kDouble) - want).abs().le(tolerance).all().item<bool>());
      }
    }
  }
}

TEST_CASE("empty reductions give the identity or refuse", "[reduce]") {
  const Tensor none = at::empty({0, 3});
  CHECK(none.sum().item<float>() == 0.f);
  CHECK(none.prod().item<float>() == 1.f);
  CHECK((none.sum(0) == 0).all().item<bool>());
  CHECK(none.sum(1).numel() == 0);
  CHECK(none.all().item<bool>());
  CHECK_FALSE(none.any().item<bool>());
  CHECK(std::isnan(none.mean().item<float>()));
  CHECK_THROWS_WITH(
      none.max(), Catch::Contains("max(): Expected reduction dim to be specified for input.numel() == 0."));
  CHECK_THROWS_WITH(none.amax(0), Catch::Contains("amax(): Expected reduction dim 0 to have non-zero size."));
  CHECK_THROWS_WITH(none.argmax(0), Catch::Contains("argmax(): Expected reduction dim 0 to have non-zero size."));
  CHECK(std::get<0>(none.max(1)).numel() == 0);
}

TEST_CASE("scans along rows and columns agree", "[reduce][scan]") {
  const Tensor x = noise({37, 65});
  check_close(x.cumsum(0).t(), numbers(x.t().contiguous().cumsum(1)), 1e-6);
  check_close(x.cumprod(0).t(), numbers(x.t().contiguous().cumprod(1)), 1e-6);
  check_close(x.logcumsumexp(0), numbers(x.exp().cumsum(0).log()), 1e-5);
  check_close(x.cumsum(1).select(1, 64), numbers(x.sum(1)), 1e-5);
  // More columns than are scanned side by side, and 16-bit rows around the lengths of vectors.
  for (const auto dtype : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16}) {
    const double tolerance = dtype == at::kDouble ? 1e-13
        : dtype == at::kFloat                     ? 1e-6
        : dtype == at::kHalf                      ? 2e-3
                                                  : 1e-2;
    for (const int64_t count : {1, 7, 8, 16, 33, 1100}) {
      const Tensor y = noise({11, count}).abs().to(dtype), want = y.to(at::kDouble).cumsum(1);
      check_close(y.cumsum(1), numbers(want), tolerance);
      check_close(y.t().contiguous().cumsum(0).t().contiguous(), numbers(want), tolerance);
      check_close(y.cumsum(0), numbers(y.to(at::kDouble).cumsum(0)), tolerance);
    }
  }
  CHECK(at::ones({300}, at::kByte).cumsum(0).scalar_type() == at::kLong);
  const Tensor infinities = at::full({3}, -std::numeric_limits<float>::infinity());
  CHECK((infinities.logcumsumexp(0) == infinities).all().item<bool>());
}

TEST_CASE("cummax takes the last of equal elements and keeps NaN", "[reduce][scan]") {
  Tensor x = at::empty({6});
  const float given[] = {1, 3, 3, 2, kNan, 5};
  std::copy(given, given + 6, x.data_ptr<float>());
  const auto result = x.cummax(0);
  const auto places = numbers(std::get<1>(result));
  CHECK(places == std::vector<double>{0, 1, 2, 2, 4, 4});
  CHECK(std::isnan(std::get<0>(result)[5].item<float>()));
}

TEST_CASE("a sum of no elements is zero in any dtype", "[reduce]") {
  const Tensor none = at::empty({0, 3}, at::kComplexHalf);
  CHECK(none.sum().scalar_type() == at::kComplexHalf);
  CHECK(at::view_as_real(none.sum()).equal(at::zeros({2}, at::kHalf)));
  CHECK(at::view_as_real(none.sum(0)).equal(at::zeros({3, 2}, at::kHalf)));
  CHECK_THROWS(none.mean());
  CHECK_THROWS(at::ones({2}, at::kFloat).to(at::kComplexHalf).sum());
}
