// The plugin's kernels and their host sides, run by the emulator on CPU tensors, against the CPU's own operators.
#include "test/cuda/emulated/compare.h"

#include <aten/core/List.h>
#include <aten/core/ivalue.h>
#include <aten/iterator/TensorIterator.h>
#include <aten/native/cuda/index_error.h>
#include <aten/native/cuda/pointwise_run.h>
#include <aten/native/cuda/reduce.h>

#include <torch/torch.h>

#include <catch2/catch.hpp>

#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

namespace at::native {

using OptDims = c10::OptionalIntArrayRef;
using Indices = c10::List<std::optional<Tensor>>;

namespace cuda {

void launch_Exp(const PointwisePlan&);
void launch_AddAlpha(const PointwisePlan&, const c10::Scalar&);
void launch_Lt(const PointwisePlan&);
void launch_Lerp(const PointwisePlan&);
void launch_Abs(const PointwisePlan&);
void launch_Digamma(const PointwisePlan&);
void where_kernel(TensorIteratorBase&);
void masked_fill_kernel(TensorIteratorBase&, const c10::Scalar&);
void copy_on_device(const TensorBase&, const TensorBase&);
void tril_kernel(const TensorBase&, int64_t, const TensorBase&);
void triangle_on_device(const TensorBase&, int64_t, const TensorBase&, bool, int64_t);
void triu_kernel(const TensorBase&, int64_t, const TensorBase&);
void sum_kernel(const TensorBase&, OptDims, bool, std::optional<ScalarType>, const TensorBase&);
void mean_kernel(const TensorBase&, OptDims, bool, std::optional<ScalarType>, const TensorBase&);
void nansum_kernel(const TensorBase&, OptDims, bool, std::optional<ScalarType>, const TensorBase&);
void prod_kernel(const TensorBase&, int64_t, bool, std::optional<ScalarType>, const TensorBase&);
void amax_kernel(const TensorBase&, IntArrayRef, bool, const TensorBase&);
void argmin_kernel(const TensorBase&, std::optional<int64_t>, bool, const TensorBase&);
void argmax_kernel(const TensorBase&, std::optional<int64_t>, bool, const TensorBase&);
void min_dim_kernel(const TensorBase&, int64_t, bool, const TensorBase&, const TensorBase&);
void any_kernel(const TensorBase&, int64_t, bool, const TensorBase&);
void all_all_kernel(const TensorBase&, const TensorBase&);
void count_nonzero_kernel(const TensorBase&, std::optional<int64_t>, const TensorBase&);
void hash_tensor_kernel(const TensorBase&, IntArrayRef, bool, int64_t, const TensorBase&);
void frexp_kernel(const TensorBase&, const TensorBase&, const TensorBase&);
void vector_norm_kernel(const TensorBase&, const Scalar&, OptDims, bool, std::optional<ScalarType>, const TensorBase&);
void var_mean_kernel(
    const TensorBase&, OptDims, const std::optional<Scalar>&, bool, const TensorBase&, const TensorBase&);
void cumsum_kernel(const TensorBase&, int64_t, std::optional<ScalarType>, const TensorBase&);
void cumprod_kernel(const TensorBase&, int64_t, std::optional<ScalarType>, const TensorBase&);
void softmax_kernel(const TensorBase&, int64_t, bool, const TensorBase&);
void log_softmax_kernel(const TensorBase&, int64_t, bool, const TensorBase&);
void softmax_backward_kernel(const TensorBase&, const TensorBase&, int64_t, ScalarType, const TensorBase&);
void log_softmax_backward_kernel(const TensorBase&, const TensorBase&, int64_t, ScalarType, const TensorBase&);
std::tuple<Tensor, Tensor> rms_norm_backward(
    const Tensor&, const Tensor&, IntArrayRef, const Tensor&, const std::optional<Tensor>&, std::array<bool, 2>);
void layer_norm_kernel(
    const TensorBase&,
    IntArrayRef,
    const std::optional<Tensor>&,
    const std::optional<Tensor>&,
    double,
    const TensorBase&,
    const TensorBase&,
    const TensorBase&);
void embedding_kernel(const TensorBase&, const TensorBase&, int64_t, bool, bool, const TensorBase&);
void embedding_dense_backward_kernel(const TensorBase&, const TensorBase&, int64_t, int64_t, bool, const TensorBase&);
void nll_loss_forward_kernel(
    const TensorBase&,
    const TensorBase&,
    const std::optional<Tensor>&,
    int64_t,
    int64_t,
    const TensorBase&,
    const TensorBase&);
void nll_loss_backward_kernel(
    const TensorBase&,
    const TensorBase&,
    const TensorBase&,
    const std::optional<Tensor>&,
    int64_t,
    int64_t,
    const TensorBase&,
    const TensorBase&);
void gather_kernel(const TensorBase&, int64_t, const TensorBase&, bool, const TensorBase&);
void scatter_add_kernel(const TensorBase&, int64_t, const TensorBase&, const TensorBase&, const TensorBase&);
void scatter_reduce_two_kernel(
    const TensorBase&, int64_t, const TensorBase&, const TensorBase&, std::string_view, bool, const TensorBase&);
void index_select_kernel(const TensorBase&, int64_t, const TensorBase&, const TensorBase&);
void index_add_kernel(
    const TensorBase&, int64_t, const TensorBase&, const TensorBase&, const Scalar&, const TensorBase&);
void index_fill_kernel(const TensorBase&, int64_t, const TensorBase&, const Scalar&, const TensorBase&);
void take_kernel(const TensorBase&, const TensorBase&, const TensorBase&);

} // namespace cuda

std::tuple<Tensor, Tensor> _fused_rms_norm_cuda(
    const Tensor&, IntArrayRef, const std::optional<Tensor>&, std::optional<double>);
std::tuple<Tensor, Tensor, Tensor> native_layer_norm_backward_cuda(
    const Tensor&,
    const Tensor&,
    IntArrayRef,
    const Tensor&,
    const Tensor&,
    const std::optional<Tensor>&,
    const std::optional<Tensor>&,
    std::array<bool, 3>);
Tensor index_cuda(const Tensor&, const Indices&);
Tensor& _index_put_impl_cuda_(Tensor&, const Indices&, const Tensor&, bool, bool);
Tensor& masked_scatter_cuda_(Tensor&, const Tensor&, const Tensor&);
Tensor& put_cuda_(Tensor&, const Tensor&, const Tensor&, bool);
Tensor& arange_out_cuda(const Scalar&, const Scalar&, const Scalar&, Tensor&);
Tensor& tril_cuda_(Tensor&, int64_t);
Tensor tril_indices_cuda(
    int64_t,
    int64_t,
    int64_t,
    std::optional<ScalarType>,
    std::optional<Layout>,
    std::optional<Device>,
    std::optional<bool>);
Tensor triu_indices_cuda(
    int64_t,
    int64_t,
    int64_t,
    std::optional<ScalarType>,
    std::optional<Layout>,
    std::optional<Device>,
    std::optional<bool>);
Tensor& triu_cuda_(Tensor&, int64_t);
Tensor& linspace_out_cuda(const Scalar&, const Scalar&, int64_t, Tensor&);

} // namespace at::native

