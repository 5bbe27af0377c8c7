// Recurrent layers through the emulated cuDNN, forward and backward, against the CPU's layers.
#if __has_include(<cudnn.h>)
#include "test/cuda/emulated/compare.h"
#include "test/cuda/emulated/libraries.h"

#include <aten/core/Context.h>
#include <aten/native/cuda/rnn_cudnn.h>

#include <torch/torch.h>

#include <catch2/catch.hpp>
#include <cudnn.h>

#include <array>
#include <numeric>
#include <optional>
#include <tuple>
#include <vector>

namespace at::native {

using OptTensor = std::optional<Tensor>;

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> cudnn_rnn_cuda(
    const Tensor&,
    TensorList,
    int64_t,
    const OptTensor&,
    const Tensor&,
    const OptTensor&,
    int64_t,
    int64_t,
    int64_t,
    int64_t,
    bool,
    double,
    bool,
    bool,
    IntArrayRef,
    const OptTensor&);
std::tuple<Tensor, Tensor, Tensor, std::vector<Tensor>> cudnn_rnn_backward_cuda(
    const Tensor&,
    TensorList,
    int64_t,
    const Tensor&,
    const Tensor&,
    const OptTensor&,
    const Tensor&,
    const OptTensor&,
    const OptTensor&,
    const OptTensor&,
    int64_t,
    int64_t,
    int64_t,
    int64_t,
    bool,
    double,
    bool,
    bool,
    IntArrayRef,
    const OptTensor&,
    const Tensor&,
    std::array<bool, 4>);
Tensor cudnn_rnn_flatten_weight_cuda(TensorList, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, bool, bool);
Tensor cudnn_init_dropout_state_cuda(
    double,
    bool,
    int64_t,
    std::optional<ScalarType>,
    std::optional<Layout>,
    std::optional<Device>,
    std::optional<bool>);

} // namespace at::native

namespace {

namespace native = at::native;
using at::Tensor;
using emulated::near;
using Sizes = std::vector<int64_t>;

constexpr int64_t kRelu = 0, kTanh = 1, kLstm = 2, kGru = 3;
constexpr int64_t kInput = 3, kHidden = 4;

/// A network and what goes into it.
struct Net {
  int64_t mode = kLstm, layers = 1, proj = 0;
  bool biased = true, bidirectional = false, batch_first = false;
  double dropout = 0;
  at::ScalarType dtype = at::kDouble;
  Sizes batch_sizes = {};

  Tensor x, hx, cx;
  std::vector<Tensor> weights;

  int64_t stride() const {
    return (biased ? 4 : 2) + (proj > 0 ? 1 : 0);
  }
  int64_t directions() const {
    return bidirectional ? 2 : 1;
  }
  bool packed() const {
    return !batch_sizes.empty();
  }

  Tensor random(at::IntArrayRef sizes) const {
    return (torch::randn(sizes, at::kDouble) * 0.6).to(dtype).requires_grad_(true);
  }

  void make() {
    const int64_t gates = mode == kLstm ? 4
        : mode == kGru                  ? 3
                                        : 1,
                  out = proj > 0 ? proj : kHidden, batch = packed() ? batch_sizes[0] : 2;
    x = packed()      ? random({std::accumulate(batch_sizes.begin(), batch_sizes.end(), int64_t{0}), kInput})
        : batch_first ? random({batch, 5, kInput})
                      : random({5, batch, kInput});
    hx = random({layers * directions(), batch, out});
    cx = mode == kLstm ? random({layers * directions(), batch, kHidden}) : Tensor();
    weights.clear();
    for (int64_t i = 0; i < layers * directions(); ++i) {
      weights.push_back(random({gates * kHidden, i < directions() ? kInput : out * directions()}));
      weights.push_back(random({gates * kHidden, out}));
      if (biased) {
        weights.insert(weights.end(), {random({gates * kHidden}), random({gates * kHidden})});
      }
      if (proj > 0) {
        weights.push_back(random({proj, kHidden}));
      }
    }
  }

