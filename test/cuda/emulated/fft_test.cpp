// Fourier transforms of the plugin, against the CPU's, with the emulated cuFFT (libraries.h), which takes and writes
// memory in the layouts that it is told, as the real one does.
#include "test/cuda/emulated/compare.h"
#include "test/cuda/emulated/libraries.h"

#include <aten/native/cuda/fft_plan.h>

#include <torch/torch.h>

#include <catch2/catch.hpp>

#include <vector>

namespace at::native::cuda {

void fft_c2c_kernel(const TensorBase&, IntArrayRef, int64_t, bool, const TensorBase&);
void fft_r2c_kernel(const TensorBase&, IntArrayRef, int64_t, bool, const TensorBase&);
void fft_c2r_kernel(const TensorBase&, IntArrayRef, int64_t, int64_t, const TensorBase&);

} // namespace at::native::cuda

namespace {

namespace cuda = at::native::cuda;
using at::Tensor;
using emulated::near;

using Dims = std::vector<int64_t>;

/// Tensors of these sizes and values, in memory of several orders.
std::vector<Tensor> in_layouts(const Tensor& t) {
  std::vector<Tensor> all = {t};
  // Columns.
  const Tensor turned = t.transpose(0, -1).contiguous().transpose(0, -1);
  all.push_back(turned);
  // Every second element of a larger one, from an odd place.
  std::vector<int64_t> sizes;
  for (const int64_t n : t.sizes()) {
    sizes.push_back(2 * n + 1);
  }
  Tensor sparse = at::zeros(sizes, t.options());
  for (int64_t d = 0; d < t.dim(); ++d) {
    sparse = sparse.slice(d, 1, 2 * t.size(d), 2);
  }
  sparse.copy_(t);
  all.push_back(sparse);
  return all;
}

Tensor random(at::IntArrayRef sizes, at::ScalarType dtype) {
  return torch::randn(sizes, at::kDouble)
      .to(c10::isComplexType(dtype) ? at::kComplexDouble : at::kDouble)
      .mul(c10::isComplexType(dtype) ? at::Scalar(c10::complex<double>(0.6, 0.8)) : at::Scalar(1))
      .to(dtype);
}

double tolerance(at::ScalarType dtype) {
  const auto real = c10::toRealValueType(dtype);
  return real == at::kHalf ? 2e-2 : real == at::kFloat ? 1e-4 : 1e-10;
}

const std::vector<Dims> kDims = {{0}, {1}, {2}, {0, 2}, {2, 0}, {1, 2}, {-1, -3}, {0, 1, 2}, {2, 1, 0}};

} // namespace

TEST_CASE("complex transforms over any dimensions of any layout", "[cuda][emulated][fft]") {
  for (const at::ScalarType dtype : {at::kComplexFloat, at::kComplexDouble}) {
    const Tensor x = random({4, 3, 5}, dtype);
    for (const Dims& dims : kDims) {
      for (int64_t norm = 0; norm < 3; ++norm) {
        const bool forward = norm != 1;
        const Tensor expected = at::_fft_c2c(x, dims, norm, forward);
        for (const Tensor& in : in_layouts(x)) {
          for (const Tensor& out : in_layouts(at::empty_like(x).fill_(7))) {
            cuda::fft_c2c_kernel(in, dims, norm, forward, out);
            CHECK(near(out, expected, tolerance(dtype), tolerance(dtype)));
          }
          CHECK(near(in, x, 0, 0));
        }
      }
    }
  }
}

TEST_CASE("real transforms: half spectra, whole ones, and back", "[cuda][emulated][fft]") {
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble}) {
    for (const Dims& sizes : {Dims{4, 3, 5}, Dims{2, 6, 4}, Dims{3, 1, 2}, Dims{2, 2, 1}}) {
      const Tensor x = random(sizes, dtype);
      for (const Dims& dims : kDims) {
        for (const bool onesided : {true, false}) {
          const Tensor expected = at::_fft_r2c(x, dims, 1, onesided);
          for (const Tensor& in : in_layouts(x)) {
            for (const Tensor& out : in_layouts(at::empty_like(expected).fill_(7))) {
              cuda::fft_r2c_kernel(in, dims, 1, onesided, out);
              CHECK(near(out, expected, tolerance(dtype), tolerance(dtype)));
            }
            CHECK(near(in, x, 0, 0));
          }
        }
        const Tensor spectrum = at::_fft_r2c(x, dims, 0, /*onesided=*/true);
        const int64_t last = x.size(dims.back());
        for (const Tensor& in : in_layouts(spectrum)) {
          for (const Tensor& out : in_layouts(at::empty_like(x).fill_(7))) {
            cuda::fft_c2r_kernel(in, dims, 2, last, out);
            CHECK(near(out, x, tolerance(dtype), tolerance(dtype)));
          }
          CHECK(near(in, spectrum, 0, 0));
        }
      }
    }
  }
}

