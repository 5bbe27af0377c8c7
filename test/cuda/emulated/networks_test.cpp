// Cells, optimizers, losses, searches and the like, run by the emulator on CPU tensors, against the CPU's own
// operators.
#include "test/cuda/emulated/compare.h"

#include <aten/native/cuda/index_error.h>
#include <aten/native/support/fused_step.h>

#include <aten/native/cuda/rnn.h>
#include <aten/native/support/recurrence.h>
#include <aten/ops/_gru_steps_ops.h>
#include <aten/ops/_lstm_steps_ops.h>
#include <aten/ops/_rnn_steps_ops.h>

#include <torch/torch.h>

#include <catch2/catch.hpp>

#include <limits>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

namespace at::native {

using Two = std::tuple<Tensor, Tensor>;
using TensorTuple3 = std::tuple<Tensor, Tensor, Tensor>;
using OptTensor = std::optional<Tensor>;

namespace cuda {

void fused_lstm_cell_kernel(
    const TensorBase&,
    const TensorBase&,
    const TensorBase&,
    const OptTensor&,
    const OptTensor&,
    const TensorBase&,
    const TensorBase&,
    const TensorBase&);
void fused_lstm_cell_backward_kernel(
    const OptTensor&,
    const OptTensor&,
    const TensorBase&,
    const TensorBase&,
    const TensorBase&,
    bool,
    const TensorBase&,
    const TensorBase&,
    const TensorBase&);
void fused_gru_cell_kernel(
    const TensorBase&,
    const TensorBase&,
    const TensorBase&,
    const OptTensor&,
    const OptTensor&,
    const TensorBase&,
    const TensorBase&);
void fused_gru_cell_backward_kernel(
    const TensorBase&,
    const TensorBase&,
    bool,
    const TensorBase&,
    const TensorBase&,
    const TensorBase&,
    const TensorBase&,
    const TensorBase&);
void logcumsumexp_kernel(const TensorBase&, int64_t, const TensorBase&);
void cummax_kernel(const TensorBase&, int64_t, const TensorBase&, const TensorBase&);
void cummin_kernel(const TensorBase&, int64_t, const TensorBase&, const TensorBase&);
void searchsorted_kernel(
    const TensorBase&,
    const TensorBase&,
    bool,
    bool,
    std::optional<std::string_view>,
    const OptTensor&,
    const TensorBase&);
void bucketize_kernel(const TensorBase&, const TensorBase&, bool, bool, const TensorBase&);
void histc_kernel(const TensorBase&, int64_t, const Scalar&, const Scalar&, const TensorBase&);
void embedding_bag_kernel(
    const TensorBase&,
    const TensorBase&,
    const TensorBase&,
    bool,
    int64_t,
    bool,
    const OptTensor&,
    bool,
    int64_t,
    const TensorBase&,
    const TensorBase&,
    const TensorBase&,
    const TensorBase&);
void embedding_bag_dense_backward_kernel(
    const TensorBase&,
    const TensorBase&,
    const TensorBase&,
    const TensorBase&,
    const TensorBase&,
    int64_t,
    bool,
    int64_t,
    const OptTensor&,
    int64_t,
    const TensorBase&);
void embedding_bag_per_sample_weights_backward_kernel(
    const TensorBase&,
    const TensorBase&,
    const TensorBase&,
    const TensorBase&,
    const TensorBase&,
    int64_t,
    int64_t,
    const TensorBase&);
void kthvalue_kernel(const TensorBase&, int64_t, int64_t, bool, const TensorBase&, const TensorBase&);
void median_kernel(const TensorBase&, int64_t, bool, const TensorBase&, const TensorBase&);
void nanmedian_kernel(const TensorBase&, int64_t, bool, const TensorBase&, const TensorBase&);
void median_all_kernel(const TensorBase&, const TensorBase&);
void nanmedian_all_kernel(const TensorBase&, const TensorBase&);
void mode_kernel(const TensorBase&, int64_t, bool, const TensorBase&, const TensorBase&);
void flip_kernel(const TensorBase&, IntArrayRef, const TensorBase&);
void trace_kernel(const TensorBase&, const TensorBase&);
void linalg_cross_kernel(const TensorBase&, const TensorBase&, int64_t, const TensorBase&);
void index_reduce_kernel(
    const TensorBase&, int64_t, const TensorBase&, const TensorBase&, std::string_view, bool, const TensorBase&);
void cdist_forward_kernel(const TensorBase&, const TensorBase&, double, std::optional<int64_t>, const TensorBase&);
void cdist_backward_kernel(
    const TensorBase&, const TensorBase&, const TensorBase&, double, const TensorBase&, const TensorBase&);
void pdist_forward_kernel(const TensorBase&, double, const TensorBase&);
void pdist_backward_kernel(const TensorBase&, const TensorBase&, double, const TensorBase&, const TensorBase&);

} // namespace cuda

void _amp_foreach_non_finite_check_and_unscale_cuda_(TensorList, Tensor&, const Tensor&);
Tensor bincount_cuda(const Tensor&, const OptTensor&, int64_t);
TensorTuple3 unique2_cuda(const Tensor&, bool, bool, bool);
TensorTuple3 unique_dim_cuda(const Tensor&, int64_t, bool, bool, bool);
TensorTuple3 unique_consecutive_cuda(const Tensor&, bool, bool, std::optional<int64_t>);
Tensor repeat_interleave_cuda(const Tensor&, std::optional<int64_t>);
Tensor glu_cuda(const Tensor&, int64_t);
Tensor glu_backward_cuda(const Tensor&, const Tensor&, int64_t);
std::tuple<Tensor, Tensor> prelu_kernel_backward_cuda(const Tensor&, const Tensor&, const Tensor&);
Two _ctc_loss_cuda(const Tensor&, const Tensor&, IntArrayRef, IntArrayRef, int64_t, bool);
Tensor _ctc_loss_backward_cuda(
    const Tensor&, const Tensor&, const Tensor&, IntArrayRef, IntArrayRef, const Tensor&, const Tensor&, int64_t, bool);

} // namespace at::native

