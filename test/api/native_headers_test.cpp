// Headers of <ATen/native> and <ATen/cpu> that kernels outside of libtorch are written with.
#include <torch/torch.h>

#include <ATen/CollapseDims.h>
#include <ATen/NativeFunctions.h>
#include <ATen/core/TransformationHelper.h>
#include <ATen/core/UnsafeFromTH.h>
#include <ATen/cpu/Utils.h>
#include <ATen/cpu/vec/vec512/vec512_float8.h>
#include <ATen/cpu/vec/vec_quant.h>
#include <ATen/native/CPUBlas.h>
#include <ATen/native/EmbeddingBag.h>
#include <ATen/native/Math.h>
#include <ATen/native/Pow.h>
#include <ATen/native/ReduceOps.h>
#include <ATen/native/ReduceOpsUtils.h>

#include <c10/core/DeviceArray.h>
#include <c10/util/ApproximateClock.h>
#include <c10/util/FileSystem.h>
#include <c10/util/MakeNested.h>
#include <c10/util/error.h>
#include <caffe2/core/timer.h>

#include <catch2/catch.hpp>

#include <cerrno>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace cpublas = at::native::cpublas;
using at::native::TransposeType;
using Catch::Matchers::Contains;

namespace {

constexpr auto kNo = TransposeType::NoTranspose;

// A matrix of small whole numbers.
at::Tensor whole(at::IntArrayRef sizes, at::ScalarType dtype, int64_t least = -3) {
  return at::arange(sizes[0] * sizes[1]).mul(7).remainder(6).add(least).reshape(sizes).to(dtype);
}

} // namespace

TEMPLATE_TEST_CASE(
    "cpublas::gemm multiplies matrices by columns",
    "[native_faces]",
    float,
    double,
    c10::BFloat16,
    c10::Half,
    int64_t,
    c10::complex<float>) {
  using T = TestType;
  constexpr auto kDtype = c10::CppTypeToScalarType<T>::value;
  const int64_t m = 3, n = 4, k = 5;
  // Memory by columns is the transposed tensor by rows.
  const at::Tensor a = whole({k, m}, kDtype), b = whole({n, k}, kDtype), b_by_rows = b.t().contiguous();
  at::Tensor c = at::ones({n, m}, kDtype);
  const at::Tensor product = a.t().to(at::kComplexDouble).mm(b.t().to(at::kComplexDouble));
  cpublas::gemm(
      kNo, kNo, m, n, k, at::opmath_type<T>(2), a.const_data_ptr<T>(), m, b.const_data_ptr<T>(), k,
      at::opmath_type<T>(3), c.mutable_data_ptr<T>(), m);
  CHECK(c.t().to(at::kComplexDouble).equal(product * 2 + 3));
  c.fill_(1);
  cpublas::gemm(
      kNo, TransposeType::Transpose, m, n, k, at::opmath_type<T>(1), a.const_data_ptr<T>(), m,
      b_by_rows.const_data_ptr<T>(), n, at::opmath_type<T>(0), c.mutable_data_ptr<T>(), m);
  CHECK(c.t().to(at::kComplexDouble).equal(product));
}