TEST_CASE("more dimensions than cuFFT takes at once", "[cuda][emulated][fft]") {
  const Tensor z = random({2, 3, 2, 4, 3}, at::kComplexDouble), x = random({2, 3, 2, 4, 3}, at::kDouble);
  for (const Dims& dims : {Dims{0, 1, 2, 3, 4}, Dims{4, 2, 0, 1}, Dims{3, 4, 1, 0}}) {
    Tensor out = at::empty_like(z);
    cuda::fft_c2c_kernel(z, dims, 2, false, out);
    CHECK(near(out, at::_fft_c2c(z, dims, 2, false), 1e-10, 1e-10));
    for (const bool onesided : {true, false}) {
      const Tensor expected = at::_fft_r2c(x, dims, 0, onesided);
      out = at::empty_like(expected);
      cuda::fft_r2c_kernel(x, dims, 0, onesided, out);
      CHECK(near(out, expected, 1e-10, 1e-10));
    }
    const Tensor spectrum = at::_fft_r2c(x, dims, 0, true);
    Tensor back = at::empty_like(x);
    cuda::fft_c2r_kernel(spectrum, dims, 2, x.size(dims.back()), back);
    CHECK(near(back, x, 1e-10, 1e-10));
  }
}

TEST_CASE("half transforms powers of two, and says so of others", "[cuda][emulated][fft]") {
  const Tensor x = random({3, 4, 8}, at::kHalf);
  for (const Tensor& in : in_layouts(x)) {
    for (const Dims& dims : {Dims{1}, Dims{2}, Dims{2, 1}, Dims{1, 2}}) {
      for (const bool onesided : {true, false}) {
        const Tensor expected = at::_fft_r2c(x.to(at::kFloat), dims, 1, onesided);
        const Tensor out = at::empty(expected.sizes(), at::kComplexHalf);
        cuda::fft_r2c_kernel(in, dims, 1, onesided, out);
        CHECK(near(out.to(at::kComplexFloat), expected, 2e-2, 2e-2));
      }
      const Tensor spectrum = at::_fft_r2c(x.to(at::kFloat), dims, 1, true).to(at::kComplexHalf),
                   back = at::empty_like(x);
      cuda::fft_c2r_kernel(spectrum, dims, 1, x.size(dims.back()), back);
      CHECK(near(back, x, 2e-2, 2e-2));
    }
  }
  const Tensor out = at::empty({2, 4, 8}, at::kComplexHalf);
  CHECK_THROWS_WITH(
      cuda::fft_r2c_kernel(x, {0}, 0, true, out),
      Catch::Contains(
          "cuFFT only supports dimensions whose sizes are powers of two when computing in half precision, but got a "
          "signal size of [3]"));
}

TEST_CASE("broadcast, misaligned, cut and empty signals", "[cuda][emulated][fft]") {
  const Tensor row = random({6}, at::kDouble), wide = row.expand({4, 6});
  Tensor out = at::empty({4, 4}, at::kComplexDouble);
  cuda::fft_r2c_kernel(wide, {1}, 0, true, out);
  CHECK(near(out, at::_fft_r2c(wide, {1}, 0, true), 1e-10, 1e-10));
  // Real numbers that do not begin at a multiple of a complex one.
  const Tensor odd = random({13}, at::kFloat).slice(0, 1);
  out = at::empty({7}, at::kComplexFloat);
  cuda::fft_r2c_kernel(odd, {0}, 0, true, out);
  CHECK(near(out, at::_fft_r2c(odd, {0}, 0, true), 1e-4, 1e-4));
  // More of a spectrum than is needed.
  const Tensor spectrum = random({3, 9}, at::kComplexDouble), cut = at::empty({3, 7}, at::kDouble);
  cuda::fft_c2r_kernel(spectrum, {1}, 0, 7, cut);
  CHECK(near(cut, at::_fft_c2r(spectrum.narrow(1, 0, 4).clone(), {1}, 0, 7), 1e-10, 1e-10));
  const int plans = emulated::libraries().fft_plans;
  cuda::fft_c2c_kernel(at::empty({0, 5}, at::kComplexDouble), {1}, 0, true, at::empty({0, 5}, at::kComplexDouble));
  CHECK(emulated::libraries().fft_plans == plans);
  const Tensor same = random({2, 3}, at::kComplexDouble), copy = at::empty_like(same);
  cuda::fft_c2c_kernel(same, {}, 0, true, copy);
  CHECK(near(copy, same, 0, 0));
}

TEST_CASE("plans are kept and found again", "[cuda][emulated][fft]") {
  const Tensor x = random({5, 17}, at::kComplexDouble), out = at::empty_like(x);
  cuda::fft_c2c_kernel(x, {1}, 0, true, out);
  const int plans = emulated::libraries().fft_plans;
  cuda::fft_c2c_kernel(x.clone(), {1}, 0, false, out);
  CHECK(emulated::libraries().fft_plans == plans);
  cuda::fft_c2c_kernel(x, {0}, 0, true, out);
  CHECK(emulated::libraries().fft_plans == plans + 1);

  struct Plan {
    int id;
  };
  cuda::FftPlanCache<Plan> cache;
  int made = 0;
  const auto get = [&](int64_t batch) {
    cuda::FftKey key{};
    key.batch = batch;
    return cache.get(key, [&] { return std::make_unique<Plan>(Plan{made++}); }).id;
  };
  cache.set_max_size(2);
  CHECK(get(10) == 0);
  CHECK(get(20) == 1);
  CHECK(get(10) == 0);
  CHECK(get(30) == 2); // in place of 20, which was used last of all
  CHECK(cache.size() == 2);
  CHECK(get(10) == 0);
  CHECK(get(20) == 3);
  cache.set_max_size(0);
  CHECK(cache.size() == 0);
  CHECK(get(10) == 4);
  cache.clear();
  CHECK(cache.size() == 0);
  CHECK(cache.max_size() == 0);
}