namespace {

namespace cuda = at::native::cuda;
using at::Tensor;

using emulated::filled;
using emulated::near;

template <class Launch>
Tensor pointwise(std::initializer_list<at::PointwiseInput> inputs, Launch launch, at::PointwiseRule rule = {}) {
  at::TensorIterator iter;
  iter.build_pointwise(nullptr, inputs, rule);
  cuda::run_pointwise(iter, launch);
  return iter.take_output();
}

Tensor emulated_add(at::PointwiseInput a, at::PointwiseInput b, const c10::Scalar& alpha = 1) {
  return pointwise({a, b}, [&](const cuda::PointwisePlan& plan) { cuda::launch_AddAlpha(plan, alpha); });
}

} // namespace

TEST_CASE("emulated: lengths around vectors and blocks", "[cuda]") {
  for (const int64_t n : {1, 3, 7, 8, 9, 255, 257, 1025, 2051}) {
    for (const at::ScalarType dtype :
         {at::kChar, at::kShort, at::kLong, at::kHalf, at::kBFloat16, at::kFloat, at::kDouble, at::kComplexDouble}) {
      INFO(n << " of " << dtype);
      const Tensor a = torch::arange(n).remainder(50).to(dtype), b = torch::full({n}, 3, dtype);
      CHECK(near(emulated_add(a, b, 2), a + b * 2));
      CHECK(near(emulated_add(a, c10::Scalar(2)), a + 2));
    }
    const Tensor x = torch::randn({n});
    CHECK(near(pointwise({x}, cuda::launch_Exp), x.exp()));
    CHECK(near(pointwise({x.to(at::kBFloat16)}, cuda::launch_Exp), x.to(at::kBFloat16).exp(), 1e-2));
    CHECK(near(pointwise({x, -x}, cuda::launch_Lt, {at::PointwiseRule::Result::Bool}), x < -x));
    CHECK(near(pointwise({x.to(at::kComplexFloat)}, cuda::launch_Abs, {at::PointwiseRule::Result::Real}), x.abs()));
    CHECK(near(pointwise({x, x * 2, x * 3}, cuda::launch_Lerp), at::lerp(x, x * 2, x * 3)));
    CHECK(near(pointwise({x.abs() + 1}, cuda::launch_Digamma), (x.abs() + 1).digamma()));
  }
}

TEST_CASE("emulated: numbers need fit the operands' dtype alone", "[cuda]") {
  const Tensor x = torch::arange(4).to(at::kFloat), z = torch::randn({4}, at::kComplexDouble);
  CHECK(near(emulated_add(x, x, 1000.5), x + x * 1000.5)); // no byte
  CHECK(near(emulated_add(x, x, -1e30), x - x * 1e30));
  const c10::complex<double> turn(0.5, 2);
  CHECK(near(emulated_add(z, z, turn), z + z * c10::Scalar(turn)));
}

TEST_CASE("emulated: layouts of pointwise operands", "[cuda]") {
  const Tensor a = torch::randn({6, 7, 8});
  for (const Tensor& b :
       {torch::randn({8}), torch::randn({7, 1}), torch::randn({8, 7, 6}).permute({2, 1, 0}), torch::randn({1})}) {
    CHECK(near(emulated_add(a, b), a + b));
    CHECK(near(emulated_add(b, a), a + b));
  }
  const Tensor half = a.slice(2, 0, 8, 2);
  CHECK(near(emulated_add(half, half, -0.5), half * 0.5));
  const Tensor base = torch::randn({1001});
  CHECK(near(emulated_add(base.slice(0, 1), base.slice(0, 0, 1000)), base.slice(0, 1) + base.slice(0, 0, 1000)));
  CHECK(near(pointwise({half}, cuda::launch_Exp), half.exp()));
  CHECK(near(pointwise({half.abs() + 1}, cuda::launch_Digamma), (half.abs() + 1).digamma()));
  CHECK(near(emulated_add(a.to(at::kHalf), c10::Scalar(0.1)), a.to(at::kHalf) + 0.1, 1e-3));
}

TEST_CASE("emulated: rows and columns that are broadcast, and rows with gaps, are read 16 bytes at a time", "[cuda]") {
  for (const at::ScalarType dtype :
       {at::kChar, at::kShort, at::kLong, at::kHalf, at::kFloat, at::kDouble, at::kComplexDouble}) {
    const Tensor whole = torch::arange(3 * 5 * 7 * 80).remainder(50).to(dtype).view({3, 5, 7, 80});
    for (const int64_t width : {48, 32, 8, 20}) { // the last is no multiple of 8
      const Tensor a = whole.slice(3, 0, width);
      for (const Tensor& b :
           {whole.slice(3, 16, 16 + width), whole.slice(3, 1, 1 + width), a.select(0, 1), a.slice(3, 2, 3),
            a.slice(2, 2, 3), a.slice(1, 2, 3).slice(3, 0, 1), whole.slice(3, 0, 80, 80),
            a.select(2, 3).select(0, 0).unsqueeze(1)}) {
        INFO(dtype << " " << width << " " << b.sizes());
        CHECK(near(emulated_add(a, b, 2), a + b * 2));
        CHECK(near(emulated_add(b, a, 1), a + b));
      }
      CHECK(near(emulated_add(a, c10::Scalar(3)), a + 3));
      Tensor out = torch::zeros_like(whole);
      cuda::copy_on_device(out.slice(3, 0, width), a);
      cuda::copy_on_device(out.slice(1, 0, 1).slice(3, 0, width), a.slice(1, 1, 2));
      CHECK(near(out.slice(3, 0, width).slice(1, 1), a.slice(1, 1)));
      CHECK(near(out.slice(3, 0, width).select(1, 0), a.select(1, 1)));
      CHECK(near(out.slice(3, width), torch::zeros_like(out.slice(3, width))));
    }
  }
}

TEST_CASE("emulated: transposed copies go by tiles", "[cuda]") {
  for (const at::ScalarType dtype : {at::kChar, at::kHalf, at::kFloat, at::kDouble, at::kComplexDouble}) {
    for (const std::vector<int64_t>& sizes :
         {std::vector<int64_t>{33, 70}, {16, 16}, {3, 31, 65}, {2, 40, 3, 64}, {15, 200}}) {
      const Tensor a = torch::arange(at::empty(sizes).numel()).remainder(100).to(dtype).view(sizes);
      const auto n = static_cast<int64_t>(sizes.size());
      for (int64_t d = 0; d + 1 < n; ++d) {
        const Tensor t = a.transpose(d, n - 1), like = torch::zeros(t.sizes(), dtype);
        CHECK(near(filled(like, [&](const Tensor& out) { cuda::copy_on_device(out, t); }), t));
        CHECK(near(filled(like, [&](const Tensor& out) { cuda::copy_on_device(out.transpose(d, n - 1), a); }), t));
        Tensor gaps = torch::zeros({t.size(0), t.numel() / t.size(0) + 3}, dtype).slice(1, 0, t.numel() / t.size(0));
        if (n == 2) {
          cuda::copy_on_device(gaps, t);
          CHECK(near(gaps, t));
        }
      }
    }
  }
}