namespace {

namespace native = at::native;
namespace cuda = at::native::cuda;
using at::Tensor;
using emulated::filled;
using emulated::near;
using Sizes = std::vector<int64_t>;

} // namespace

TEST_CASE("emulated: cells of LSTM and GRU", "[cuda]") {
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble, at::kHalf}) {
    const double close = dtype == at::kHalf ? 1e-2 : 1e-5;
    const auto random = [&](const Sizes& sizes) { return torch::randn(sizes).to(dtype); };
    for (const bool biased : {false, true}) {
      const Tensor c = random({5, 70}), h = random({5, 70}), grad = random({5, 70}), grad_c = random({5, 70});
      const auto bias = [&](int64_t n) { return biased ? std::optional<Tensor>(random({n})) : std::nullopt; };
      {
        const Tensor in = random({5, 280}), rec = random({5, 280});
        const auto in_bias = bias(280), rec_bias = bias(280);
        const auto [hy, cy, open] = at::_thnn_fused_lstm_cell(in, rec, c, in_bias, rec_bias);
        Tensor cell = torch::empty_like(cy), kept = torch::empty_like(open);
        CHECK(near(
            filled(
                hy,
                [&](const Tensor& out) {
                  cuda::fused_lstm_cell_kernel(in, rec, c, in_bias, rec_bias, out, cell, kept);
                }),
            hy, close, close));
        CHECK(near(cell, cy, close, close));
        CHECK(near(kept, open, close, close));
        const auto [gates, cx, for_bias] = at::_thnn_fused_lstm_cell_backward_impl(grad, grad_c, c, cy, open, biased);
        Tensor old = torch::empty_like(cx), sums = torch::empty_like(for_bias);
        CHECK(near(
            filled(
                gates,
                [&](const Tensor& out) {
                  cuda::fused_lstm_cell_backward_kernel(grad, grad_c, c, cy, open, biased, out, old, sums);
                }),
            gates, close, close));
        CHECK(near(old, cx, close, close));
        CHECK((!biased || near(sums, for_bias, close, close * 4)));
      }
      const Tensor in = random({5, 210}), rec = random({5, 210});
      const auto in_bias = bias(210), rec_bias = bias(210);
      const auto [hy, open] = at::_thnn_fused_gru_cell(in, rec, h, in_bias, rec_bias);
      Tensor kept = torch::empty_like(open);
      CHECK(near(
          filled(hy, [&](const Tensor& out) { cuda::fused_gru_cell_kernel(in, rec, h, in_bias, rec_bias, out, kept); }),
          hy, close, close));
      CHECK(near(kept, open, close, close));
      const auto [for_in, for_rec, hx, b1, b2] = at::_thnn_fused_gru_cell_backward(grad, open, biased);
      Tensor rec2 = torch::empty_like(for_rec), hx2 = torch::empty_like(hx), c1 = torch::empty_like(b1),
             c2 = torch::empty_like(b2);
      CHECK(near(
          filled(
              for_in,
              [&](const Tensor& out) {
                cuda::fused_gru_cell_backward_kernel(grad, open, biased, out, rec2, hx2, c1, c2);
              }),
          for_in, close, close));
      CHECK(near(rec2, for_rec, close, close));
      CHECK(near(hx2, hx, close, close));
      CHECK((!biased || (near(c1, b1, close, close * 4) && near(c2, b2, close, close * 4))));
    }
  }
}