  /// Output and last states by the CPU's operators.
  std::vector<Tensor> by_cpu() const {
    const auto of_two = [](const std::tuple<Tensor, Tensor>& t) {
      return std::vector<Tensor>{std::get<0>(t), std::get<1>(t)};
    };
    const auto of_three = [](const std::tuple<Tensor, Tensor, Tensor>& t) {
      return std::vector<Tensor>{std::get<0>(t), std::get<1>(t), std::get<2>(t)};
    };
    if (packed()) {
      const Tensor sizes = torch::tensor(batch_sizes, at::kLong);
      return mode == kLstm ? of_three(at::lstm(x, sizes, {hx, cx}, weights, biased, layers, 0.0, false, bidirectional))
          : mode == kGru   ? of_two(at::gru(x, sizes, hx, weights, biased, layers, 0.0, false, bidirectional))
          : mode == kTanh  ? of_two(at::rnn_tanh(x, sizes, hx, weights, biased, layers, 0.0, false, bidirectional))
                           : of_two(at::rnn_relu(x, sizes, hx, weights, biased, layers, 0.0, false, bidirectional));
    }
    return mode == kLstm
        ? of_three(at::lstm(x, {hx, cx}, weights, biased, layers, 0.0, false, bidirectional, batch_first))
        : mode == kGru  ? of_two(at::gru(x, hx, weights, biased, layers, 0.0, false, bidirectional, batch_first))
        : mode == kTanh ? of_two(at::rnn_tanh(x, hx, weights, biased, layers, 0.0, false, bidirectional, batch_first))
                        : of_two(at::rnn_relu(x, hx, weights, biased, layers, 0.0, false, bidirectional, batch_first));
  }

  native::OptTensor cell() const {
    return mode == kLstm ? native::OptTensor(cx.detach()) : std::nullopt;
  }

  auto forward(bool train, const native::OptTensor& buffer = {}, const native::OptTensor& state = {}) const {
    return native::cudnn_rnn_cuda(
        x.detach(), weights, stride(), buffer, hx.detach(), cell(), mode, kHidden, proj, layers, batch_first, dropout,
        train, bidirectional, batch_sizes, state);
  }
  auto backward(
      const Tensor& buffer,
      const Tensor& output,
      const std::vector<native::OptTensor>& grads,
      const Tensor& reserve,
      const native::OptTensor& state = {},
      std::array<bool, 4> mask = {true, true, true, true}) const {
    return native::cudnn_rnn_backward_cuda(
        x.detach(), weights, stride(), buffer, hx.detach(), cell(), output, grads[0], grads[1], grads[2], mode, kHidden,
        proj, layers, batch_first, dropout, true, bidirectional, batch_sizes, state, reserve, mask);
  }
};

/// Forward and backward, with and without gradients of the last states.
void check_network(const Net& net) {
  const double close = net.dtype == at::kDouble ? 1e-10
      : net.dtype == at::kFloat                 ? 1e-4
      : net.dtype == at::kHalf                  ? 2e-2
                                                : 1e-1;
  CAPTURE(net.mode, net.layers, net.proj, net.biased, net.bidirectional, net.batch_first, net.dtype, net.packed());
  const std::vector<Tensor> want = net.by_cpu();
  std::vector<Tensor> inputs = {net.x, net.hx};
  if (net.mode == kLstm) {
    inputs.push_back(net.cx);
  }
  inputs.insert(inputs.end(), net.weights.begin(), net.weights.end());
  std::vector<Tensor> grads;
  for (const Tensor& t : want) {
    grads.push_back(torch::randn(t.sizes(), at::kDouble).to(net.dtype));
  }
  const auto wanted = torch::autograd::grad(want, inputs, grads);

  const torch::NoGradGuard no_grad;
  for (const bool train : {false, true}) {
    const auto [output, hy, cy, reserve, buffer] = net.forward(train);
    CHECK(near(output, want[0].detach(), close, close));
    CHECK(near(hy, want[1].detach(), close, close));
    CHECK((net.mode == kLstm ? near(cy, want[2].detach(), close, close) : cy.numel() == 0));
    CHECK((reserve.numel() > 0) == train);
    if (!train) {
      continue;
    }
    const std::vector<native::OptTensor> all = {
        grads[0], grads[1], net.mode == kLstm ? native::OptTensor(grads[2]) : std::nullopt};
    const auto [dx, dhx, dcx, dw] = net.backward(buffer, output, all, reserve);
    CHECK(near(dx, wanted[0], close, close * 8));
    CHECK(near(dhx, wanted[1], close, close * 8));
    CHECK((net.mode != kLstm || near(dcx, wanted[2], close, close * 8)));
    for (size_t i = 0; i < dw.size(); ++i) {
      CHECK(near(dw[i], wanted[wanted.size() - dw.size() + i], close, close * 8));
    }
  }
}

} // namespace