TEST_CASE("cpublas takes conjugates, batches, and 16-bit factors of a float product", "[native_faces]") {
  using Complex = c10::complex<double>;
  const at::Tensor a = at::complex(whole({2, 2}, at::kDouble), whole({2, 2}, at::kDouble, 1));
  at::Tensor c = at::zeros({2, 2}, at::kComplexDouble);
  cpublas::gemm(
      TransposeType::ConjTranspose, kNo, 2, 2, 2, Complex(1), a.const_data_ptr<Complex>(), 2,
      a.const_data_ptr<Complex>(), 2, Complex(0), c.mutable_data_ptr<Complex>(), 2);
  CHECK(c.t().equal(a.conj().resolve_conj().mm(a.t())));

  const at::Tensor x = whole({4, 3}, at::kBFloat16), y = whole({5, 4}, at::kBFloat16);
  at::Tensor sums = at::full({5, 3}, 0.5f);
  cpublas::gemm(
      kNo, kNo, 3, 5, 4, 1.f, x.const_data_ptr<at::BFloat16>(), 3, y.const_data_ptr<at::BFloat16>(), 4, 1.f,
      sums.mutable_data_ptr<float>(), 3);
  CHECK(sums.equal(y.to(at::kFloat).mm(x.to(at::kFloat)) + 0.5));

  const at::Tensor many = at::rand({2, 3, 3});
  at::Tensor out = at::zeros({2, 3, 3});
  cpublas::gemm_batched_with_stride(
      kNo, kNo, 2, 3, 3, 3, 1.f, many.const_data_ptr<float>(), 3, 9, many.const_data_ptr<float>(), 3, 9, 0.f,
      out.mutable_data_ptr<float>(), 3, 9);
  CHECK(out.allclose(many.bmm(many)));

  std::vector<float> u{1, 2, 3, 4}, v{10, 20};
  cpublas::axpy(2, 2.0, u.data(), 2, v.data(), 1);
  CHECK(v == std::vector<float>{12, 26});
  cpublas::copy(2, u.data() + 1, 2, v.data(), 1);
  CHECK(v == std::vector<float>{2, 4});
}

TEST_CASE("cpublas::brgemm multiplies blocks by rows, plain and packed", "[native_faces]") {
  const int64_t M = 3, N = 5, K = 6;
  const at::Tensor a = whole({M, K}, at::kBFloat16), b = whole({K, N}, at::kBFloat16);
  const at::Tensor expected = a.to(at::kFloat).mm(b.to(at::kFloat));
  at::Tensor packed = at::full({K / 2, 8, 2}, 9, at::kBFloat16), c = at::ones({M, 7});
  REQUIRE(cpublas::could_pack(at::kBFloat16));
  CHECK_FALSE(cpublas::could_pack(at::kDouble));
  cpublas::pack(K, N, N, 8, at::kBFloat16, at::kBFloat16, b.const_data_ptr(), packed.mutable_data_ptr());
  CHECK(packed[1][3][0].item<float>() == b[2][3].item<float>());
  CHECK(packed[1][3][1].item<float>() == b[3][3].item<float>());
  cpublas::brgemm(
      M, N, K, K, 8, 7, false, a.const_data_ptr<at::BFloat16>(), packed.const_data_ptr<at::BFloat16>(),
      c.mutable_data_ptr<float>());
  CHECK(c.narrow(1, 0, N).equal(expected));
  CHECK(c.narrow(1, N, 2).equal(at::ones({M, 2})));
  cpublas::brgemm(
      M, N, K, K, N, 7, true, a.const_data_ptr<at::BFloat16>(), b.const_data_ptr<at::BFloat16>(),
      c.mutable_data_ptr<float>(), /*is_vnni=*/false);
  CHECK(c.narrow(1, 0, N).equal(expected * 2));
  cpublas::brgemm_release();

  // Bytes, with a K that is no multiple of 4: sums do not saturate.
  const at::Tensor left = at::full({M, K}, 255, at::kByte), right = at::full({K, N}, -128, at::kChar);
  at::Tensor bytes = at::empty({2, N, 4}, at::kChar), sums = at::empty({M, N}, at::kInt);
  cpublas::pack(K, N, N, N, at::kChar, at::kChar, right.const_data_ptr(), bytes.mutable_data_ptr());
  CHECK(bytes[1][0][2].item<int>() == 0);
  cpublas::brgemm(
      M, N, K, K, N, N, false, left.const_data_ptr<uint8_t>(), bytes.const_data_ptr<int8_t>(),
      sums.mutable_data_ptr<int32_t>());
  CHECK(sums.eq(255 * -128 * K).all().item<bool>());
  CHECK_THROWS_WITH(cpublas::pack(K, N, N, N, at::kFloat, at::kFloat, nullptr, nullptr), Contains("could_pack"));
}