TEST_CASE("emulated: steps of recurrent layers, there and back", "[cuda][rnn]") {
  using at::native::RecurrentCell;
  constexpr int64_t kBatch = 3, kSize = 7;
  const auto kind = GENERATE(RecurrentCell::lstm, RecurrentCell::gru, RecurrentCell::tanh, RecurrentCell::relu);
  const auto dtype = GENERATE(at::kDouble, at::kFloat, at::kHalf);
  const bool reverse = GENERATE(false, true), packed = GENERATE(false, true);
  if (packed && dtype == at::kHalf) {
    return; // not on the CPU
  }
  const bool lstm = kind == RecurrentCell::lstm, gru = kind == RecurrentCell::gru;
  const int64_t count = lstm ? 4 : gru ? 3 : 1;
  const Sizes batch_sizes = packed ? Sizes{3, 3, 2, 2, 1} : Sizes{};
  const auto rows = [&](int64_t width) { return packed ? Sizes{11, width} : Sizes{5, kBatch, width}; };
  const auto leaf = [&](at::IntArrayRef sizes) { return (torch::randn(sizes) / 2).to(dtype).requires_grad_(true); };
  const Tensor sums = leaf(rows(count * kSize)), hx = leaf({kBatch, kSize}), cx = leaf({kBatch, kSize});
  const Tensor w_hh = leaf({kSize, count * kSize}).detach().t(), bias = leaf({count * kSize}).detach();
  const Tensor as_is = torch::eye(count * kSize, at::TensorOptions(dtype)); // sums are what comes of inputs
  const Tensor grad = leaf(rows(kSize)).detach(), grad_cells = leaf(rows(kSize)).detach();
  Tensor output, cells, open, recurrent;
  std::vector<Tensor> wanted;
  if (lstm) {
    std::tie(output, cells, open) =
        at::_ops::_lstm_steps::call(sums, hx, cx, as_is, w_hh, std::nullopt, reverse, batch_sizes, std::nullopt);
    wanted = torch::autograd::grad({output, cells}, {sums, hx, cx}, {grad, grad_cells});
  } else {
    if (gru) {
      std::tie(output, open, recurrent) =
          at::_ops::_gru_steps::call(sums, hx, as_is, w_hh, std::nullopt, bias, reverse, batch_sizes);
    } else {
      output = open = at::_ops::_rnn_steps::call(
          sums, hx, as_is, w_hh, std::nullopt, kind == RecurrentCell::relu, reverse, batch_sizes);
    }
    wanted = torch::autograd::grad({output}, {sums, hx}, {grad});
  }

  const torch::NoGradGuard no_grad;
  const auto unset = [&] { return torch::full(rows(kSize), 99, at::TensorOptions(dtype)); };
  const Tensor gates = sums.detach().clone(), states = lstm || gru ? unset() : gates, kept = unset(), last = unset();
  const at::native::Recurrence r{
      .cell = kind,
      .reverse = reverse,
      .batch_sizes = batch_sizes,
      .hx = hx.detach(),
      .cx = cx.detach(),
      .w_hh = w_hh,
      .w_hr = {},
      .b_hh = gru ? bias : Tensor(),
      .gates = gates,
      .recurrent = kept,
      .output = states,
      .cells = last,
      .hidden = {}};
  cuda::recurrence_steps(r);
  const double close = dtype == at::kHalf ? 1e-2 : dtype == at::kFloat ? 1e-5 : 1e-12;
  CAPTURE(dtype, static_cast<int>(kind), reverse, packed);
  CHECK(near(states, output.detach(), close, close));
  CHECK(near(gates, open.detach(), close, close));
  CHECK((!lstm || near(last, cells.detach(), close, close)));
  CHECK((!gru || near(kept, recurrent.detach(), close, close)));
  const Tensor for_gates = torch::full_like(gates, 99), for_products = gru ? torch::full_like(gates, 99) : for_gates;
  const Tensor for_hidden = torch::full_like(hx, 99), for_cell = torch::full_like(cx, 99);
  cuda::recurrence_steps_back(
      r,
      {.output = grad,
       .cells = lstm ? grad_cells : Tensor(),
       .gates = for_gates,
       .recurrent = for_products,
       .hx = for_hidden,
       .cx = lstm ? for_cell : Tensor(),
       .projected = {}});
  CHECK(near(for_gates, wanted[0], close, close));
  CHECK(near(for_hidden, wanted[1], close, close));
  CHECK((!lstm || near(for_cell, wanted[2], close, close)));
  if (gru) {
    // The gradients of the recurrent sums: those of the candidates have passed the reset gates.
    CHECK(near(for_products.narrow(-1, 0, 2 * kSize), for_gates.narrow(-1, 0, 2 * kSize), close, close));
    CHECK(near(
        for_products.narrow(-1, 2 * kSize, kSize), for_gates.narrow(-1, 2 * kSize, kSize) * gates.narrow(-1, 0, kSize),
        close, close));
  }
}