TEST_CASE("emulated: recurrent layers by cuDNN are the CPU's, there and back", "[cuda][rnn]") {
  Net net;
  net.mode = GENERATE(kRelu, kTanh, kLstm, kGru);
  net.biased = GENERATE(true, false);
  net.bidirectional = GENERATE(false, true);
  net.layers = GENERATE(1, 3);
  SECTION("sequences of one length") {
    net.batch_first = GENERATE(false, true);
    net.make();
    check_network(net);
  }
  SECTION("packed") {
    net.batch_sizes = {3, 3, 2, 1, 1};
    net.make();
    check_network(net);
  }
  SECTION("a projection") {
    if (net.mode == kLstm) {
      net.proj = 2;
      if (GENERATE(false, true)) {
        net.batch_sizes = {3, 1};
      }
      net.make();
      check_network(net);
    }
  }
  SECTION("other dtypes") {
    net.dtype = GENERATE(at::kFloat, at::kHalf, at::kBFloat16);
    net.make();
    if (net.dtype == at::kFloat || net.mode == kGru || net.mode == kLstm) {
      check_network(net);
    }
  }
}

TEST_CASE("emulated: weights of recurrent layers in one buffer", "[cuda][rnn]") {
  const torch::NoGradGuard no_grad;
  Net net;
  net.layers = 2;
  net.make();
  std::vector<Tensor> old;
  for (const Tensor& w : net.weights) {
    old.push_back(w.clone());
  }
  const auto layout = native::cuda::cudnn_weight_layout(
      {kLstm, at::kDouble, kInput, kHidden, 0, 2, true, false}, at::TensorOptions(at::kDouble));
  REQUIRE(layout != nullptr);
  CHECK_FALSE(native::cuda::shared_weight_buffer(*layout, net.weights).defined());
  const auto before = net.forward(false);
  const Tensor buffer =
      native::cudnn_rnn_flatten_weight_cuda(net.weights, 4, kInput, kLstm, kHidden, 0, 2, false, false);
  CHECK(buffer.numel() == layout->elements);
  for (size_t i = 0; i < old.size(); ++i) {
    CHECK(net.weights[i].is_alias_of(buffer));
    CHECK(near(net.weights[i], old[i], 0, 0));
  }
  const Tensor shared = native::cuda::shared_weight_buffer(*layout, net.weights);
  REQUIRE(shared.defined());
  CHECK(shared.const_data_ptr() == buffer.const_data_ptr());
  CHECK(near(std::get<0>(net.forward(false, shared)), std::get<0>(before), 0, 0));
  // What changes the weights changes the buffer.
  net.weights[0].zero_();
  CHECK(near(std::get<0>(net.forward(false, shared)), net.by_cpu()[0], 1e-10, 1e-10));
  // One weight of its own, or in another place, and they do not share a buffer any more.
  std::swap(net.weights[2], net.weights[3]);
  CHECK_FALSE(native::cuda::shared_weight_buffer(*layout, net.weights).defined());
  std::swap(net.weights[2], net.weights[3]);
  net.weights.back() = net.weights.back().clone();
  CHECK_FALSE(native::cuda::shared_weight_buffer(*layout, net.weights).defined());
}