TEST_CASE("emulated: operands of other dtypes are converted by the kernel", "[cuda]") {
  constexpr auto kCommon = at::PointwiseRule::Result::Common;
  const auto add = [](at::PointwiseInput a, at::PointwiseInput b, const Tensor* out = nullptr) {
    at::TensorIterator iter;
    iter.build_pointwise(out, {a, b}, {kCommon, 0, true});
    for (int i = 1; i < 3; ++i) { // no copy stands for an input
      CHECK(!iter.operand(i).original_tensor_base().defined());
    }
    cuda::run_pointwise(iter, [](const cuda::PointwisePlan& plan) { cuda::launch_AddAlpha(plan, 1); });
    iter.cast_outputs();
    return iter.take_output();
  };
  const auto same = [](const Tensor& a, const Tensor& b) {
    return a.scalar_type() == b.scalar_type() && near(a, b, 1e-3);
  };
  const std::vector<at::ScalarType> dtypes = {at::kBool,  at::kByte,   at::kChar,         at::kShort,
                                              at::kInt,   at::kLong,   at::kHalf,         at::kBFloat16,
                                              at::kFloat, at::kDouble, at::kComplexFloat, at::kComplexDouble};
  const std::vector<at::ScalarType> computed = {at::kChar,     at::kShort, at::kLong,   at::kHalf,
                                                at::kBFloat16, at::kFloat, at::kDouble, at::kComplexDouble};
  const Tensor whole = torch::arange(3 * 5 * 40).remainder(50).view({3, 5, 40});
  for (const at::ScalarType one : dtypes) {
    for (const at::ScalarType other : dtypes) {
      const at::ScalarType common = at::promoteTypes(one, other);
      if (std::find(computed.begin(), computed.end(), common) == computed.end()) {
        continue;
      }
      INFO(one << " and " << other);
      for (const int64_t n : {1, 3, 4, 7, 8, 257, 600}) {
        const Tensor a = whole.view({600}).slice(0, 0, n).to(one), b = torch::arange(n).remainder(7).to(other);
        CHECK(same(add(a, b), a + b));
      }
      const Tensor a = whole.to(one).slice(2, 0, 16), b = whole.to(other).slice(2, 16, 32);
      CHECK(same(add(a, b), a + b)); // rows with gaps
      CHECK(same(add(a, b.select(0, 1)), a + b.select(0, 1)));
      CHECK(same(add(a, b.slice(2, 3, 4)), a + b.slice(2, 3, 4))); // an element for each row
      CHECK(same(add(a.transpose(0, 2), b.transpose(0, 2)), (a + b).transpose(0, 2)));
      CHECK(same(add(a.slice(2, 1), b.slice(2, 0, 15)), a.slice(2, 1) + b.slice(2, 0, 15))); // does not begin aligned
      Tensor sum = a.clone();
      if (at::canCast(common, one)) {
        CHECK(same(add(sum, b, &sum), (a + b).to(one)));
        Tensor gaps = whole.to(one).slice(2, 20, 36);
        CHECK(same(add(a, b, &gaps), (a + b).to(one)));
        Tensor empty = torch::empty({0}, one);
        CHECK(same(add(a, b, &empty), (a + b).to(one)));
      }
    }
  }
  // Numbers keep their kind, tensors without dimensions their rank, and what is computed in 16 bits is rounded to it
  // first.
  const Tensor half = torch::randn({9}).to(at::kHalf), ints = torch::arange(9), one = torch::tensor(0.1, at::kDouble);
  CHECK(same(add(ints, c10::Scalar(2.5)), ints + 2.5));
  CHECK(same(add(ints > 3, c10::Scalar(2)), (ints > 3) + 2));
  CHECK(same(add(half, torch::full({1}, 0.1).select(0, 0)), half + torch::full({1}, 0.1).select(0, 0)));
  CHECK(same(add(half, one), half + one));
  CHECK(at::equal(add(half, ints * 1001), half + ints * 1001));
  // Results in other dtypes, of one operand, of three.
  const auto into = [](const Tensor& out, std::initializer_list<at::PointwiseInput> inputs, auto launch,
                       at::PointwiseRule::Result result) {
    at::TensorIterator iter;
    iter.build_pointwise(&out, inputs, {result, 0, true});
    cuda::run_pointwise(iter, launch);
    return out;
  };
  using Result = at::PointwiseRule::Result;
  const Tensor x = torch::rand({70});
  for (const at::ScalarType dtype : {at::kBool, at::kInt, at::kHalf, at::kFloat, at::kDouble, at::kComplexFloat}) {
    INFO(dtype);
    CHECK(same(
        into(torch::zeros({70}, dtype), {x, x.to(at::kHalf)}, cuda::launch_Lt, Result::Bool),
        (x < x.to(at::kHalf)).to(dtype)));
    if (at::isFloatingType(dtype)) {
      CHECK(same(into(torch::zeros({70}, dtype), {x}, cuda::launch_Exp, Result::Float), x.exp().to(dtype)));
      CHECK(same(
          into(torch::zeros({70}, dtype), {(x * 10).to(at::kInt)}, cuda::launch_Exp, Result::Float),
          (x * 10).to(at::kInt).exp().to(dtype)));
      CHECK(same(
          into(torch::zeros({70}, dtype), {x + 1}, cuda::launch_Digamma, Result::Float), (x + 1).digamma().to(dtype)));
      const Tensor weight = x.to(at::kBFloat16);
      CHECK(same(
          into(torch::zeros({70}, dtype), {x, (x * 10).to(at::kLong), weight}, cuda::launch_Lerp, Result::Common),
          (x + weight * ((x * 10).floor() - x)).to(dtype)));
    }
  }
  // Dtypes that the kernel does not know go through copies.
  const Tensor eight = torch::zeros({70}).to(at::kFloat8_e4m3fn), two = torch::full({}, 2.0f).to(at::kFloat8_e4m3fn);
  at::TensorIterator iter;
  iter.build_pointwise(&eight, {x, two}, {kCommon, 0, true});
  cuda::run_pointwise(iter, [](const cuda::PointwisePlan& plan) { cuda::launch_AddAlpha(plan, 1); });
  iter.cast_outputs();
  CHECK(same(eight.to(at::kFloat), (x + 2).to(at::kFloat8_e4m3fn).to(at::kFloat)));
  CHECK(same(
      into(torch::zeros({70}, at::kDouble), {torch::complex(x, x)}, cuda::launch_Abs, Result::Real),
      torch::complex(x, x).abs().to(at::kDouble)));
}

TEST_CASE("emulated: indices of triangles", "[cuda]") {
  const auto none = std::nullopt;
  for (const auto& [rows, cols] :
       {std::pair<int64_t, int64_t>{7, 5}, {5, 9}, {1, 40}, {40, 1}, {0, 3}, {INT64_MAX / 4, 3}}) {
    for (const int64_t offset : {-30, -3, -1, 0, 2, 4, 30}) {
      if (rows < 100) {
        const Tensor want = at::tril_indices(rows, cols, offset);
        CHECK(at::native::tril_indices_cuda(rows, cols, offset, none, none, at::kCPU, none).equal(want));
        CHECK(at::native::tril_indices_cuda(rows, cols, offset, at::kShort, none, at::kCPU, none)
                  .equal(want.to(at::kShort)));
      }
      CHECK(at::native::triu_indices_cuda(rows, cols, offset, none, none, at::kCPU, none)
                .equal(at::triu_indices(rows, cols, offset)));
    }
  }
  CHECK_THROWS_WITH(
      at::native::tril_indices_cuda(-1, 3, 0, none, none, at::kCPU, none), Catch::Contains("row must be non-negative"));
}

