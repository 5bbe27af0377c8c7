// Hooks before and after forward, and on the way back.
#include <torch/torch.h>

#include "test/support/matchers.h"

using namespace torch;
using test::EqualsTensor;
using test::Says;

namespace {

struct DoubleImpl : nn::Cloneable<DoubleImpl> {
  void reset() override {}
  Tensor forward(Tensor x) {
    return x * 2;
  }
};
TORCH_MODULE(Double);

struct PairImpl : nn::Cloneable<PairImpl> {
  void reset() override {}
  std::tuple<Tensor, Tensor> forward(const Tensor& x, std::optional<std::tuple<Tensor, Tensor>> state) {
    return {x + std::get<0>(*state), x * std::get<1>(*state)};
  }
};
TORCH_MODULE(Pair);

} // namespace

TEST_CASE("forward hooks see and replace what goes in and comes out", "[nn][hooks]") {
  Double twice;
  auto before =
      twice->register_forward_pre_hook([](nn::Module&, std::vector<Tensor>& inputs) { inputs[0] = inputs[0] + 1; });
  auto after =
      twice->register_forward_hook([](nn::Module&, const std::vector<Tensor>& inputs, std::vector<Tensor>& outputs) {
        outputs[0] = outputs[0] * 10 + inputs[0];
      });
  const Tensor x = torch::tensor({1.0, 2.0});
  CHECK_THAT(twice(x), EqualsTensor({42, 63}));
  CHECK_THAT(twice->forward(x), EqualsTensor({2, 4}));
  before.remove();
  CHECK_THAT(twice(x), EqualsTensor({21, 42}));
  after.remove();
  after.remove();
  CHECK_THAT(twice(x), EqualsTensor({2, 4}));
}

TEST_CASE("hooks run in containers, in the order in which they came", "[nn][hooks]") {
  Double twice;
  std::string order;
  for (const char name : {'a', 'b'}) {
    twice->register_forward_hook(
        [&order, name](nn::Module&, const std::vector<Tensor>&, std::vector<Tensor>&) { order += name; });
  }
  nn::Sequential sequential(twice, nn::Identity());
  sequential->register_forward_pre_hook([&order](nn::Module&, std::vector<Tensor>&) { order += 's'; });
  CHECK_THAT(sequential(torch::ones({1})), EqualsTensor({2}));
  CHECK(order == "sab");
}

TEST_CASE("hooks reach the tensors inside tuples and options", "[nn][hooks]") {
  Pair pair;
  size_t inputs = 0;
  pair->register_forward_pre_hook([&](nn::Module&, std::vector<Tensor>& tensors) {
    inputs = tensors.size();
    tensors[2] = torch::full({1}, 5.0f);
  });
  const auto result = pair(torch::ones({1}), std::make_tuple(torch::ones({1}), torch::ones({1})));
  CHECK(inputs == 3);
  CHECK_THAT(std::get<0>(result), EqualsTensor({2}));
  CHECK_THAT(std::get<1>(result), EqualsTensor({5}));
}

TEST_CASE("a backward hook sees and replaces gradients", "[nn][hooks]") {
  Double twice;
  std::vector<double> seen;
  auto handle = twice->register_full_backward_hook(
      [&](nn::Module&, std::vector<Tensor>& grad_inputs, const std::vector<Tensor>& grad_outputs) {
        seen = {grad_inputs[0].item<double>(), grad_outputs[0].item<double>()};
        grad_inputs[0] = grad_inputs[0] * 100;
      });
  const Tensor x = torch::tensor({3.0}, torch::requires_grad());
  (twice(x) * 5).sum().backward();
  CHECK(seen == std::vector<double>{10, 5});
  CHECK_THAT(x.grad(), EqualsTensor({1000}));
  handle.remove();
  x.mutable_grad() = Tensor();
  twice(x).sum().backward();
  CHECK_THAT(x.grad(), EqualsTensor({2}));
}

TEST_CASE("a backward hook runs where only parameters need gradients", "[nn][hooks]") {
  nn::Linear linear(2, 2);
  int calls = 0;
  linear->register_full_backward_hook(
      [&](nn::Module&, std::vector<Tensor>& grad_inputs, const std::vector<Tensor>& grad_outputs) {
        ++calls;
        CHECK_FALSE(grad_inputs[0].defined());
        CHECK(grad_outputs[0].sizes() == IntArrayRef({3, 2}));
      });
  linear(torch::ones({3, 2})).sum().backward();
  CHECK(calls == 1);
  CHECK(linear->weight.grad().defined());
  torch::NoGradGuard no_grad;
  linear(torch::ones({3, 2}));
  CHECK(calls == 1);
}

TEST_CASE("a hook that loses tensors is an error", "[nn][hooks]") {
  Double twice;
  twice->register_forward_hook(
      [](nn::Module&, const std::vector<Tensor>&, std::vector<Tensor>& outputs) { outputs.clear(); });
  CHECK_THROWS_MATCHES(twice(torch::ones({1})), c10::Error, Says("it left 0 tensors, but there are 1"));
}

TEST_CASE("a clone has hooks of its own", "[nn][hooks]") {
  Double twice;
  int calls = 0;
  auto handle = twice->register_forward_pre_hook([&](nn::Module&, std::vector<Tensor>&) { ++calls; });
  Double copy(std::dynamic_pointer_cast<DoubleImpl>(twice->clone()));
  handle.remove();
  twice(torch::ones({1}));
  CHECK(calls == 0);
  copy(torch::ones({1}));
  CHECK(calls == 1);
}