TEST_CASE("emulated: steps of an LSTM with a projection, there and back", "[cuda][rnn]") {
  constexpr int64_t kBatch = 3, kSize = 7, kProjected = 4;
  const auto dtype = GENERATE(at::kDouble, at::kFloat, at::kHalf);
  const bool reverse = GENERATE(false, true), packed = GENERATE(false, true);
  const double close = dtype == at::kHalf ? 2e-2 : dtype == at::kFloat ? 1e-5 : 1e-12;
  const Sizes batch_sizes = packed ? Sizes{3, 3, 2, 2, 1} : Sizes{};
  const auto rows = [&](int64_t width) { return packed ? Sizes{11, width} : Sizes{5, kBatch, width}; };
  const auto leaf = [&](at::IntArrayRef sizes) { return (torch::randn(sizes) / 2).to(dtype).requires_grad_(true); };
  const Tensor sums = leaf(rows(4 * kSize)), hx = leaf({kBatch, kProjected}), cx = leaf({kBatch, kSize}),
               w_hh = leaf({4 * kSize, kProjected});
  const Tensor w_hr = leaf({kProjected, kSize}), as_is = torch::eye(4 * kSize, at::TensorOptions(dtype)),
               grad = leaf(rows(kProjected)).detach();
  // The layer's own steps; the other direction is the second one of a layer that has both.
  const auto zeros = [&](const Tensor& t) { return torch::zeros_like(t.detach()); };
  const std::vector<Tensor> weights = {as_is, w_hh, w_hr},
                            both = {zeros(as_is), zeros(w_hh), zeros(w_hr), as_is, w_hh, w_hr};
  const auto states = [&](const Tensor& t) { return reverse ? torch::stack({zeros(t), t}) : t.unsqueeze(0); };
  const Tensor all = packed
      ? std::get<0>(at::lstm(
            sums, torch::tensor(batch_sizes, at::kLong), {states(hx), states(cx)}, reverse ? both : weights, false, 1,
            0.0, false, reverse))
      : std::get<0>(
            at::lstm(sums, {states(hx), states(cx)}, reverse ? both : weights, false, 1, 0.0, false, reverse, false));
  const Tensor output = reverse ? all.narrow(-1, kProjected, kProjected) : all;
  const auto wanted = torch::autograd::grad({output}, {sums, hx, cx, w_hr}, {grad});

  const torch::NoGradGuard no_grad;
  const auto unset = [&](at::IntArrayRef sizes) { return torch::full(sizes, 99, at::TensorOptions(dtype)); };
  const Tensor gates = sums.detach().clone(), projected = unset(rows(kProjected)), cells = unset(rows(kSize)),
               hidden = unset(rows(kSize));
  const at::native::Recurrence r{
      .cell = at::native::RecurrentCell::lstm,
      .reverse = reverse,
      .batch_sizes = batch_sizes,
      .hx = hx.detach(),
      .cx = cx.detach(),
      .w_hh = w_hh,
      .w_hr = w_hr,
      .b_hh = {},
      .gates = gates,
      .recurrent = {},
      .output = projected,
      .cells = cells,
      .hidden = hidden};
  cuda::recurrence_steps(r);
  CHECK(near(projected, output.detach(), close, close));
  const Tensor for_gates = unset(rows(4 * kSize)), for_hx = unset(hx.sizes()), for_cx = unset(cx.sizes()),
               for_projected = unset(rows(kProjected));
  cuda::recurrence_steps_back(
      r,
      {.output = grad,
       .cells = {},
       .gates = for_gates,
       .recurrent = for_gates,
       .hx = for_hx,
       .cx = for_cx,
       .projected = for_projected});
  CHECK(near(for_gates, wanted[0], close, close));
  CHECK(near(for_hx, wanted[1], close, close));
  CHECK(near(for_cx, wanted[2], close, close));
  CHECK(near(for_projected.reshape({-1, kProjected}).t().mm(hidden.reshape({-1, kSize})), wanted[3], close, close));
}

TEST_CASE("emulated: steps of optimizers", "[cuda]") {
  // More tensors than a launch names, one of several chunks, one without elements, some that do not begin aligned.
  std::vector<Sizes> sizes(70, Sizes{7});
  sizes[3] = {140000};
  sizes[4] = {16390};
  sizes[5] = {0};
  for (const at::ScalarType dtype : {at::kFloat, at::kHalf}) {
    for (const bool amsgrad : {false, true}) {
      std::vector<Tensor> p, g, m, v, top, steps, mine;
      std::vector<native::StepArrays> arrays;
      for (const Sizes& s : sizes) {
        for (std::vector<Tensor>* list : {&p, &g, &m, &v, &top}) {
          list->push_back(torch::rand(s).to(dtype));
        }
        steps.push_back(torch::full({}, 3.0));
        native::StepArrays a;
        a.numel = p.back().numel();
        a.dtype = dtype;
        std::vector<Tensor> own = {
            p.back().clone(), g.back().mul(4), m.back().clone(), v.back().clone(), top.back().clone()};
        if (arrays.size() % 2 == 1) {
          own[2] = torch::empty({a.numel + 1}, dtype).slice(0, 1).copy_(own[2]);
        }
        for (size_t k = 0; k < (amsgrad ? 5 : 4); ++k) {
          a.data[k] = own[k].data_ptr();
        }
        mine.insert(mine.end(), own.begin(), own.end());
        arrays.push_back(a);
      }
      at::_fused_adam_(
          p, g, m, v, amsgrad ? at::TensorList(top) : at::TensorList(), steps, 0.1, 0.9, 0.99, 0.02, 1e-6, amsgrad,
          false);
      const native::AdamStep settings{0.1, 0.9, 0.99, 0.02, 1e-6, 3, false, amsgrad, false};
      const float scale = 4, fine = 0, infinite = 1;
      native::cuda_fused_step<native::AdamStep>()(arrays, settings, {&scale, &infinite});
      CHECK(near(mine[1], g[0] * 4, 0, 0));
      native::cuda_fused_step<native::AdamStep>()(arrays, settings, {&scale, &fine});
      for (size_t i = 0; i < p.size(); ++i) {
        const double close = dtype == at::kHalf ? 4e-3 : 1e-5;
        CHECK(near(mine[5 * i], p[i], close, close));
        CHECK(near(mine[5 * i + 1], g[i], close, close));
        CHECK(near(mine[5 * i + 2], m[i], close, close));
        CHECK(near(mine[5 * i + 3], v[i], close, close));
        CHECK(near(mine[5 * i + 4], top[i], close, close));
      }
      // The step and the learning rate where the kernel finds them.
      const std::vector<Tensor> before = {mine[0].clone(), mine[2].clone(), mine[3].clone()};
      native::cuda_fused_step<native::AdamStep>()(arrays, settings, {});
      const std::vector<Tensor> after = {mine[0].clone(), mine[2].clone(), mine[3].clone()};
      mine[0].copy_(before[0]);
      mine[2].copy_(before[1]);
      mine[3].copy_(before[2]);
      const float three = 3, lr = 0.1f;
      for (native::StepArrays& a : arrays) {
        a.step = &three;
      }
      const native::AdamStep elsewhere{7, 0.9, 0.99, 0.02, 1e-6, 1, false, amsgrad, false};
      native::cuda_fused_step<native::AdamStep>()(arrays, elsewhere, {nullptr, nullptr, &lr});
      const double close = dtype == at::kHalf ? 4e-3 : 1e-5; // 0.1f is not 0.1
      CHECK(near(mine[0], after[0], close, close));
      CHECK(near(mine[2], after[1], close, close));
      CHECK(near(mine[3], after[2], close, close));
    }
  }
  const Tensor p = torch::randn({1000}, at::kDouble), g = torch::randn({1000}, at::kDouble),
               b = torch::randn({1000}, at::kDouble);
  Tensor p1 = p.clone(), b1 = b.clone(), p2 = p.clone(), b2 = b.clone();
  native::StepArrays a;
  a.numel = 1000;
  a.dtype = at::kDouble;
  a.data[0] = p1.data_ptr();
  a.data[1] = g.data_ptr();
  a.data[2] = b1.data_ptr();
  at::_fused_sgd_({p2}, {g}, {b2}, 0.1, 0.9, 0.05, 0.2, true, true, false);
  native::cuda_fused_step<native::SgdStep>()(a, native::SgdStep{0.05, 0.9, 0.2, 0.1, true, true, false}, {});
  CHECK(near(p1, p2));
  CHECK(near(b1, b2));
  const float rate = 0.05f;
  at::_fused_sgd_({p2}, {g}, {b2}, 0.1, 0.9, 0.05, 0.2, true, true, false);
  native::cuda_fused_step<native::SgdStep>()(
      a, native::SgdStep{9, 0.9, 0.2, 0.1, true, true, false}, {nullptr, nullptr, &rate});
  CHECK(near(p1, p2));
  at::_fused_adagrad_({p2}, {g}, {b2.abs_()}, {torch::full({}, 4.0)}, 0.05, 0.5, 0.1, 1e-8, false);
  b1.abs_();
  const float four = 4;
  a.step = &four;
  native::cuda_fused_step<native::AdagradStep>()(a, native::AdagradStep{0.05, 0.5, 0.1, 1e-8, 1, false}, {});
  CHECK(near(p1, p2));
  a.step = nullptr;
  at::_fused_rmsprop_({p2}, {g}, {b2.abs_()}, {}, {}, 0.01, 0.9, 1e-8, 0, 0, false);
  b1.abs_();
  native::cuda_fused_step<native::RmspropStep>()(a, native::RmspropStep{0.01, 0.9, 1e-8, 0, 0, false}, {});
  CHECK(near(p1, p2));
  CHECK(near(b1, b2));
}

