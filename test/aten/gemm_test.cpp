// Matrix products against plain loops: dtypes, layouts, sizes around every blocking edge, factors.

#include <aten/native/onednn/Primitive.h>
#include <aten/native/onednn/library.h>
#include <aten/native/onednn/matmul.h>
#include <aten/Functions.h>
#include <aten/parallel/Parallel.h>
#include <aten/core/TensorOperators.h>

#include <catch2/catch.hpp>

#include <aten/core/random.h>

#include <limits>
#include <thread>
#include <vector>

namespace {

using at::Tensor;

/// Small integers in `dtype`: products of them are exact in every type but the 8-bit ones, which wrap as the loops do.
Tensor small_values(at::IntArrayRef sizes, at::ScalarType dtype) {
  const Tensor real = at::randint(-3, 4, sizes, at::kLong);
  if (!at::isComplexType(dtype)) {
    return real.to(dtype);
  }
  return (real.to(at::kComplexDouble) +
          at::randint(-3, 4, sizes, at::kLong).to(at::kComplexDouble) * c10::Scalar(c10::complex<double>(0, 1)))
      .to(dtype);
}

/// The sum over k by operators that share no code with the products: broadcast, multiply, sum.
Tensor reference_product(const Tensor& a, const Tensor& b) {
  const auto wide = at::isComplexType(a.scalar_type()) ? at::kComplexDouble
      : at::isFloatingType(a.scalar_type())            ? at::kDouble
                                                       : at::kLong;
  return (a.to(wide).unsqueeze(-1) * b.to(wide).unsqueeze(-3)).sum(-2);
}

/// The same values in another memory layout.
Tensor laid_out(const Tensor& t, int layout) {
  if (layout == 1) {
    return t.transpose(-1, -2).contiguous().transpose(-1, -2);
  }
  if (layout == 2) {
    auto sizes = t.sizes().vec();
    sizes.back() = 2 * sizes.back() + 1;
    return at::zeros(sizes, t.options()).slice(-1, 0, 2 * t.size(-1), 2).copy_(t);
  }
  return t;
}

const std::vector<at::ScalarType> kTypes{at::kByte,   at::kChar,         at::kShort,        at::kInt,
                                         at::kLong,   at::kHalf,         at::kBFloat16,     at::kFloat,
                                         at::kDouble, at::kComplexFloat, at::kComplexDouble};

} // namespace

TEST_CASE("products of bfloat16 are sums in float, rounded once", "[aten][gemm]") {
  at::manual_seed(1);
  const std::vector<std::array<int64_t, 3>> sizes{{48, 48, 48},    {64, 64, 64},     {33, 130, 27},
                                                  {130, 65, 300},  {40, 48, 601},    {70, 100, 1024},
                                                  {300, 60, 1024}, {545, 990, 1027}, {1030, 544, 992}};
  for (const auto& [m, n, k] : sizes) {
    const bool large = m * n * k > 10'000'000;
    // Operands by rows, by columns and strided; of large ones not all combinations.
    for (int layout = 0; layout < 27; layout += large ? 5 : 1) {
      const Tensor a = laid_out(small_values({m, k}, at::kBFloat16), layout % 3),
                   b = laid_out(small_values({k, n}, at::kBFloat16), layout / 3 % 3);
      INFO(m << "x" << k << "x" << n << " layout " << layout);
      const Tensor want =
          large ? at::mm(a.to(at::kFloat), b.to(at::kFloat)) : reference_product(a, b); // both are exact
      Tensor out = laid_out(at::empty({m, n}, at::kBFloat16), layout / 9);
      at::mm_out(out, a, b);
      CHECK(at::equal(out, want.to(at::kBFloat16)));
      const Tensor row = small_values({n}, at::kBFloat16), whole = small_values({m, n}, at::kBFloat16);
      CHECK(at::equal(at::addmm(row, a, b), (want + row).to(at::kBFloat16)));
      CHECK(at::equal(at::addmm(whole, a, b), (want + whole).to(at::kBFloat16)));
      at::addmm_out(out, row, a, b);
      CHECK(at::equal(out, (want + row).to(at::kBFloat16)));
      CHECK(at::equal(at::addmm(whole, a, b, 3, -2), (want * -2 + whole * 3).to(at::kBFloat16)));
    }
  }
  const Tensor a = small_values({2, 1024, 700}, at::kBFloat16), b = small_values({2, 700, 1000}, at::kBFloat16);
  const Tensor want = at::bmm(a.to(at::kFloat), b.to(at::kFloat)).to(at::kBFloat16);
  CHECK(at::equal(at::bmm(a, b), want));
  CHECK(at::equal(at::bmm(a, b.slice(0, 0, 1).expand({2, 700, 1000}))[0], want[0]));
}

