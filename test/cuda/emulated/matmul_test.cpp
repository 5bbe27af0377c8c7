// Matrix products of the plugin against the CPU's, with the emulated cuBLAS and cuBLASLt (cublas.cpp).
#include "test/cuda/emulated/compare.h"
#include "test/cuda/emulated/libraries.h"

#include <aten/core/Context.h>

#include <torch/torch.h>

#include <catch2/catch.hpp>

#include <cublasLt.h>

#include <functional>
#include <tuple>
#include <vector>

namespace at::native {

namespace cuda {

void mm_kernel(const TensorBase&, const TensorBase&, const TensorBase&);
void addmm_kernel(
    const TensorBase&, const TensorBase&, const TensorBase&, const Scalar&, const Scalar&, const TensorBase&);
void bmm_kernel(const TensorBase&, const TensorBase&, const TensorBase&);
void baddbmm_kernel(
    const TensorBase&, const TensorBase&, const TensorBase&, const Scalar&, const Scalar&, const TensorBase&);
void addbmm_kernel(
    const TensorBase&, const TensorBase&, const TensorBase&, const Scalar&, const Scalar&, const TensorBase&);
void mv_kernel(const TensorBase&, const TensorBase&, const TensorBase&);
void addmv_kernel(
    const TensorBase&, const TensorBase&, const TensorBase&, const Scalar&, const Scalar&, const TensorBase&);
void dot_kernel(const TensorBase&, const TensorBase&, const TensorBase&);
void vdot_kernel(const TensorBase&, const TensorBase&, const TensorBase&);
std::tuple<Tensor, Tensor> transposed_mm_with_sums(const Tensor&, const Tensor&, bool);

} // namespace cuda

Tensor addmm_activation_cuda(const Tensor&, const Tensor&, const Tensor&, const Scalar&, const Scalar&, bool);

} // namespace at::native

namespace {

namespace cuda = at::native::cuda;
using at::Tensor;
using emulated::filled;
using emulated::libraries;

const std::vector<at::ScalarType> kReal = {at::kHalf, at::kBFloat16, at::kFloat, at::kDouble};
const std::vector<at::ScalarType> kDtypes = {at::kHalf,   at::kBFloat16,     at::kFloat,
                                             at::kDouble, at::kComplexFloat, at::kComplexDouble};

/// Small whole numbers, so that sums are exact in every dtype.
Tensor whole(const std::vector<int64_t>& sizes, at::ScalarType dtype) {
  const auto part = [&] { return torch::randint(-3, 4, sizes, at::TensorOptions(at::kDouble)); };
  return c10::isComplexType(dtype) ? at::complex(part(), part()).to(dtype) : part().to(dtype);
}

/// By rows, by columns, with gaps, and conjugated where that is something else.
std::vector<Tensor> in_layouts(const Tensor& t) {
  std::vector<int64_t> sizes = t.sizes().vec();
  sizes[t.dim() - 1] += 2;
  Tensor rows = at::full(sizes, 7, t.options()).narrow(-1, 1, t.size(-1));
  sizes.back() = 2 * t.size(-1);
  Tensor gaps = at::full(sizes, 7, t.options()).slice(-1, 0, sizes.back(), 2);
  rows.copy_(t);
  gaps.copy_(t);
  std::vector<Tensor> all = {t.contiguous(), t.transpose(-1, -2).contiguous().transpose(-1, -2), rows, gaps};
  if (t.is_complex()) {
    all.push_back(t.conj().clone().conj());
    all.push_back(t.mH().clone().mH());
  }
  return all;
}

/// Do all layouts of two factors and the result give `expected`?
void check_layouts(
    const Tensor& a,
    const Tensor& b,
    const Tensor& expected,
    const std::function<void(const Tensor&, const Tensor&, const Tensor&)>& kernel) {
  for (const Tensor& left : in_layouts(a)) {
    for (const Tensor& right : in_layouts(b)) {
      for (Tensor out : in_layouts(at::full_like(expected, 5))) {
        if (out.is_conj()) {
          continue; // kernels get plain outputs
        }
        kernel(left, right, out);
        REQUIRE(out.equal(expected));
      }
    }
  }
}

} // namespace