TEST_CASE("emulated: unscaling of gradients", "[cuda]") {
  for (const at::ScalarType dtype : {at::kFloat, at::kHalf, at::kDouble}) {
    for (const double bad : {1.0, std::numeric_limits<double>::infinity(), std::nan("")}) {
      const Tensor factor = torch::full({1}, 0.25);
      std::vector<Tensor> mine, want;
      for (const Sizes& sizes : {Sizes{70000}, {3, 4}, {0}}) {
        want.push_back(torch::randn(sizes).to(dtype));
        mine.push_back(want.back().clone());
      }
      want[1][1][2].fill_(bad);
      mine[1][1][2].fill_(bad);
      mine[1] = mine[1].t().contiguous().t().repeat({1, 2}).slice(1, 0, 4); // not dense
      Tensor found = torch::zeros({1}), expected = torch::zeros({1});
      native::_amp_foreach_non_finite_check_and_unscale_cuda_(mine, found, factor);
      at::_amp_foreach_non_finite_check_and_unscale_(want, expected, factor);
      CHECK(near(found, expected));
      CHECK(near(mine[0], want[0]));
      CHECK(near(mine[1], want[1]));
    }
  }
}

TEST_CASE("emulated: running extrema and logarithms of sums", "[cuda]") {
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble, at::kHalf, at::kInt, at::kByte, at::kBool}) {
    Tensor x = (torch::randn({2, 300, 2}) * 20).to(dtype);
    if (at::isFloatingType(dtype)) {
      x.select(1, 200).fill_(std::nan(""));
    }
    for (const int64_t dim : {0, 1, 2}) {
      // Few rows: the emulator takes a while for each.
      const Tensor t = dim == 2 ? x.transpose(1, 2).contiguous() : x;
      const auto [most, at_most] = at::cummax(t, dim);
      const auto [least, at_least] = at::cummin(t, dim);
      Tensor place = torch::empty_like(at_most);
      CHECK(near(filled(most, [&](const Tensor& out) { cuda::cummax_kernel(t, dim, out, place); }), most));
      CHECK(near(place, at_most));
      CHECK(near(filled(least, [&](const Tensor& out) { cuda::cummin_kernel(t, dim, out, place); }), least));
      CHECK(near(place, at_least));
    }
  }
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble, at::kHalf, at::kComplexDouble}) {
    const Tensor x = torch::randn({3, 500}, dtype == at::kHalf ? at::kFloat : dtype).to(dtype);
    const Tensor y = at::logcumsumexp(x, 1), z = at::logcumsumexp(x, 0);
    const double close = dtype == at::kHalf ? 1e-2 : 1e-5;
    CHECK(near(filled(y, [&](const Tensor& out) { cuda::logcumsumexp_kernel(x, 1, out); }), y, close, close));
    CHECK(near(filled(z, [&](const Tensor& out) { cuda::logcumsumexp_kernel(x, 0, out); }), z, close, close));
  }
  // Rows that blocks share: of equal elements in two of them the last counts.
  Tensor cut = torch::randint(5, {1, 13001}).to(at::kFloat);
  for (int turn = 0; turn < 2; ++turn) {
    const auto [most, at_most] = at::cummax(cut, 1);
    Tensor place = torch::empty_like(at_most);
    CHECK(near(filled(most, [&](const Tensor& out) { cuda::cummax_kernel(cut, 1, out, place); }), most));
    CHECK(near(place, at_most));
    cut[0][7000] = std::nan("");
  }
  const double inf = INFINITY;
  const Tensor odd = torch::tensor({-inf, -inf, 1.0, inf, inf, 2.0}), sum = at::logcumsumexp(odd, 0);
  CHECK(near(filled(sum, [&](const Tensor& out) { cuda::logcumsumexp_kernel(odd, 0, out); }), sum));
}