TEST_CASE("a large left factor with rows a power of two apart gives the same product", "[aten][gemm]") {
  at::manual_seed(1);
  const Tensor whole = small_values({520, 4096}, at::kFloat), a = whole.slice(1, 0, 2050),
               b = small_values({2050, 2048}, at::kFloat);
  const Tensor want = at::mm(a.to(at::kDouble), b.to(at::kDouble)).to(at::kFloat); // all of them are exact
  CHECK(at::equal(at::mm(a, b), want));
  CHECK(at::equal(at::addmm(want, a, b, 2, -1), want));
}

TEST_CASE("products with few rows or columns are those of plain loops", "[aten][gemm]") {
  at::manual_seed(1);
  const auto dtype = GENERATE(at::kFloat, at::kDouble);
  for (const int64_t few : {2, 3, 4, 5, 7, 8, 9, 18, 31, 32, 33, 63, 64, 65}) {
    for (const int64_t many : {2, 33, 64, 259}) {
      for (const int64_t k : {127, 128, 203, 1027, 2048}) {
        for (int layout = 0; layout<9; layout += k> 300 || few > 9 ? 2 : 1) {
          const Tensor a = laid_out(small_values({few, k}, dtype), layout % 3),
                       b = laid_out(small_values({k, many}, dtype), layout / 3);
          INFO(few << "x" << k << "x" << many << " layout " << layout);
          const Tensor want = reference_product(a, b).to(dtype), row = small_values({many}, dtype);
          CHECK(at::equal(at::mm(a, b), want));
          CHECK(at::equal(at::mm(b.t(), a.t()), want.t()));
          CHECK(at::equal(at::addmm(row, a, b), want + row));
          Tensor out = laid_out(want, layout % 3).clone();
          at::addmm_out(out, out, a, b, 2, -3);
          CHECK(at::equal(out, want * -1));
        }
      }
    }
  }
}

TEST_CASE("a matrix beyond the caches times a vector is the product of plain loops", "[aten][gemm]") {
  at::manual_seed(1);
  const auto dtype = GENERATE(at::kHalf, at::kBFloat16, at::kFloat, at::kDouble);
  for (const int64_t rows : {301, 1024}) {
    for (const int64_t k : {1027, 2048}) {
      const Tensor a = small_values({rows, k}, dtype), x = small_values({k}, dtype);
      INFO(rows << "x" << k);
      const Tensor want = reference_product(a, x.unsqueeze(1)).squeeze(1).to(dtype);
      CHECK(at::equal(at::mv(a, x), want));
      CHECK(at::equal(at::mv(a.slice(1, 1), x.slice(0, 1)), at::mv(a.slice(1, 1).contiguous(), x.slice(0, 1).clone())));
      CHECK(at::equal(at::mm(x.unsqueeze(0), a.t()), want.unsqueeze(0)));
    }
  }
}

TEST_CASE("mm equals plain loops for every dtype, layout and odd size", "[aten][gemm]") {
  at::manual_seed(1);
  const std::vector<std::array<int64_t, 3>> sizes{{1, 1, 1},    {2, 3, 4},    {7, 5, 9},      {8, 48, 16},
                                                  {9, 49, 17},  {1, 33, 70},  {31, 1, 65},    {33, 31, 1},
                                                  {64, 64, 64}, {96, 96, 96}, {65, 100, 193}, {200, 97, 40}};
  for (const auto dtype : kTypes) {
    for (const auto& [m, n, k] : sizes) {
      // Sums of 16-bit floats stay exact below their integer limit.
      if ((dtype == at::kBFloat16 || dtype == at::kHalf) && k > 20) {
        continue;
      }
      for (const int layout : {0, 1, 2}) {
        const Tensor a = laid_out(small_values({m, k}, dtype), layout),
                     b = laid_out(small_values({k, n}, dtype), (layout + 1) % 3);
        INFO(at::toString(dtype) << " " << m << "x" << k << "x" << n << " layout " << layout);
        CHECK(at::equal(a.mm(b), reference_product(a, b).to(dtype)));
      }
    }
  }
}