TEST_CASE("emulated: where, masked_fill, triangles, sequences", "[cuda]") {
  const Tensor a = torch::randn({5, 9});
  for (const at::ScalarType dtype : {at::kByte, at::kHalf, at::kFloat, at::kDouble, at::kComplexDouble}) {
    const Tensor x = (a * 10).abs().to(dtype), mask = a > 0;
    at::TensorIterator iter;
    iter.build_pointwise(nullptr, {mask, x, x.slice(0, 0, 1)}, {at::PointwiseRule::Result::Common, 1});
    cuda::where_kernel(iter);
    CHECK(near(iter.take_output(), at::where(mask, x, x.slice(0, 0, 1))));
    CHECK(near(filled(x, [&](const Tensor& out) { cuda::tril_kernel(x, 1, out); }), x.tril(1)));
    CHECK(near(filled(x, [&](const Tensor& out) { cuda::triu_kernel(x, -2, out); }), x.triu(-2)));
  }
  for (const at::ScalarType one : {at::kBool, at::kInt, at::kHalf, at::kFloat, at::kComplexFloat}) {
    for (const at::ScalarType other : {at::kByte, at::kLong, at::kBFloat16, at::kFloat, at::kDouble}) {
      for (const at::ScalarType mask : {at::kBool, at::kByte}) {
        const Tensor x = (a * 10).abs().to(one), y = (a * 5).abs().to(other), choice = (a * 2).abs().to(mask);
        at::TensorIterator iter;
        iter.build_pointwise(nullptr, {choice, x, y.slice(0, 0, 1)}, {at::PointwiseRule::Result::Common, 1, true});
        cuda::where_kernel(iter);
        INFO(one << " and " << other << " by " << mask);
        CHECK(near(iter.take_output(), at::where(choice.to(at::kBool), x, y.slice(0, 0, 1))));
      }
    }
  }
  const Tensor batch = torch::randn({4, 3, 5}).transpose(0, 2);
  CHECK(near(filled(batch, [&](const Tensor& out) { cuda::tril_kernel(batch, 0, out); }), batch.tril()));
  // Rows of groups of 16 bytes; then cut into many launches; then in place.
  for (const at::ScalarType dtype : {at::kByte, at::kHalf, at::kFloat, at::kDouble}) {
    const Tensor x = (torch::rand({3, 40, 48}) * 100).to(dtype);
    for (const int64_t diagonal : {-45, -7, 0, 5, 60}) {
      CHECK(near(filled(x, [&](const Tensor& out) { cuda::tril_kernel(x, diagonal, out); }), x.tril(diagonal)));
      CHECK(near(
          filled(x, [&](const Tensor& out) { cuda::triangle_on_device(x, diagonal, out, false, 1000); }),
          x.triu(diagonal)));
      const Tensor columns = x.mT();
      CHECK(near(
          filled(columns, [&](const Tensor& out) { cuda::triangle_on_device(columns, diagonal, out, true, 700); }),
          columns.tril(diagonal)));
      Tensor there = x.clone();
      CHECK(near(at::native::triu_cuda_(there, diagonal), x.triu(diagonal)));
    }
  }
  Tensor shared = torch::ones({3, 4}).as_strided({2, 4, 4}, {0, 0, 1});
  CHECK(near(at::native::tril_cuda_(shared, 0), torch::tensor({1.0f, 0.0f, 0.0f, 0.0f}).expand({2, 4, 4})));
  for (const at::ScalarType dtype : {at::kInt, at::kLong, at::kHalf, at::kFloat, at::kDouble}) {
    Tensor out = torch::empty({0}, dtype);
    CHECK(near(at::native::arange_out_cuda(-3, 20, 2, out), torch::arange(-3, 20, 2, dtype)));
    Tensor line = torch::empty({0}, dtype);
    // Steps of integers are counted in float on CUDA and in double on the CPU, as in PyTorch: whole steps agree.
    const int64_t steps = at::isIntegralType(dtype, /*includeBool=*/false) ? 11 : 301;
    CHECK(near(at::native::linspace_out_cuda(0, 10, steps, line), torch::linspace(0, 10, steps, dtype)));
  }
}

TEST_CASE("emulated: conversions between all dtypes", "[cuda]") {
  const std::vector<at::ScalarType> dtypes = {at::kBool,  at::kByte,   at::kChar,         at::kShort,
                                              at::kInt,   at::kLong,   at::kHalf,         at::kBFloat16,
                                              at::kFloat, at::kDouble, at::kComplexFloat, at::kComplexDouble};
  const Tensor sample = torch::arange(1500).view({30, 50}).remainder(100) / 2;
  for (const at::ScalarType from : dtypes) {
    for (const at::ScalarType to : dtypes) {
      INFO(from << " to " << to);
      const Tensor a = sample.to(from);
      CHECK(near(filled(a.to(to), [&](const Tensor& out) { cuda::copy_on_device(out, a); }), a.to(to)));
      CHECK(near(
          filled(a.t().to(to), [&](const Tensor& out) { cuda::copy_on_device(out, a.t().contiguous()); }),
          a.t().to(to)));
    }
  }
}

TEST_CASE("emulated: reductions that read 16 bytes at a time", "[cuda]") {
  torch::manual_seed(13);
  for (const auto dtype : {at::kHalf, at::kBFloat16, at::kFloat, at::kDouble}) {
    const Tensor memory = torch::randn({3 * 4 * 160 + 1}).to(dtype);
    const double tolerance = dtype == at::kBFloat16 ? 5e-2 : dtype == at::kHalf ? 1e-2 : 1e-4;
    for (const int64_t shift : {0, 1}) { // aligned and not
      const Tensor whole = memory.slice(0, shift, shift + 3 * 4 * 160).view({3, 4, 160});
      for (const Tensor& t :
           {whole, whole.slice(2, 0, 77), whole.slice(2, 0, 3), whole.transpose(0, 1), whole.slice(2, 4)}) {
        // The last two are columns: several outputs side by side are read at once.
        for (const std::vector<int64_t>& dims : {std::vector<int64_t>{2}, {1, 2}, {0, 2}, {0, 1, 2}, {0}, {0, 1}}) {
          const Tensor sum = t.sum(dims), most = t.amax(dims);
          CHECK(near(
              filled(sum, [&](const Tensor& out) { cuda::sum_kernel(t, dims, false, {}, out); }), sum, tolerance,
              tolerance));
          CHECK(near(filled(most, [&](const Tensor& out) { cuda::amax_kernel(t, dims, false, out); }), most));
        }
        const Tensor places = t.argmax(2), var = t.var(at::IntArrayRef{2}, true);
        CHECK(near(filled(places, [&](const Tensor& out) { cuda::argmax_kernel(t, 2, false, out); }), places));
        Tensor mean = torch::empty_like(var);
        CHECK(near(
            filled(var, [&](const Tensor& out) { cuda::var_mean_kernel(t, at::IntArrayRef{2}, {}, false, out, mean); }),
            var, tolerance, tolerance));
      }
    }
    const Tensor rows = torch::randn({3000, 8}).to(dtype), column_sum = rows.sum(0), column_var = rows.var(0),
                 highest = rows.argmax(0);
    CHECK(near(
        filled(column_sum, [&](const Tensor& out) { cuda::sum_kernel(rows, at::IntArrayRef{0}, false, {}, out); }),
        column_sum, tolerance, 20 * tolerance));
    Tensor column_mean = torch::empty_like(column_var);
    CHECK(near(
        filled(
            column_var,
            [&](const Tensor& out) { cuda::var_mean_kernel(rows, at::IntArrayRef{0}, {}, false, out, column_mean); }),
        column_var, tolerance, tolerance));
    CHECK(near(filled(highest, [&](const Tensor& out) { cuda::argmax_kernel(rows, 0, false, out); }), highest));
    const Tensor row = torch::randn({70003}).to(dtype), sum = row.sum(), first = row.argmin();
    CHECK(near(
        filled(sum, [&](const Tensor& out) { cuda::sum_kernel(row, at::IntArrayRef{0}, false, {}, out); }), sum,
        tolerance, 20 * tolerance));
    CHECK(near(filled(first, [&](const Tensor& out) { cuda::argmin_kernel(row, std::nullopt, false, out); }), first));
  }
}