TEST_CASE("emulated: dropout between recurrent layers by cuDNN", "[cuda][rnn]") {
  const torch::NoGradGuard no_grad;
  Net net;
  net.mode = kTanh;
  net.layers = 2;
  net.dropout = 0.5;
  net.make();
  const Tensor state = native::cudnn_init_dropout_state_cuda(0.5, true, 3, at::kByte, {}, {}, {});
  const Tensor again = state.clone();
  const auto first = net.forward(true, {}, state), second = net.forward(true, {}, state),
             repeated = net.forward(true, {}, again);
  CHECK_FALSE(near(std::get<0>(first), std::get<0>(second)));
  CHECK(near(std::get<0>(first), std::get<0>(repeated)));
  CHECK(near(std::get<0>(net.forward(false)), net.by_cpu()[0], 1e-10, 1e-10));
  CHECK(native::cudnn_init_dropout_state_cuda(0.5, false, 3, at::kByte, {}, {}, {}).numel() == 0);
  // Back: the derivative along a direction, by differences, with the same mask.
  const Tensor along = torch::randn_like(net.x), grad = torch::randn_like(std::get<0>(first));
  const auto [dx, dhx, dcx, dw] =
      net.backward(std::get<4>(first), std::get<0>(first), {grad, {}, {}}, std::get<3>(first), state);
  const Tensor place = net.x;
  const auto at = [&](double step) {
    net.x = place + step * along;
    return (std::get<0>(
                net.forward(true, {}, native::cudnn_init_dropout_state_cuda(0.5, true, 3, at::kByte, {}, {}, {}))) *
            grad)
        .sum()
        .item<double>();
  };
  CHECK((at(1e-5) - at(-1e-5)) / 2e-5 == Approx((dx * along).sum().item<double>()).epsilon(1e-6));
}

TEST_CASE("emulated: what the way back of recurrent layers needs", "[cuda][rnn]") {
  const torch::NoGradGuard no_grad;
  Net net;
  net.make();
  const auto [output, hy, cy, reserve, buffer] = net.forward(true);
  const Tensor kept = reserve.clone(), grad = torch::randn_like(output);
  const auto [dx, dhx, dcx, dw] = net.backward(buffer, output, {grad, {}, {}}, reserve);
  // The reserve is used up.
  CHECK(std::get<0>(net.backward(buffer, output, {grad, {}, {}}, reserve)).isnan().all().item<bool>());
  const auto few = net.backward(buffer, output, {grad, {}, {}}, kept, {}, {false, true, false, false});
  CHECK_FALSE(std::get<0>(few).defined());
  CHECK(near(std::get<1>(few), dhx, 0, 0));
  CHECK_FALSE(std::get<2>(few).defined());
  CHECK((std::get<3>(few).size() == 4 && !std::get<3>(few)[0].defined()));
  CHECK_FALSE(std::get<0>(net.backward(buffer, output, {std::nullopt, std::nullopt, std::nullopt}, kept)).defined());
  CHECK_THROWS_WITH(
      net.backward(buffer, output, {grad, {}, {}}, kept.slice(0, 8)), Catch::Contains("expected a reserve of"));
  CHECK_THROWS_WITH(
      net.backward(buffer, output, {grad.slice(0, 1), {}, {}}, kept), Catch::Contains("expected grad_output of sizes"));
  CHECK_THROWS_WITH(
      net.backward(buffer.slice(0, 1), output, {grad, {}, {}}, kept), Catch::Contains("expected weight_buf of sizes"));
  CHECK_THROWS_WITH(
      native::cudnn_rnn_backward_cuda(
          net.x.detach(), net.weights, 4, buffer, net.hx.detach(), net.cell(), output, grad, {}, {}, kLstm, kHidden, 0,
          1, false, 0, false, false, {}, {}, kept, {true, true, true, true}),
      Catch::Contains("cudnn RNN backward can only be called in training mode"));
}