TEST_CASE("addmm and baddbmm apply both factors and ignore self when beta is zero", "[aten][gemm]") {
  at::manual_seed(2);
  for (const auto dtype : {at::kInt, at::kFloat, at::kDouble, at::kComplexFloat}) {
    for (const int64_t n : {3, 20, 70}) {
      const Tensor a = small_values({2, n, n + 1}, dtype), b = small_values({2, n + 1, n}, dtype);
      const Tensor self = small_values({n}, dtype);
      const Tensor product = reference_product(a, b);
      for (const int64_t beta : {0, 1, 2}) {
        for (const int64_t alpha : {1, 3}) {
          const Tensor want = (self * beta + product * alpha).to(dtype);
          CHECK(at::equal(at::baddbmm(self, a, b, beta, alpha), want));
          CHECK(at::equal(at::addmm(self, a[0], b[0], beta, alpha), want[0]));
          CHECK(at::equal(
              at::addmv(self, a[0], b[0].select(1, 0).contiguous(), beta, alpha),
              (self * beta + (product[0] * alpha).select(1, 0)).to(dtype)));
        }
      }
    }
  }
  const Tensor nan = at::full({4, 4}, std::numeric_limits<float>::quiet_NaN());
  CHECK(at::equal(at::addmm(nan, at::ones({4, 2}), at::ones({2, 4}), 0, 1), at::full({4, 4}, 2.0f)));
}

TEST_CASE("products over nothing give beta times self", "[aten][gemm]") {
  CHECK(at::equal(at::ones({3, 0}).mm(at::ones({0, 2})), at::zeros({3, 2})));
  CHECK(at::equal(at::addmm(at::ones({2}), at::ones({3, 0}), at::ones({0, 2}), 2, 1), at::full({3, 2}, 2.0f)));
  CHECK(at::ones({0, 3}).mm(at::ones({3, 2})).sizes() == at::IntArrayRef({0, 2}));
  CHECK(at::ones({0}).dot(at::ones({0})).item<float>() == 0);
}

TEST_CASE("products with the factor zero are left out", "[aten][gemm]") {
  const auto dtype = GENERATE(at::kFloat, at::kDouble, at::kBFloat16, at::kHalf, at::kComplexFloat);
  for (const int64_t m : {1, 5, 38, 64}) {
    for (const int64_t n : {1, 64, 175}) {
      CAPTURE(dtype, m, n);
      const Tensor self = small_values({m, n}, dtype), b = small_values({248, n}, dtype);
      // By columns, with room between them.
      const Tensor a = small_values({248, m + 7}, dtype).narrow(1, 0, m).t();
      a.narrow(1, 3, 1).fill_(std::numeric_limits<double>::infinity());
      CHECK(at::equal(at::addmm(self, a, b, 1, 0), self));
      CHECK(at::equal(at::addmm(self, a, b, 2, 0), self + self));
      CHECK(at::equal(at::addmm(self, a, b, 0, 0), at::zeros_like(self)));
      CHECK(at::equal(at::baddbmm(self.unsqueeze(0), a.unsqueeze(0), b.unsqueeze(0), 1, 0)[0], self));
      CHECK(at::equal(at::addbmm(self, a.unsqueeze(0), b.unsqueeze(0), 1, 0), self));
      CHECK(at::equal(at::addmv(self.select(1, 0), a, b.select(1, 0), 1, 0), self.select(1, 0)));
    }
  }
}

TEST_CASE("whole numbers wrap where a product is left out", "[aten][gemm]") {
  const int64_t least = std::numeric_limits<int64_t>::min();
  const Tensor self = at::full({2, 2}, least, at::kLong), one = at::ones({2, 2}, at::kLong);
  CHECK(at::equal(at::addmm(self, one, one, -5, 0), self));
  const Tensor image = at::full({1, 2, 2}, std::numeric_limits<int64_t>::max(), at::kLong);
  CHECK(at::_adaptive_avg_pool2d(image, {1, 1}).item<int64_t>() == -1);
}