TEST_CASE("products of matrices and batches of them, in any layout", "[cuda][emulated][matmul]") {
  for (const at::ScalarType dtype : kDtypes) {
    const Tensor a = whole({3, 4}, dtype), b = whole({4, 2}, dtype), as = whole({2, 3, 4}, dtype),
                 bs = whole({2, 4, 2}, dtype);
    check_layouts(a, b, a.mm(b), cuda::mm_kernel);
    check_layouts(as, bs, as.bmm(bs), cuda::bmm_kernel);
    for (const Tensor& self : {whole({3, 2}, dtype), whole({3, 1}, dtype), whole({2}, dtype), whole({}, dtype)}) {
      for (const int beta : {0, 1, 2}) {
        check_layouts(a, b, at::addmm(self, a, b, beta, 3), [&](auto& x, auto& y, auto& out) {
          cuda::addmm_kernel(self, x, y, beta, 3, out);
        });
        check_layouts(as, bs, at::baddbmm(self, as, bs, beta, 3), [&](auto& x, auto& y, auto& out) {
          cuda::baddbmm_kernel(self, x, y, beta, 3, out);
        });
        check_layouts(as, bs, at::addbmm(self, as, bs, beta, 3), [&](auto& x, auto& y, auto& out) {
          cuda::addbmm_kernel(self, x, y, beta, 3, out);
        });
      }
    }
    const Tensor none = at::empty({3, 0}, a.options()), nothing = at::empty({0, 2}, a.options()),
                 rest = whole({3, 2}, dtype);
    CHECK(filled(rest, [&](auto& out) { cuda::mm_kernel(none, nothing, out); }).eq(0).all().item<bool>());
    CHECK(filled(rest, [&](auto& out) { cuda::addmm_kernel(rest, none, nothing, 2, 1, out); }).equal(rest * 2));
  }
}

TEST_CASE("products with vectors", "[cuda][emulated][matmul]") {
  for (const at::ScalarType dtype : kDtypes) {
    const Tensor m = whole({3, 4}, dtype), x = whole({4}, dtype), y = whole({4}, dtype), self = whole({3}, dtype);
    for (const Tensor& a : in_layouts(m)) {
      CHECK(filled(self, [&](auto& out) { cuda::mv_kernel(a, x, out); }).equal(m.mv(x)));
      CHECK(filled(self, [&](auto& out) {
              cuda::addmv_kernel(self, a, x, 2, 3, out);
            }).equal(at::addmv(self, m, x, 2, 3)));
    }
    const Tensor one = at::empty({}, m.options());
    for (const Tensor& left : {x, m.select(0, 1), whole({4, 2}, dtype).select(1, 1), x.conj()}) {
      for (const Tensor& right : {y, y.expand({4}), whole({1}, dtype).expand({4}), y.conj()}) {
        CHECK(filled(one, [&](auto& out) {
                cuda::dot_kernel(left, right, out);
              }).equal(at::dot(left.clone(), right.clone())));
        CHECK(filled(one, [&](auto& out) {
                cuda::vdot_kernel(left, right, out);
              }).equal(at::vdot(left.clone(), right.clone())));
      }
    }
  }
}