TEST_CASE("emulated: searches and histograms", "[cuda]") {
  for (const at::ScalarType dtype : {at::kFloat, at::kHalf, at::kLong, at::kByte}) {
    const Tensor edges = std::get<0>(torch::randint(100, {3, 37}).to(dtype).sort(-1)),
                 values = torch::randint(110, {3, 9}).to(dtype);
    for (const bool right : {false, true}) {
      const Tensor want = at::searchsorted(edges, values, false, right),
                   narrow = at::bucketize(values, edges[0], true, right);
      CHECK(near(
          filled(want, [&](const Tensor& out) { cuda::searchsorted_kernel(edges, values, false, right, {}, {}, out); }),
          want));
      CHECK(near(
          filled(narrow, [&](const Tensor& out) { cuda::bucketize_kernel(values, edges[0], true, right, out); }),
          narrow));
    }
  }
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor gaps = torch::tensor({nan, 1.0f, 2.0f, nan, 3.0f, nan}),
               sought = torch::tensor({0.0f, 1.0f, nan, 2.5f, 9.0f});
  for (const bool right : {false, true}) {
    const Tensor want = at::searchsorted(gaps, sought, false, right);
    CHECK(near(
        filled(want, [&](const Tensor& out) { cuda::searchsorted_kernel(gaps, sought, false, right, {}, {}, out); }),
        want));
  }
  const Tensor loose = torch::randn({40}), order = loose.argsort(), values = torch::randn({7});
  const Tensor want = at::searchsorted(loose, values, false, false, std::nullopt, order);
  CHECK(near(
      filled(want, [&](const Tensor& out) { cuda::searchsorted_kernel(loose, values, false, false, {}, order, out); }),
      want));
  const Tensor x = torch::randn({3, 50}), bins = torch::randint(9, {60}), weights = torch::rand({60});
  for (const auto& [low, high] : {std::pair<double, double>{0, 0}, {-1, 1.5}}) {
    const Tensor counts = at::histc(x, 7, low, high);
    CHECK(near(
        filled(counts, [&, a = low, b = high](const Tensor& out) { cuda::histc_kernel(x, 7, a, b, out); }), counts));
  }
  CHECK(near(native::bincount_cuda(bins, {}, 12), at::bincount(bins, {}, 12)));
  CHECK(near(native::bincount_cuda(bins, weights, 0), at::bincount(bins, weights, 0)));
}

TEST_CASE("emulated: bags of embeddings and their gradients", "[cuda]") {
  const Tensor indices = torch::randint(11, {13}), offsets = torch::tensor({0, 4, 4, 9}, at::kLong),
               ends = torch::tensor({0, 4, 4, 9, 13}, at::kLong);
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble, at::kHalf}) {
    const double close = dtype == at::kHalf ? 1e-2 : 1e-5;
    const Tensor table = torch::randn({11, 6}).to(dtype), weights = torch::rand({13}).to(dtype),
                 grad = torch::randn({4, 6}).to(dtype);
    for (const int64_t mode : {0, 1, 2}) {
      for (const bool last : {false, true}) {
        const std::optional<Tensor> scales = mode == 0 ? std::optional<Tensor>(weights) : std::nullopt;
        const Tensor& starts = last ? ends : offsets;
        const auto [y, bag, size, rows] =
            at::_embedding_bag(table, indices, starts, false, mode, false, scales, last, 3);
        Tensor bag2 = torch::empty_like(bag), size2 = torch::empty_like(size), rows2 = torch::empty_like(rows);
        CHECK(near(
            filled(
                y,
                [&](const Tensor& out) {
                  cuda::embedding_bag_kernel(
                      table, indices, starts, false, mode, false, scales, last, 3, out, bag2, size2, rows2);
                }),
            y, close, close));
        CHECK(near(bag2, bag));
        CHECK(near(size2, size));
        CHECK(near(rows2, rows));
        for (const bool by_frequency : {false, true}) {
          const Tensor want = at::_embedding_bag_dense_backward(
              grad, indices, bag, size, rows, 11, by_frequency && mode != 2, mode, scales, 3);
          CHECK(near(
              filled(
                  want,
                  [&](const Tensor& out) {
                    cuda::embedding_bag_dense_backward_kernel(
                        grad, indices, bag, size, rows, 11, by_frequency && mode != 2, mode, scales, 3, out);
                  }),
              want, close, close));
        }
        if (mode == 0 && !last) {
          const Tensor want = at::_embedding_bag_per_sample_weights_backward(grad, table, indices, starts, bag, 0, 3);
          CHECK(near(
              filled(
                  want,
                  [&](const Tensor& out) {
                    cuda::embedding_bag_per_sample_weights_backward_kernel(
                        grad, table, indices, starts, bag, 0, 3, out);
                  }),
              want, close, close));
        }
      }
    }
  }
  CHECK(cuda::index_error_slot()->raised == 0);
}