TEST_CASE("emulated: reductions of more elements than a launch takes", "[cuda]") {
  for (const auto dtype : {at::kFloat, at::kHalf, at::kDouble, at::kInt}) {
    for (const bool last : {true, false}) {
      const Tensor t = torch::randint(-50, 50, {37, 501}).to(dtype), a = last ? t : t.t();
      const int64_t dim = last ? 1 : 0;
      const auto dims = std::bitset<64>().set(dim);
      const auto run_for = [&](const Tensor& out, bool in_order) {
        cuda::ReduceRun run;
        for (cuda::ReducePlan& plan : cuda::plan_reduction(a, dims, out, in_order, /*most=*/30)) {
          if (dtype == at::kFloat || dtype == at::kHalf) {
            cuda::read_vectors(plan, a.const_data_ptr(), a.itemsize());
          }
          run.parts.push_back({plan, cuda::launch_of(plan, 2)});
        }
        run.stream = nullptr;
        CHECK(run.parts.size() > 20);
        return run;
      };
      const cuda::ReduceInput in{dtype, a.const_data_ptr()};
      const Tensor sum = a.sum(dim, false, dtype), places = a.argmax(dim);
      CHECK(near(
          filled(
              sum,
              [&](const Tensor& out) {
                cuda::launch_arithmetic(
                    run_for(out, false), cuda::Arithmetic::Sum, in, {dtype, out.mutable_data_ptr()}, 1);
              }),
          sum));
      CHECK(near(
          filled(
              places,
              [&](const Tensor& out) {
                cuda::launch_arg_extremum(run_for(out, true), true, in, nullptr, out.mutable_data_ptr<int64_t>());
              }),
          places));
    }
  }
}

TEST_CASE("emulated: reductions", "[cuda]") {
  const Tensor a = torch::randn({9, 5, 70});
  for (const Tensor& t : {a, a.transpose(0, 2), a.slice(0, 0, 9, 2)}) {
    for (const std::vector<int64_t>& dims : {std::vector<int64_t>{0}, {1}, {2}, {0, 1}, {0, 2}, {0, 1, 2}}) {
      const Tensor like = t.sum(dims);
      CHECK(near(filled(like, [&](const Tensor& out) { cuda::sum_kernel(t, dims, false, {}, out); }), like));
      CHECK(near(filled(like, [&](const Tensor& out) { cuda::mean_kernel(t, dims, false, {}, out); }), t.mean(dims)));
      CHECK(near(filled(like, [&](const Tensor& out) { cuda::amax_kernel(t, dims, false, out); }), t.amax(dims)));
      for (const double p : std::vector<double>{0, 1, 2, 3, INFINITY, -INFINITY}) {
        CHECK(near(
            filled(like, [&](const Tensor& out) { cuda::vector_norm_kernel(t, p, dims, false, {}, out); }),
            at::linalg_vector_norm(t, p, dims), 1e-4));
      }
      Tensor mean = torch::empty_like(like);
      CHECK(near(
          filled(like, [&](const Tensor& out) { cuda::var_mean_kernel(t, dims, {}, false, out, mean); }),
          t.var(dims, true), 1e-4));
      CHECK(near(mean, t.mean(dims)));
    }
    for (const int64_t dim : {0, 1, 2}) {
      const Tensor places = t.argmax(dim), values = t.sum(dim);
      CHECK(near(filled(places, [&](const Tensor& out) { cuda::argmax_kernel(t, dim, false, out); }), places));
      Tensor indices = torch::empty_like(places);
      CHECK(near(
          filled(values, [&](const Tensor& out) { cuda::min_dim_kernel(t, dim, false, out, indices); }),
          std::get<0>(t.min(dim))));
      CHECK(near(indices, std::get<1>(t.min(dim))));
      CHECK(near(
          filled(values, [&](const Tensor& out) { cuda::prod_kernel(t, dim, false, {}, out); }), t.prod(dim), 1e-4));
      const Tensor large = t > 1.5;
      CHECK(near(
          filled(large.any(dim), [&](const Tensor& out) { cuda::any_kernel(large, dim, false, out); }),
          large.any(dim)));
      CHECK(near(
          filled(places, [&](const Tensor& out) { cuda::count_nonzero_kernel(large, dim, out); }),
          large.count_nonzero(std::optional<int64_t>(dim))));
    }
    CHECK(near(
        filled(t.argmax(), [&](const Tensor& out) { cuda::argmax_kernel(t, std::nullopt, false, out); }), t.argmax()));
  }
  // Shared by blocks, and joined.
  const Tensor long_row = torch::rand({1, 60000}), long_columns = torch::rand({30000, 2});
  CHECK(near(
      filled(long_row.sum(1), [&](const Tensor& out) { cuda::sum_kernel(long_row, {{1}}, false, {}, out); }),
      long_row.sum(1)));
  CHECK(near(
      filled(long_columns.sum(0), [&](const Tensor& out) { cuda::sum_kernel(long_columns, {{0}}, false, {}, out); }),
      long_columns.sum(0)));
  CHECK(near(
      filled(long_row.argmax(1), [&](const Tensor& out) { cuda::argmax_kernel(long_row, 1, false, out); }),
      long_row.argmax(1)));
  Tensor holes = a.clone();
  holes.view({-1})[37] = std::nan("");
  CHECK(near(
      filled(holes.argmax(), [&](const Tensor& out) { cuda::argmax_kernel(holes, std::nullopt, false, out); }),
      holes.argmax()));
  CHECK(near(
      filled(holes.nansum(), [&](const Tensor& out) { cuda::nansum_kernel(holes, std::nullopt, false, {}, out); }),
      holes.nansum(), 1e-4));
  for (const at::ScalarType dtype : {at::kBool, at::kByte, at::kChar, at::kInt, at::kLong}) {
    const Tensor t = (torch::arange(500) % 7).to(dtype);
    CHECK(
        near(filled(t.sum(), [&](const Tensor& out) { cuda::sum_kernel(t, std::nullopt, false, {}, out); }), t.sum()));
    CHECK(near(filled(t.amax(), [&](const Tensor& out) { cuda::amax_kernel(t, {}, false, out); }), t.amax()));
    CHECK(near(filled(t.all(), [&](const Tensor& out) { cuda::all_all_kernel(t, out); }), t.all()));
  }
}