TEST_CASE("a bias and an activation are part of the product", "[cuda][emulated][matmul]") {
  for (const bool refuses : {false, true}) {
    libraries().lt_refuses = refuses;
    for (const at::ScalarType dtype : kReal) {
      // Sizes of their own: what there is no kernel for is remembered.
      const Tensor a = whole({refuses ? 5 : 3, 4}, dtype), b = whole({4, 2}, dtype), bias = whole({2}, dtype);
      const Tensor sum = at::addmm(bias, a, b, 1, 2);
      libraries().lt_runs.clear();
      CHECK(filled(sum, [&](auto& out) { cuda::addmm_kernel(bias, a, b, 1, 2, out); }).equal(sum));
      for (const Tensor& left : in_layouts(a)) {
        for (const Tensor& right : in_layouts(b)) {
          CHECK(at::native::addmm_activation_cuda(bias, left, right, 1, 2, false).equal(at::relu(sum)));
          // The kernel does not round between the sum and gelu.
          const double tolerance = dtype == at::kBFloat16 ? 2e-2 : dtype == at::kHalf ? 2e-3 : 1e-5;
          CHECK(emulated::near(
              at::native::addmm_activation_cuda(bias, left, right, 1, 2, true), at::gelu(sum, "tanh"), tolerance,
              tolerance));
        }
      }
      CHECK(at::native::addmm_activation_cuda(whole({a.size(0), 1}, dtype).fill_(1), a, b, 0, 1, false)
                .equal(at::relu(a.mm(b))));
      const auto count = [&](int epilogue) {
        return std::count_if(libraries().lt_runs.begin(), libraries().lt_runs.end(), [&](const auto& run) {
          return run.epilogue == epilogue;
        });
      };
      CHECK(count(CUBLASLT_EPILOGUE_BIAS) == (refuses ? 0 : 1));
      CHECK(count(CUBLASLT_EPILOGUE_RELU_BIAS) == (refuses ? 0 : 16));
      CHECK(count(CUBLASLT_EPILOGUE_GELU_BIAS) == (refuses || dtype == at::kDouble ? 0 : 16));
    }
  }
  libraries().lt_refuses = false;
  CHECK(libraries().lt_descriptors == 0);
  CHECK_THROWS_WITH(
      at::native::addmm_activation_cuda(at::ones({2}), at::ones({2, 3}), at::ones({4, 2}), 1, 1, false),
      Catch::Contains("mat1 and mat2 shapes cannot be multiplied (2x3 and 4x2)"));
}

TEST_CASE("sums for the gradient of a bias are part of the product", "[cuda][emulated][matmul]") {
  for (const bool refuses : {false, true}) {
    libraries().lt_refuses = refuses;
    for (const at::ScalarType dtype : kReal) {
      const Tensor x = whole({refuses ? 5 : 3, 4}, dtype), grad = whole({x.size(0), 2}, dtype);
      libraries().lt_runs.clear();
      for (const Tensor& left : in_layouts(x)) {
        for (const Tensor& right : in_layouts(grad)) {
          for (const bool by_columns : {false, true}) {
            const auto [product, sums] = cuda::transposed_mm_with_sums(left, right, by_columns);
            CHECK(product.equal(x.t().mm(grad)));
            CHECK(product.stride(by_columns ? 0 : 1) == 1);
            CHECK(sums.equal(grad.sum(0)));
          }
        }
      }
      CHECK(libraries().lt_runs.size() == (refuses ? 0 : 32));
      const auto [product, sums] = cuda::transposed_mm_with_sums(x.slice(0, 0, 0), grad.slice(0, 0, 0), false);
      CHECK(product.equal(at::zeros_like(product)));
      CHECK(sums.equal(at::zeros_like(sums)));
    }
  }
  libraries().lt_refuses = false;
  CHECK(libraries().lt_descriptors == 0);
}

TEST_CASE("partial sums are rounded only where that is allowed", "[cuda][emulated][matmul]") {
  const Tensor a = whole({3, 6}, at::kHalf), b = whole({6, 2}, at::kHalf), bias = whole({2}, at::kHalf);
  for (const bool allowed : {true, false, true}) {
    at::globalContext().setAllowFP16ReductionCuBLAS(allowed);
    libraries().lt_runs.clear();
    CHECK(filled(a.mm(b), [&](auto& out) { cuda::addmm_kernel(bias, a, b, 1, 1, out); }).equal(at::addmm(bias, a, b)));
    REQUIRE(libraries().lt_runs.size() == 1);
    CHECK(libraries().lt_runs[0].exact_sums == !allowed);
  }
}