TEST_CASE("reductions as stubs fill the output of an iterator", "[native_faces]") {
  const auto dtype = GENERATE(at::kFloat, at::kBFloat16, at::kLong);
  const at::Tensor x = whole({4, 5}, dtype);
  const auto reduced = [&](auto& stub, at::IntArrayRef dims, bool keepdim) {
    at::Tensor out;
    auto iter = at::native::make_reduction("test", out, x, dims, keepdim, dtype);
    stub(iter.device_type(), iter);
    return out;
  };
  CHECK(reduced(at::native::sum_stub, {0}, false).equal(x.sum(at::IntArrayRef{0}, false, dtype)));
  CHECK(reduced(at::native::sum_stub, {0, 1}, true).equal(x.sum(at::IntArrayRef{0, 1}, true, dtype)));
  CHECK(reduced(at::native::prod_stub, {1}, true).equal(x.prod(1, true, dtype)));
  CHECK(reduced(at::native::min_values_stub, {1}, false).equal(x.amin({1})));
  CHECK(reduced(at::native::max_values_stub, {0}, false).equal(x.amax({0})));
  if (dtype != at::kLong) {
    CHECK(reduced(at::native::mean_stub, {1}, false).allclose(x.mean(1)));
  }
}

TEST_CASE("NaN is the least and the greatest number of a reduction by stub, and truth has stubs", "[native_faces]") {
  const at::Tensor x = at::tensor({1.f, std::numeric_limits<float>::quiet_NaN(), 2.f});
  at::Tensor out;
  auto iter = at::native::make_reduction("max", out, x, at::IntArrayRef{0}, false, at::kFloat);
  at::native::max_values_stub(at::kCPU, iter);
  CHECK(out.isnan().item<bool>());

  const at::Tensor truth = at::tensor({true, false});
  at::Tensor all, any;
  auto every = at::native::make_reduction("all", all, truth, at::IntArrayRef{0}, false, at::kBool);
  at::native::and_stub(at::kCPU, every);
  auto some = at::native::make_reduction("any", any, truth, at::IntArrayRef{0}, false, at::kBool);
  at::native::or_stub(at::kCPU, some);
  CHECK_FALSE(all.item<bool>());
  CHECK(any.item<bool>());
  CHECK_THROWS_WITH(at::native::sum_stub(at::kCUDA, some), Contains("missing kernel"));

  at::Tensor variance = at::empty({0}, at::kDouble), mean = at::empty({0}, at::kDouble);
  at::native::var_mean_out(variance, mean, at::tensor({1., 2., 6.}), {0}, 1, false);
  CHECK(variance.item<double>() == Approx(7));
  CHECK(mean.item<double>() == Approx(3));
}

TEST_CASE("methods as functions of at::native", "[native_faces]") {
  const at::Tensor x = at::arange(6);
  CHECK(at::native::view(x, {2, 3}).equal(x.view({2, 3})));
  CHECK(at::native::unfold(x, 0, 3, 2).equal(x.unfold(0, 3, 2)));
  const at::Tensor y = at::arange(6);
  at::native::resize_(y, {2, 2});
  CHECK(y.equal(at::arange(4).view({2, 2})));
  at::native::resize_(y, {1, 2, 2, 2}, at::MemoryFormat::ChannelsLast);
  CHECK(y.is_contiguous(at::MemoryFormat::ChannelsLast));
}

TEST_CASE("integer powers and the modes of embedding_bag", "[native_faces]") {
  CHECK(at::native::powi(3, 4) == 81);
  CHECK(at::native::powi(-1, -3) == -1);
  CHECK(at::native::powi(2, -1) == 0);
  CHECK(at::native::powi<uint8_t>(2, 9) == 0);
  CHECK(int64_t{1} == at::native::EmbeddingBagMode::MEAN);
  CHECK(int64_t{0} != at::native::EmbeddingBagMode::MAX);
}