TEST_CASE("emulated: scans", "[cuda]") {
  const Tensor a = torch::rand({5, 600, 3});
  for (const int64_t dim : {0, 1, 2}) {
    const Tensor t = a.transpose(1, dim).contiguous();
    CHECK(near(filled(t, [&](const Tensor& out) { cuda::cumsum_kernel(t, dim, {}, out); }), t.cumsum(dim)));
    CHECK(near(filled(t, [&](const Tensor& out) { cuda::cumprod_kernel(t, dim, {}, out); }), t.cumprod(dim)));
  }
  const Tensor row = torch::randn({2, 1000}, at::kDouble), narrow = torch::ones({300}, at::kHalf);
  CHECK(near(filled(row, [&](const Tensor& out) { cuda::cumsum_kernel(row, 1, {}, out); }), row.cumsum(1)));
  CHECK(near(filled(narrow, [&](const Tensor& out) { cuda::cumsum_kernel(narrow, 0, {}, out); }), narrow.cumsum(0)));
  // Rows that blocks share, also in place.
  for (const at::ScalarType dtype : {at::kLong, at::kDouble}) {
    const Tensor cut = torch::randint(-9, 9, {2, 13001}).to(dtype), want = cut.cumsum(1);
    CHECK(near(filled(cut, [&](const Tensor& out) { cuda::cumsum_kernel(cut, 1, {}, out); }), want));
    cuda::cumsum_kernel(cut, 1, {}, cut);
    CHECK(near(cut, want));
  }
}

TEST_CASE("emulated: softmax and its derivative", "[cuda]") {
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{5, 7}, {3, 1500}, {4, 6, 33}}) {
    for (const int64_t dim : {0, -1}) {
      Tensor a = torch::randn(sizes) * 3;
      a.select(0, 0).select(-1, 0).fill_(-INFINITY);
      const Tensor y = at::softmax(a, dim), log = at::log_softmax(a, dim), g = torch::randn(sizes);
      CHECK(near(filled(a, [&](const Tensor& out) { cuda::softmax_kernel(a, dim, false, out); }), y));
      CHECK(near(filled(a, [&](const Tensor& out) { cuda::log_softmax_kernel(a, dim, false, out); }), log));
      CHECK(near(
          filled(a, [&](const Tensor& out) { cuda::softmax_backward_kernel(g, y, dim, at::kFloat, out); }),
          at::_softmax_backward_data(g, y, dim, at::kFloat)));
      CHECK(near(
          filled(a, [&](const Tensor& out) { cuda::log_softmax_backward_kernel(g, log, dim, at::kFloat, out); }),
          at::_log_softmax_backward_data(g, log, dim, at::kFloat), 1e-4, 1e-4));
    }
  }
  const Tensor hopeless = torch::full({2, 5}, -INFINITY);
  CHECK(near(
      filled(hopeless, [&](const Tensor& out) { cuda::softmax_kernel(hopeless, 1, false, out); }),
      at::softmax(hopeless, 1)));
}

TEST_CASE("emulated: rows of softmax and layer norm in registers and in memory, aligned and not", "[cuda]") {
  torch::manual_seed(12);
  const auto offset_by = [](const Tensor& t, int64_t elements) {
    return at::empty({t.numel() + elements}, t.options()).slice(0, elements).view(t.sizes()).copy_(t);
  };
  for (const auto dtype : {at::kHalf, at::kBFloat16, at::kFloat, at::kDouble}) {
    for (const int64_t size : {5, 8, 37, 250, 640, 1024, 1027, 2056, 8208, 16400, 20011}) {
      const Tensor a = torch::randn({2, size}).mul(4).to(dtype), g = torch::randn({2, size}).to(dtype);
      const Tensor w = torch::rand({size}).to(dtype), b = torch::randn({size}).to(dtype);
      const double tolerance = dtype == at::kBFloat16 ? 3e-2 : dtype == at::kHalf ? 4e-3 : 1e-4;
      const auto same = [&](const Tensor& got, const Tensor& want) { return near(got, want, tolerance, tolerance); };
      const auto [y, mean, rstd] = at::native_layer_norm(a, {size}, w, b, 1e-5);
      const auto grads = at::native_layer_norm_backward(g, a, {size}, mean, rstd, w, b, {true, false, false});
      const Tensor soft = at::softmax(a, -1), slopes = at::_softmax_backward_data(g, soft, -1, dtype);
      for (const int64_t shift : {0, 1}) {
        const Tensor x = offset_by(a, shift), grad = offset_by(g, shift);
        Tensor means = torch::empty_like(mean), rstds = torch::empty_like(rstd);
        CHECK(same(filled(x, [&](const Tensor& out) { cuda::softmax_kernel(x, -1, false, out); }), soft));
        CHECK(same(
            filled(x, [&](const Tensor& out) { cuda::softmax_backward_kernel(grad, soft, -1, dtype, out); }), slopes));
        CHECK(same(
            filled(x, [&](const Tensor& out) { cuda::layer_norm_kernel(x, {size}, w, b, 1e-5, out, means, rstds); }),
            y));
        CHECK(same(means, mean));
        CHECK(same(
            std::get<0>(
                at::native::native_layer_norm_backward_cuda(grad, x, {size}, mean, rstd, w, b, {true, false, false})),
            std::get<0>(grads)));
      }
      Tensor out = torch::empty_like(a), none_means = torch::empty_like(mean), none_rstds = torch::empty_like(rstd);
      cuda::layer_norm_kernel(a, {size}, {}, {}, 1e-5, out, none_means, none_rstds);
      CHECK(same(out, at::layer_norm(a, {size})));
    }
  }
  // NaN, infinities and nothing but them, among neighbours that a thread reads together.
  Tensor odd = torch::randn({5, 64});
  odd.select(0, 0).select(0, 3).fill_(NAN);
  odd.select(0, 1).select(0, 5).fill_(INFINITY);
  odd.select(0, 2).slice(0, 1, 9).fill_(-INFINITY);
  odd.select(0, 3).fill_(-INFINITY);
  CHECK(near(filled(odd, [&](const Tensor& out) { cuda::softmax_kernel(odd, 1, false, out); }), at::softmax(odd, 1)));
  CHECK(near(
      filled(odd, [&](const Tensor& out) { cuda::log_softmax_kernel(odd, 1, false, out); }), at::log_softmax(odd, 1)));
}

TEST_CASE("emulated: layer norm and its derivatives", "[cuda]") {
  for (const auto dtype : {at::kFloat, at::kHalf, at::kDouble}) {
    // Rows enough for several parts; columns that lie aligned and not, and more than a block takes.
    for (const int64_t size : {1, 31, 72, 128, 1400}) {
      const int64_t rows = size == 72 ? 330 : 67;
      const double close = dtype == at::kHalf ? 2e-2 : 1e-3;
      const Tensor a = torch::randn({rows, size}).to(dtype) + 3, w = torch::randn({size}).to(dtype),
                   b = torch::randn({size}).to(dtype), g = torch::randn({rows, size}).to(dtype);
      const auto [y, mean, rstd] = at::native_layer_norm(a, {size}, w, b, 1e-5);
      Tensor means = torch::empty_like(mean), rstds = torch::empty_like(rstd);
      CHECK(near(
          filled(a, [&](const Tensor& out) { cuda::layer_norm_kernel(a, {size}, w, b, 1e-5, out, means, rstds); }), y,
          close, close));
      CHECK(near(means, mean, close, close));
      CHECK(near(rstds, rstd, close, close));
      for (const bool weights : {true, false}) {
        const auto want = at::native_layer_norm_backward(g, a, {size}, mean, rstd, w, b, {true, weights, true});
        const auto got =
            at::native::native_layer_norm_backward_cuda(g, a, {size}, mean, rstd, w, b, {true, weights, true});
        CHECK(near(std::get<0>(got), std::get<0>(want), close, close));
        CHECK((!weights || near(std::get<1>(got), std::get<1>(want), close, 4 * close)));
        CHECK(near(std::get<2>(got), std::get<2>(want), close, 4 * close));
      }
    }
  }
}