TEST_CASE("emulated: order statistics", "[cuda]") {
  for (const at::ScalarType dtype : {at::kFloat, at::kHalf, at::kInt}) {
    Tensor x = (torch::randn({4, 9, 5}) * 3).round().to(dtype);
    for (const bool with_nan : {false, true}) {
      if (with_nan && dtype != at::kInt) {
        x.index_put_({1}, std::nan(""));
        x.view({-1})[160] = std::nan("");
      }
      for (const int64_t dim : {0, 1, 2}) {
        for (const bool keep : {false, true}) {
          const auto check = [&](const std::tuple<Tensor, Tensor>& want, const auto& kernel) {
            // Which of equal elements is named depends on the algorithm, as in PyTorch.
            Tensor place = torch::empty_like(std::get<1>(want));
            CHECK(near(filled(std::get<0>(want), [&](const Tensor& out) { kernel(out, place); }), std::get<0>(want)));
            const Tensor named = x.gather(dim, keep ? place : place.unsqueeze(dim));
            CHECK(near(keep ? named : named.squeeze(dim), std::get<0>(want)));
          };
          check(at::kthvalue(x, 2, dim, keep), [&](const Tensor& a, const Tensor& b) {
            cuda::kthvalue_kernel(x, 2, dim, keep, a, b);
          });
          check(at::median(x, dim, keep), [&](const Tensor& a, const Tensor& b) {
            cuda::median_kernel(x, dim, keep, a, b);
          });
          check(at::nanmedian(x, dim, keep), [&](const Tensor& a, const Tensor& b) {
            cuda::nanmedian_kernel(x, dim, keep, a, b);
          });
          // On the CPU a NaN of a short row hides repeats from each other, as in PyTorch; on the GPU it is the largest
          // value.
          if (!with_nan || dtype == at::kInt) {
            check(at::mode(x, dim, keep), [&](const Tensor& a, const Tensor& b) {
              cuda::mode_kernel(x, dim, keep, a, b);
            });
          }
        }
      }
      const Tensor median = at::median(x), rest = at::nanmedian(x);
      CHECK(near(filled(median, [&](const Tensor& out) { cuda::median_all_kernel(x, out); }), median));
      CHECK(near(filled(rest, [&](const Tensor& out) { cuda::nanmedian_all_kernel(x, out); }), rest));
    }
  }
}

TEST_CASE("emulated: unique values and slices", "[cuda]") {
  const auto same = [](const native::TensorTuple3& got, const native::TensorTuple3& want) {
    CHECK(near(std::get<0>(got), std::get<0>(want)));
    CHECK(near(std::get<1>(got), std::get<1>(want)));
    CHECK(near(std::get<2>(got), std::get<2>(want)));
  };
  const Tensor x = torch::randint(4, {3, 7}).to(at::kFloat), slices = torch::randint(2, {6, 2, 2});
  x.view({-1})[5] = std::nan("");
  for (const bool asked : {false, true}) {
    same(native::unique2_cuda(x, true, asked, asked), at::_unique2(x, true, asked, asked));
    same(native::unique_consecutive_cuda(x, asked, asked, {}), at::unique_consecutive(x, asked, asked));
  }
  for (const int64_t dim : {0, 1, -1}) {
    same(native::unique_dim_cuda(slices, dim, true, true, true), at::unique_dim(slices, dim, true, true, true));
    same(native::unique_consecutive_cuda(slices, true, true, dim), at::unique_consecutive(slices, true, true, dim));
  }
  same(native::unique2_cuda(x.slice(0, 0, 0), true, true, true), at::_unique2(x.slice(0, 0, 0), true, true, true));
}

TEST_CASE("emulated: flip, repeat_interleave, cross and the like", "[cuda]") {
  const Tensor x = torch::randn({4, 5, 3});
  const Tensor narrow = torch::randn({5, 4, 6}).to(at::kHalf).transpose(0, 1).slice(2, 0, 6, 2);
  for (const Sizes& dims : {Sizes{0}, {1, -1}, {0, 1, 2}, {}}) {
    for (const Tensor& of : {x, narrow, x.to(at::kComplexDouble), x > 0}) {
      CHECK(near(filled(of, [&](const Tensor& out) { cuda::flip_kernel(of, dims, out); }), of.flip(dims)));
    }
  }
  const Tensor repeats = torch::tensor({2, 0, 3, 1}, at::kLong), square = torch::randn({4, 6}),
               other = torch::randn({4, 1, 3});
  CHECK(near(native::repeat_interleave_cuda(repeats, {}), at::repeat_interleave(repeats)));
  for (const auto dtype : {at::kInt, at::kChar, at::kByte, at::kShort}) {
    CHECK(near(native::repeat_interleave_cuda(repeats.to(dtype), 6), at::repeat_interleave(repeats.to(dtype))));
  }
  CHECK(near(filled(square.trace(), [&](const Tensor& out) { cuda::trace_kernel(square, out); }), square.trace()));
  for (const at::ScalarType dtype : {at::kDouble, at::kInt, at::kBFloat16, at::kComplexFloat}) {
    const Tensor a = (x * 9).to(dtype), b = (other * 9).to(dtype), cross = at::linalg_cross(a, b);
    CHECK(near(filled(cross, [&](const Tensor& out) { cuda::linalg_cross_kernel(a, b, -1, out); }), cross, 0.02, 0.02));
    const Tensor down = at::linalg_cross(a.mT(), b.expand({4, 5, 3}).mT(), 1);
    CHECK(near(
        filled(down, [&](const Tensor& out) { cuda::linalg_cross_kernel(a.mT(), b.mT(), 1, out); }), down, 0.02, 0.02));
  }
  const Tensor places = torch::tensor({0, 3, 0}, at::kLong), source = torch::randn({4, 3, 3});
  for (const std::string_view reduce : {"prod", "mean", "amax", "amin"}) {
    for (const bool include : {false, true}) {
      const Tensor want = at::index_reduce(x, 1, places, source, reduce, include);
      CHECK(near(
          filled(
              want, [&](const Tensor& out) { cuda::index_reduce_kernel(x, 1, places, source, reduce, include, out); }),
          want));
    }
  }
}