TEMPLATE_TEST_CASE("special functions of a number are those of tensors", "[native_faces]", float, double) {
  const auto agrees = [](TestType value, const at::Tensor& expected) {
    CHECK(value == Approx(expected.item<TestType>()).epsilon(64 * std::numeric_limits<TestType>::epsilon()));
  };
  const TestType number = TestType(0.75);
  const at::Tensor x = at::scalar_tensor(number, c10::CppTypeToScalarType<TestType>::value);
  agrees(calc_erfinv(number), at::erfinv(x));
  agrees(calc_digamma(number), at::digamma(x));
  agrees(calc_polygamma(number, 3), at::polygamma(3, x));
  agrees(trigamma(number), at::polygamma(1, x));
  agrees(calc_igamma(number, TestType(2)), at::igamma(x, at::full_like(x, 2)));
  agrees(calc_igammac(number, TestType(2)), at::igammac(x, at::full_like(x, 2)));
  agrees(zeta(TestType(2), number), at::special_zeta(2, x));
  agrees(calc_i0(number), at::i0(x));
  agrees(calc_i1e(number), at::special_i1e(x));
  agrees(calc_ndtri(number), at::special_ndtri(x));
  agrees(calc_log_ndtr(number), at::special_log_ndtr(x));
  agrees(calc_erfcx(number), at::special_erfcx(x));
  agrees(bessel_y1_forward(number), at::special_bessel_y1(x));
  agrees(scaled_modified_bessel_k1_forward(number), at::special_scaled_modified_bessel_k1(x));
  agrees(airy_ai_forward(number), at::special_airy_ai(x));
  agrees(chebyshev_polynomial_u_forward(number, int64_t{5}), at::special_chebyshev_polynomial_u(x, 5));
  agrees(laguerre_polynomial_l_forward(number, TestType(4)), at::special_laguerre_polynomial_l(x, 4));
  const TestType coefficients[] = {1, 2, 3};
  CHECK(polevl(number, coefficients, 2) == number * number + 2 * number + 3);
  CHECK(chbevl(2 * number, coefficients, 3) == Approx(2 * number * number - 1 + 2 * number + TestType(1.5)));
}

TEST_CASE("special functions of a half are those of a float", "[native_faces]") {
  CHECK(calc_i0(at::Half(0.5f)) == at::Half(calc_i0(0.5f)));
  CHECK(calc_erfinv(at::BFloat16(0.5f)) == at::BFloat16(calc_erfinv(0.5f)));
  CHECK(calc_gcd(-12, 18) == 6);
}

TEST_CASE("matrices of bytes as VNNI instructions read them", "[native_faces]") {
  const int64_t K = 6, N = 80;
  std::vector<int8_t> src(K * N), dst(8 * N, 9), transposed(K * N, 9);
  std::iota(src.begin(), src.end(), int8_t{0});
  at::vec::pack_vnni4(src.data(), dst.data(), N, K, N);
  at::vec::transpose_pack_vnni4(src.data(), transposed.data(), N, K, N);
  for (int64_t k = 0; k < 8; ++k) {
    for (int64_t n = 0; n < N; ++n) {
      const int8_t value = k < K ? src[k * N + n] : int8_t{0};
      if (dst[(k / 4 * N + n) * 4 + k % 4] != value) {
        FAIL("pack_vnni4 at " << k << ", " << n);
      }
      if (k < K && transposed[(n / 4 * K + k) * 4 + n % 4] != value) {
        FAIL("transpose_pack_vnni4 at " << k << ", " << n);
      }
    }
  }
  CHECK_THROWS_WITH(at::vec::transpose_pack_vnni4(src.data(), dst.data(), N, K, 8), Contains("multiple of 16"));
}

TEST_CASE("Float8 numbers and vectors of them", "[native_faces]") {
  CHECK(at::vec::fp8e4m3_to_fp32_scalar(at::vec::fp32_to_fp8e4m3_scalar(1.75f)) == 1.75f);
  CHECK(at::vec::fp8e5m2_to_fp32_scalar(at::vec::fp32_to_fp8e5m2_scalar(-3.f)) == -3.f);
  using Vec = at::vec::Vectorized<at::Float8_e4m3fn>;
  const Vec ones(at::Float8_e4m3fn(1.f));
  CHECK((ones + ones * ones)[Vec::size() - 1] == at::Float8_e4m3fn(2.f));
}