TEST_CASE("emulated: RMS norm and its derivatives", "[cuda]") {
  const auto dtype = GENERATE(at::kFloat, at::kHalf, at::kBFloat16, at::kDouble);
  const bool mixed = GENERATE(false, true); // weights wider than the rows, as autocast leaves them
  const auto weight_dtype = mixed && dtype != at::kDouble ? at::kFloat : dtype;
  // Rows enough for several parts; columns that lie aligned and not, and more than a block keeps.
  for (const int64_t size : {1, 31, 72, 128, 1400, 20011}) {
    const int64_t rows = size == 72 ? 330 : size > 20000 ? 3 : 67;
    const double close = dtype == at::kBFloat16 ? 5e-2 : dtype == at::kHalf ? 1e-2 : 1e-4;
    const Tensor a = torch::randn({rows, size}).add_(1).to(dtype), w = torch::randn({size}).to(weight_dtype),
                 g = torch::randn({rows, size}).to(dtype);
    for (const std::optional<Tensor>& weight : {std::optional<Tensor>(w), std::optional<Tensor>()}) {
      // Copies even of doubles: leaves of their own, whose gradients begin at none.
      const Tensor x = a.to(at::kDouble).clone().requires_grad_(), v = w.to(at::kDouble).clone().requires_grad_();
      const Tensor scale = (x * x).mean(1, true).add(1e-3).rsqrt(), want = weight ? x * scale * v : x * scale;
      want.backward(g.to(at::kDouble));
      const auto [y, rstd] = at::native::_fused_rms_norm_cuda(a, {size}, weight, 1e-3);
      CHECK(y.scalar_type() == dtype);
      CHECK(rstd.scalar_type() == (dtype == at::kDouble ? at::kDouble : at::kFloat));
      CHECK(near(y.to(at::kDouble), want.detach(), close, close));
      CHECK(near(rstd.to(at::kDouble), scale.detach(), 1e-3, 1e-3));
      const auto [for_input, for_weight] =
          cuda::rms_norm_backward(g, a, {size}, rstd, weight, {true, weight.has_value()});
      CHECK(near(for_input.to(at::kDouble), x.grad(), close, 4 * close));
      if (weight) {
        CHECK(for_weight.scalar_type() == weight_dtype);
        CHECK(near(for_weight.to(at::kDouble), v.grad(), close, 16 * close));
      }
      CHECK_FALSE(
          std::get<0>(cuda::rms_norm_backward(g, a, {size}, rstd, weight, {false, weight.has_value()})).defined());
    }
  }
  const Tensor none = torch::empty({0, 5}, dtype), nothing = torch::empty({2, 0}, dtype),
               w = torch::ones({5}, weight_dtype);
  CHECK(std::get<0>(at::native::_fused_rms_norm_cuda(none, {5}, w, {})).sizes() == none.sizes());
  const auto grads = cuda::rms_norm_backward(none, none, {5}, torch::empty({0, 1}), w, {true, true});
  CHECK(std::get<1>(grads).equal(torch::zeros_like(w)));
  CHECK(std::get<1>(at::native::_fused_rms_norm_cuda(nothing, {0}, {}, {})).sizes() == at::IntArrayRef({2, 1}));
}

TEST_CASE("emulated: embedding and nll_loss with derivatives", "[cuda]") {
  const Tensor table = torch::randn({11, 6}), tokens = torch::randint(11, {5, 7}, at::kLong),
               g = torch::randn({5, 7, 6});
  CHECK(near(
      filled(g, [&](const Tensor& out) { cuda::embedding_kernel(table, tokens, -1, false, false, out); }),
      at::embedding(table, tokens)));
  for (const bool by_frequency : {false, true}) {
    CHECK(near(
        filled(
            table,
            [&](const Tensor& out) { cuda::embedding_dense_backward_kernel(g, tokens, 11, 3, by_frequency, out); }),
        at::embedding_dense_backward(g, tokens, 11, 3, by_frequency), 1e-4, 1e-5));
  }
  const Tensor scores = torch::randn({35, 11}), weight = torch::rand({11}), target = tokens.flatten();
  for (const int64_t reduction : {0, 1, 2}) {
    const auto [loss, total] = at::nll_loss_forward(scores, target, weight, reduction, 2);
    Tensor weights = torch::empty_like(total);
    CHECK(near(
        filled(
            loss,
            [&](const Tensor& out) {
              cuda::nll_loss_forward_kernel(scores, target, weight, reduction, 2, out, weights);
            }),
        loss));
    CHECK(near(weights, total));
    const Tensor up = torch::randn(loss.sizes());
    CHECK(near(
        filled(
            scores,
            [&](const Tensor& out) {
              cuda::nll_loss_backward_kernel(up, scores, target, weight, reduction, 2, total, out);
            }),
        at::nll_loss_backward(up, scores, target, weight, reduction, 2, total)));
  }
}