TEST_CASE("lazily conjugated operands multiply as their conjugates", "[aten][gemm]") {
  at::manual_seed(3);
  const Tensor a = small_values({9, 17}, at::kComplexDouble), b = small_values({17, 5}, at::kComplexDouble);
  CHECK(at::equal(a.conj().mm(b), a.conj().resolve_conj().mm(b)));
  CHECK(at::equal(a.mm(b.conj()), a.mm(b.conj().resolve_conj())));
  CHECK(at::equal(at::vdot(a[0], a[1]), (a[0].conj() * a[1]).sum()));
}

TEST_CASE("an out tensor of any layout is filled, and may not alias an operand by accident", "[aten][gemm]") {
  at::manual_seed(4);
  for (const int64_t n : {5, 80}) {
    const Tensor a = small_values({n, n}, at::kFloat), b = small_values({n, n}, at::kFloat), want = a.mm(b);
    Tensor columns = at::empty({n, n}).t();
    at::mm_out(columns, a, b);
    CHECK(at::equal(columns, want));
    Tensor strided = at::empty({n, 2 * n}).slice(1, 0, 2 * n, 2);
    at::mm_out(strided, a, b);
    CHECK(at::equal(strided, want));
    Tensor alias = a.clone();
    at::mm_out(alias, alias, b);
    CHECK(at::equal(alias, want));
    Tensor self = a.clone();
    self.addmm_(self, b);
    CHECK(at::equal(self, a + want));
  }
}

TEST_CASE("a matrix times a vector has the same bits on any number of threads", "[aten][gemm]") {
  const int threads = at::get_num_threads();
  for (const auto dtype : {at::kFloat, at::kDouble, at::kComplexFloat}) {
    const Tensor vector = at::randn({515}, dtype);
    for (const int layout : {0, 1}) {
      const Tensor matrix = laid_out(at::randn({1003, 515}, dtype), layout);
      at::set_num_threads(1);
      const Tensor alone = at::mv(matrix, vector);
      for (const int count : {2, 3, 4}) {
        at::set_num_threads(count);
        CHECK(at::equal(at::mv(matrix, vector), alone));
      }
    }
  }
  at::set_num_threads(threads);
}

TEST_CASE("a failure of oneDNN is an error of the operator", "[aten][gemm][onednn]") {
  using at::native::onednn::raise;
  CHECK_THROWS_WITH(
      raise("convolution", dnnl::error(dnnl_runtime_error, "could not execute a primitive")),
      Catch::Matchers::StartsWith("convolution: oneDNN failed: could not execute a primitive (status 5)"));
  CHECK_THROWS_AS(
      raise("matmul", dnnl::error(dnnl_out_of_memory, "could not execute a primitive")), c10::OutOfMemoryError);
}

TEST_CASE("functions of oneDNN are found by name, and one that it lacks is named", "[aten][gemm][onednn]") {
  using at::native::onednn::find_function;
  CHECK(find_function("dnnl_primitive_create") != nullptr);
  CHECK_THROWS_WITH(
      find_function("dnnl_no_such_function"), Catch::Matchers::Contains("lacks the function dnnl_no_such_function"));
}

TEST_CASE("the primitive cache is bounded and serves threads", "[aten][gemm][onednn]") {
  using namespace at::native::onednn;
  std::vector<float> a(64 * 64, 1), b(64 * 64, 1);
  const auto run = [&](int64_t m) {
    std::vector<float> c(64 * 64);
    const Matmul problem{at::kFloat, 1, m, 16, 8, {0, 8, 1}, {0, 16, 1}, {0, 16, 1}};
    // Where oneDNN has no kernel for this CPU, there is nothing to compare.
    return !matmul(problem, a.data(), b.data(), c.data(), nullptr) || (c[0] == 8 && c[size_t(m) * 16 - 1] == 8);
  };
  std::vector<std::thread> threads;
  std::vector<int> good(4, 0);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        good[t] += run(1 + (i * 7 + t) % 64);
      }
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  CHECK(good == std::vector<int>(4, 50));
  CHECK(matmul_cache_size() <= kMatmulCacheCapacity);
}