TEST_CASE("what the processor has", "[native_faces]") {
  auto found = at::cpu::get_cpu_capabilities();
  CHECK(found.at("avx2").toBool() == at::cpu::is_avx2_supported());
  CHECK(found.at("amx_tile").toBool() == at::cpu::is_amx_tile_supported());
  CHECK(found.at("num_logical_cores").toInt() >= found.at("num_physical_cores").toInt());
  CHECK(found.at("num_physical_cores").toInt() >= 1);
  CHECK(found.at("l2_cache_size").toInt() == at::cpu::L2_cache_size());
  if (at::cpu::is_avx512_supported()) {
    CHECK(at::cpu::is_avx2_supported());
  }
  if (!at::cpu::is_amx_tile_supported()) {
    CHECK_FALSE(at::cpu::init_amx());
  }
}

TEST_CASE("dimensions that lie one after the other are joined", "[native_faces]") {
  std::vector<int64_t> sizes{2, 1, 3, 4}, strides{12, 7, 4, 1};
  CHECK(at::collapse_dims(sizes.data(), strides.data(), 4) == std::pair<int64_t, int64_t>(-1, 1));
  CHECK(sizes[0] == 24);
  CHECK(strides[0] == 1);
  sizes = {2, 1, 3, 4}, strides = {12, 7, 4, 1};
  CHECK(at::collapse_dims(sizes.data(), strides.data(), 4, 2) == std::pair<int64_t, int64_t>(1, 3));
  CHECK(sizes == std::vector<int64_t>{2, 3, 4, 4});
  sizes = {2, 3}, strides = {1, 2};
  CHECK(at::collapse_dims(sizes.data(), strides.data(), 2) == std::pair<int64_t, int64_t>(-1, 2));
  sizes = {1, 1}, strides = {5, 6};
  CHECK(at::collapse_dims(sizes.data(), strides.data(), 2) == std::pair<int64_t, int64_t>(0, 1));
  CHECK_THROWS_AS(at::collapse_dims(sizes.data(), strides.data(), 2, 2), c10::Error);
}

TEST_CASE("random bits as samples of distributions", "[native_faces]") {
  namespace from = at::transformation;
  CHECK(from::uniform_int_from_to<int>(uint32_t{17}, 5, -2) == 0);
  CHECK(from::uniform_int_full_range<int64_t>(std::numeric_limits<uint64_t>::max()) == -1);
  CHECK(from::uniform_int<uint8_t>(uint32_t{513}) == 1);
  CHECK(from::uniform_int<bool>(uint32_t{2}) == false);
  CHECK(from::uniform_int<float>(uint64_t{1} << 24) == float(1 << 24));
  CHECK(from::uniform_real(uint32_t{1} << 23, 1.f, 3.f) == 2.f);
  CHECK(from::normal(0.5, 1., 2.) == 2);
  CHECK(from::cauchy(0.75, 1., 2.) == Approx(3));
  CHECK(std::isfinite(from::cauchy(1.f, 0.f, 1.f)));
  CHECK(from::exponential(0.5, 2.) == Approx(std::log(2.) / 2));
  CHECK(from::geometric(0.3, 0.5) == 2);
  CHECK(from::log_normal(0.) == 1);
  CHECK(from::bernoulli(0.3, 0.5) == 1);
}

TEST_CASE("small helpers of c10, caffe2 and older interfaces", "[native_faces]") {
  CHECK(c10::filesystem::path("a/b").filename() == "b");
  CHECK(c10::make_nested(std::vector<int>{1}, std::vector<int>{2, 3})[1] == std::vector<int>{2, 3});
  CHECK_THAT(c10::utils::str_error(ENOENT), Contains("No such file"));
  CHECK(c10::DeviceArray<int>(*c10::GetAllocator(c10::kCPU), 4).get() != nullptr);
  const c10::ApproximateClockToUnixTimeConverter converter;
  const auto stamp = c10::getApproximateTime();
  CHECK(std::abs(converter.makeConverter()(stamp) - c10::getTimeSinceEpoch()) < 60'000'000'000);
  caffe2::Timer timer;
  CHECK(timer.MilliSeconds() >= 0);

  const at::Tensor t = at::ones({2});
  CHECK(at::unsafeTensorFromTH(t.unsafeGetTensorImpl(), /*retain=*/true).is_same(t));
  CHECK(t.use_count() == 1);
  CHECK(at::unsafeStorageFromTH(t.storage().unsafeGetStorageImpl(), true).data() == t.data_ptr());
}