TEST_CASE("emulated: gather, scatter and indexing", "[cuda]") {
  const Tensor a = torch::randn({6, 7, 8}), index = torch::randint(6, {4, 7, 8}, at::kLong);
  const Tensor places = torch::randint(7, {9}, at::kLong), source = torch::randn({6, 9, 8}),
               src = torch::randn({4, 7, 8});
  CHECK(
      near(filled(src, [&](const Tensor& out) { cuda::gather_kernel(a, 0, index, false, out); }), a.gather(0, index)));
  CHECK(near(
      filled(source, [&](const Tensor& out) { cuda::index_select_kernel(a, 1, places, out); }),
      a.index_select(1, places)));
  CHECK(near(
      filled(a, [&](const Tensor& out) { cuda::index_add_kernel(a, 1, places, source, 0.5, out); }),
      a.index_add(1, places, source, 0.5), 1e-4));
  CHECK(near(
      filled(a, [&](const Tensor& out) { cuda::index_fill_kernel(a, 1, places - 7, -1, out); }),
      a.index_fill(1, places, -1)));
  CHECK(near(filled(src, [&](const Tensor& out) { cuda::take_kernel(a, index - 3, out); }), a.take(index - 3)));
  for (const at::ScalarType dtype : {at::kChar, at::kLong, at::kHalf, at::kFloat, at::kComplexFloat}) {
    const Tensor x = (a * 4).round().to(dtype), y = (src * 4).round().to(dtype);
    CHECK(near(
        filled(x, [&](const Tensor& out) { cuda::scatter_add_kernel(x, 0, index, y, out); }),
        x.scatter_add(0, index, y), 1e-2, 1e-2));
  }
  for (const std::string_view reduce : {"sum", "prod", "mean", "amax", "amin"}) {
    for (const bool include : {false, true}) {
      CHECK(near(
          filled(
              a, [&](const Tensor& out) { cuda::scatter_reduce_two_kernel(a, 0, index, src, reduce, include, out); }),
          a.scatter_reduce(0, index, src, reduce, include), 1e-4, 1e-4));
    }
  }
  const Tensor i = torch::tensor({0, -1, 2}, at::kLong), j = torch::tensor({{1}, {3}}, at::kLong);
  const auto list = [](std::vector<std::optional<Tensor>> items) {
    at::native::Indices indices;
    for (std::optional<Tensor>& item : items) {
      indices.push_back(std::move(item));
    }
    return indices;
  };
  for (const at::native::Indices& indices :
       {list({i}), list({std::nullopt, i}), list({std::nullopt, i, j}), list({i, std::nullopt, j}),
        list({std::nullopt, j.expand({2, 3}).t()})}) {
    const Tensor want = at::index(a, indices);
    CHECK(near(at::native::index_cuda(a, indices), want));
    const Tensor turned = a.permute({2, 0, 1}), laid = at::index(turned, indices);
    const Tensor result = at::native::index_cuda(turned, indices);
    CHECK(near(result, laid));
    CHECK(result.strides() == laid.strides());
    Tensor got = a.clone(), expected = a.clone();
    at::native::_index_put_impl_cuda_(got, indices, torch::ones({1}).expand_as(want), true, false);
    at::_index_put_impl_(expected, indices, torch::ones({1}), true, false);
    CHECK(near(got, expected));
  }
  const at::native::Indices flags = list({a.select(2, 0) > 0});
  CHECK(near(at::native::index_cuda(a, flags), at::index(a, flags)));
  CHECK(cuda::index_error_slot()->raised == 0);
  at::native::index_cuda(a, list({torch::tensor({1, 6}, at::kLong)}));
  CHECK(cuda::index_error_slot()->raised == 1);
  CHECK(cuda::index_error_slot()->index == 6);
  CHECK(cuda::index_error_slot()->size == 6);
  cuda::index_error_slot()->raised = 0;
}

namespace {

/// What an error says; empty where there is none.
template <class F>
std::string words_of(F f) {
  try {
    f();
    return "";
  } catch (const c10::Error& e) {
    return e.what_without_backtrace();
  }
}

} // namespace

TEST_CASE("emulated: bad indices are refused in the CPU's order and words", "[cuda]") {
  const Tensor a = torch::zeros({2, 3}), empty = torch::zeros({0, 3}), flags = torch::ones({2, 3}, at::kBool),
               one = torch::ones({1});
  const Tensor i = torch::tensor({0, 1}, at::kLong), three = torch::tensor({0, 1, 0}, at::kLong),
               real = torch::zeros({2});
  using Items = std::vector<std::optional<Tensor>>;
  const auto list = [](const Items& items) {
    at::native::Indices indices;
    for (const std::optional<Tensor>& item : items) {
      indices.push_back(item);
    }
    return indices;
  };
  for (const Items& items :
       {Items{i, i, i}, Items{real, i, i}, Items{i, real}, Items{flags.t(), real}, Items{flags.t()}, Items{flags, i},
        Items{i, flags}, Items{i, three}, Items{flags[0], i}}) {
    const std::string want = words_of([&] { at::index(a, list(items)); });
    CHECK(!want.empty());
    CHECK(words_of([&] { at::native::index_cuda(a, list(items)); }) == want);
    Tensor target = a.clone();
    const Tensor wrong = torch::ones({7}, at::kDouble);
    CHECK(words_of([&] {
            at::native::_index_put_impl_cuda_(target, list(items), wrong, false, false);
          }) == words_of([&] { at::_index_put_impl_(target, list(items), wrong); }));
  }
  const std::string nowhere = words_of([&] { at::index(empty, list({i})); });
  CHECK(nowhere.find("out of bounds for dimension with size 0") != std::string::npos);
  CHECK(words_of([&] { at::native::index_cuda(empty, list({i})); }) == nowhere);
  Tensor target = a.clone();
  for (const Tensor& values : {torch::ones({7}), torch::ones({7}, at::kDouble), torch::ones({3}, at::kDouble)}) {
    const std::string want = words_of([&] { at::_index_put_impl_(target, list({i}), values); });
    CHECK(!want.empty());
    CHECK(words_of([&] { at::native::_index_put_impl_cuda_(target, list({i}), values, true, false); }) == want);
  }
  // What leads nowhere is not looked at: the result has no elements.
  const Tensor none = torch::zeros({2, 0});
  CHECK(at::native::index_cuda(none, list({i + 5})).sizes() == at::index(none, list({i + 5})).sizes());
  CHECK(cuda::index_error_slot()->raised == 0);
  for (const auto& [mask, source] :
       {std::pair{real, torch::ones({3}, at::kDouble)}, std::pair{torch::ones({2, 3}), torch::ones({6})}}) {
    const std::string want = words_of([&] { target.masked_scatter_(mask, source); });
    CHECK(!want.empty());
    CHECK(words_of([&] { at::native::masked_scatter_cuda_(target, mask, source); }) == want);
  }
  Tensor shared = torch::zeros({1}).expand({4});
  const std::string overlap = words_of([&] { shared.put_(three, one, false); });
  CHECK(words_of([&] { at::native::put_cuda_(shared, three, one, false); }) == overlap);
}

TEST_CASE("hash_tensor on CUDA joins the bits of all elements", "[cuda]") {
  for (const auto dtype : {at::kFloat, at::kHalf, at::kDouble, at::kLong, at::kByte, at::kBool}) {
    const Tensor x = at::randint(0, 100, {5, 3, 70}).to(dtype).transpose(0, 2);
    for (const std::vector<int64_t>& dims : std::vector<std::vector<int64_t>>{{}, {0}, {1, 2}}) {
      const Tensor want = at::hash_tensor(x, dims);
      const Tensor got = at::empty_like(want);
      at::native::cuda::hash_tensor_kernel(x, dims, false, 0, got);
      CHECK(at::equal(got.view(at::kLong), want.view(at::kLong)));
    }
  }
}

TEST_CASE("frexp on CUDA", "[cuda]") {
  const double inf = std::numeric_limits<double>::infinity();
  for (const auto dtype : {at::kFloat, at::kHalf, at::kBFloat16, at::kDouble}) {
    const Tensor special = at::tensor({0.0, -0.0, 1.0, -8.5, inf, -inf, std::nan(""), 6e-8, 3e-40}).to(dtype);
    const Tensor x = at::cat({special, at::randn({100}, dtype)});
    for (const Tensor& in : {x, x.view({-1, 1}).expand({x.numel(), 2}).t(), x.slice(0, 0, 1000, 3)}) {
      const auto [mantissa, exponent] = at::frexp(in);
      Tensor values = at::empty_like(mantissa),
             powers = at::empty({2 * in.numel()}, at::kInt).slice(0, 0, 10000, 2).view(in.sizes());
      at::native::cuda::frexp_kernel(in, values, powers);
      CHECK(at::allclose(values, mantissa, 0, 0, /*equal_nan=*/true));
      CHECK(at::equal(powers, exponent));
    }
  }
}