TEST_CASE("emulated: glu and the derivative of prelu", "[cuda]") {
  for (const at::ScalarType dtype : {at::kDouble, at::kFloat, at::kHalf, at::kBFloat16}) {
    const double close = dtype == at::kHalf || dtype == at::kBFloat16 ? 0.03 : 1e-5;
    const Tensor x = (torch::randn({4, 6, 16}) * 2).to(dtype), w = torch::randn({6, 1}).to(dtype);
    for (const int64_t dim : {0, 1, -1}) {
      const Tensor want = at::glu(x, dim), grad = torch::randn(want.sizes()).to(dtype);
      CHECK(near(native::glu_cuda(x, dim), want, close, close));
      CHECK(near(native::glu_backward_cuda(grad, x, dim), at::glu_backward(grad, x, dim), close, close));
    }
    const Tensor grad = torch::randn(x.sizes()).to(dtype);
    const auto got = native::prelu_kernel_backward_cuda(grad, x, w), want = at::_prelu_kernel_backward(grad, x, w);
    CHECK(near(std::get<0>(got), std::get<0>(want), close, close));
    CHECK(near(std::get<1>(got), std::get<1>(want), close, close));
    // Gradients have the sizes of the result also where self is the smaller one.
    const Tensor number = torch::full({}, -2).to(dtype);
    const auto of_number = native::prelu_kernel_backward_cuda(grad, number, x),
               expected = at::_prelu_kernel_backward(grad, number, x);
    CHECK(near(std::get<0>(of_number), std::get<0>(expected), close, close));
    CHECK(near(std::get<1>(of_number), std::get<1>(expected), close, close));
  }
}

TEST_CASE("emulated: distances and their gradients", "[cuda]") {
  const Tensor a = torch::randn({2, 1, 5, 40}), b = torch::randn({3, 7, 40}),
               points = torch::randn({6, 9}, at::kDouble);
  for (const double p : {0.0, 0.5, 1.0, 1.5, 2.0, 3.0, std::numeric_limits<double>::infinity()}) {
    const Tensor d = at::_cdist_forward(a, b, p, {}), g = torch::randn(d.sizes());
    CHECK(near(filled(d, [&](const Tensor& out) { cuda::cdist_forward_kernel(a, b, p, {}, out); }), d, 1e-4, 1e-4));
    const Tensor back = at::_cdist_backward(g, a, b, p, d);
    CHECK(near(
        filled(back, [&](const Tensor& out) { cuda::cdist_backward_kernel(g, a, b, p, d, out); }), back, 1e-3, 1e-3));
    const Tensor pairs = at::_pdist_forward(points, p), h = torch::randn(pairs.sizes(), at::kDouble);
    CHECK(near(filled(pairs, [&](const Tensor& out) { cuda::pdist_forward_kernel(points, p, out); }), pairs));
    const Tensor slopes = at::_pdist_backward(h, points, p, pairs);
    CHECK(near(
        filled(slopes, [&](const Tensor& out) { cuda::pdist_backward_kernel(h, points, p, pairs, out); }), slopes));
  }
}

TEST_CASE("emulated: ctc_loss and its derivative", "[cuda]") {
  const Tensor probs = at::log_softmax(torch::randn({12, 4, 6}, at::kDouble), -1);
  const Tensor padded = torch::randint(1, 6, {4, 5}), joined = torch::randint(1, 6, {11});
  padded[0].fill_(2);
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble}) {
    for (const Tensor& targets : {padded, joined.to(at::kInt)}) {
      // The first sequence is too short for its labels.
      const Sizes inputs = {5, 12, 0, 7}, lengths = {4, 5, 0, 2};
      const Tensor x = probs.to(dtype), g = torch::rand({4}, dtype);
      const double close = dtype == at::kFloat ? 1e-4 : 1e-9;
      const auto [loss, alpha] = at::_ctc_loss(x, targets, inputs, lengths, 0, false);
      const auto got = native::_ctc_loss_cuda(x, targets, inputs, lengths, 0, false);
      CHECK(near(std::get<0>(got), loss, close, close));
      CHECK(near(std::get<1>(got), alpha, close, close));
      for (const bool zero_infinity : {false, true}) {
        CHECK(near(
            native::_ctc_loss_backward_cuda(g, x, targets, inputs, lengths, loss, alpha, 0, zero_infinity),
            at::_ctc_loss_backward(g, x, targets, inputs, lengths, loss, alpha, 0, zero_infinity), close, close));
      }
    }
  }
}