TEST_CASE("emulated: recurrent layers that cuDNN is not asked for", "[cuda][rnn]") {
  const torch::NoGradGuard no_grad;
  const auto throws = [](const Net& net, const char* words) {
    CHECK_THROWS_WITH(net.forward(false), Catch::Contains(words));
  };
  Net good;
  good.make();
  const auto changed = [&](const auto& change) {
    Net net = good;
    change(net);
    return net;
  };
  throws(changed([](Net& n) { n.mode = 4; }), "unrecognized cuDNN RNN mode 4");
  throws(
      changed([](Net& n) { n.hx = n.hx.transpose(0, 2).contiguous().transpose(0, 2); }), "rnn: hx is not contiguous");
  throws(changed([](Net& n) { n.hx = n.hx.slice(1, 1); }), "expected hx of sizes [1, 2, 4]");
  throws(changed([](Net& n) { n.hx = n.hx.to(at::kFloat); }), "expected hx of sizes");
  throws(changed([](Net& n) { n.weights[1] = n.weights[1].slice(0, 1); }), "expected weight 1 of sizes [16, 4]");
  throws(changed([](Net& n) { n.weights[3] = Tensor(); }), "expected weight 3 of sizes [16]");
  throws(changed([](Net& n) { n.weights.pop_back(); }), "a layer has 2 weights for each direction");
  throws(changed([](Net& n) { n.layers = 0; }), "sizes must be positive");
  throws(changed([](Net& n) { n.x = n.x.to(at::kLong); }), "cuDNN takes float, double, half and bfloat16");
  throws(changed([](Net& n) { n.x = n.x.select(0, 0); }), "expected an input of 3 dimensions");
  throws(
      changed([](Net& n) {
        n.x = n.x.select(0, 0), n.batch_sizes = {1, 2};
      }),
      "batch_sizes must be positive and not grow");
  throws(
      changed([](Net& n) { n.x = n.x.select(0, 0), n.batch_sizes = {1}; }),
      "batch_sizes add up to 1, but the input has 2 rows");
  CHECK_THROWS_WITH(
      native::cudnn_rnn_cuda(
          good.x.detach(), good.weights, 4, {}, good.hx.detach(), good.cell(), kGru, kHidden, 0, 1, false, 0, false,
          false, {}, {}),
      Catch::Contains("rnn: illegal defined cx for non-LSTM RNN"));
  Net dropping = good;
  dropping.dropout = 0.5;
  CHECK_THROWS_WITH(dropping.forward(true), Catch::Contains("dropout needs a dropout_state"));
  CHECK_THROWS_WITH(
      dropping.forward(true, {}, torch::zeros({5}, at::kByte)), Catch::Contains("dropout needs a dropout_state"));
  CHECK_THROWS_WITH(
      native::cudnn_rnn_flatten_weight_cuda({}, 4, 3, kLstm, 4, 0, 1, false, false),
      Catch::Contains("cannot flatten empty weight list"));
}

TEST_CASE("emulated: cuDNN is told of TF32, and may refuse recurrent layers", "[cuda][rnn]") {
  const torch::NoGradGuard no_grad;
  auto& context = at::globalContext();
  const bool tf32 = context.allowTF32CuDNN();
  Net net;
  net.dtype = at::kFloat;
  net.make();
  for (const bool allowed : {false, true}) {
    context.setAllowTF32CuDNN(allowed);
    net.forward(false);
    CHECK(emulated::libraries().rnn_math == (allowed ? CUDNN_DEFAULT_MATH : CUDNN_FMA_MATH));
  }
  context.setAllowTF32CuDNN(tf32);
  Net half;
  half.dtype = at::kHalf;
  half.make();
  half.forward(false);
  CHECK(emulated::libraries().rnn_math == CUDNN_TENSOR_OP_MATH);
  emulated::libraries().rnn_refused = true;
  net.layers = 4; // not asked about before
  net.make();
  CHECK_THROWS_AS(net.forward(false), c10::NotImplementedError);
  emulated::libraries().rnn_refused = false;
}

#endif
