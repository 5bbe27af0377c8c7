// Gradients: functions of a program's own, hooks, gradients of gradients, modes.
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/variable.h>
#include <torch/torch.h>

#include "report.h"

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

namespace {

class LinearFunction : public torch::autograd::Function<LinearFunction> {
 public:
  static Tensor forward(AutogradContext* ctx, Tensor input, Tensor weight, Tensor bias = Tensor()) {
    ctx->save_for_backward({input, weight, bias});
    auto output = input.mm(weight.t());
    if (bias.defined()) {
      output += bias.unsqueeze(0).expand_as(output);
    }
    return output;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grad_outputs) {
    auto saved = ctx->get_saved_variables();
    auto grad_output = grad_outputs[0];
    auto grad_bias = Tensor();
    if (saved[2].defined()) {
      grad_bias = grad_output.sum(0);
    }
    return {grad_output.mm(saved[1]), grad_output.t().mm(saved[0]), grad_bias};
  }
};

class MulConstant : public torch::autograd::Function<MulConstant> {
 public:
  static Tensor forward(AutogradContext* ctx, Tensor tensor, double constant) {
    ctx->saved_data["constant"] = constant;
    return tensor * constant;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grad_outputs) {
    return {grad_outputs[0] * ctx->saved_data["constant"].toDouble(), Tensor()};
  }
};

// Several outputs, one of them without a gradient, and an input that is written to.
class SortAndClear : public torch::autograd::Function<SortAndClear> {
 public:
  static variable_list forward(AutogradContext* ctx, Variable x, Variable written) {
    auto [values, indices] = x.sort(-1);
    ctx->mark_non_differentiable({indices});
    ctx->saved_data["indices"] = indices;
    written.mul_(2);
    ctx->mark_dirty({written});
    return {values, indices, written};
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    auto indices = ctx->saved_data["indices"].toTensor();
    report::exact("grads come", grads.size());
    return {torch::zeros_like(grads[0]).scatter_(-1, indices, grads[0]), grads[2] * 2};
  }
};

class StraightThrough : public torch::autograd::Function<StraightThrough> {
 public:
  static Tensor forward(AutogradContext* ctx, const Tensor& x) {
    return x.sign();
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    return {grads[0].clamp(-1, 1)};
  }
};

void basics() {
  auto x = torch::ones({2, 2}, torch::requires_grad());
  auto y = x + 2;
  auto z = y * y * 3;
  auto out = z.mean();
  report::exact("grad_fn", y.grad_fn()->name());
  report::exact("grad_fn", z.grad_fn()->name());
  report::exact("grad_fn", out.grad_fn()->name());
  std::cout << y << "\n" << out << "\n";
  out.backward();
  report::exact("grad", x.grad());
  report::exact("leaf", x.is_leaf());
  report::exact("not leaf", y.is_leaf());
  x.grad().zero_();
  x.mutable_grad() = torch::Tensor();
  report::exact("defined", x.grad().defined());

  auto v = torch::randn({3}, torch::requires_grad());
  auto w = v * 2;
  while (w.norm().item<double>() < 1000) {
    w = w * 2;
  }
  w.backward(torch::tensor({0.1, 1.0, 0.0001}, torch::kFloat));
  report::close("vector product", v.grad());
  report::throws("backward of a vector", [&] { (v * 2).backward(); });
  report::throws("backward twice", [&] {
    auto square = (v * v).sum();
    square.backward();
    square.backward();
  });
  auto kept = (v * v).sum();
  kept.backward({}, /*retain_graph=*/true);
  kept.backward();
  report::close("accumulated", v.grad());
  report::throws("integers", [] { torch::ones({2}, torch::kInt).requires_grad_(); });
  report::throws("in place on a leaf", [&] { v.add_(1); });
  auto hidden = v * 1;
  hidden.retain_grad();
  hidden.sum().backward();
  report::exact("retained", hidden.grad());
  report::exact("retains", hidden.retains_grad());
  report::throws("saved and changed", [&] {
    auto changed = (v * 1).exp();
    auto loss = changed.sum();
    changed.add_(1);
    loss.backward();
  });
}

void higher_order() {
  auto x = torch::tensor({1.0, 2.0, 3.0}, torch::dtype(torch::kDouble).requires_grad(true));
  auto y = (x * x * x).sum();
  auto first = torch::autograd::grad({y}, {x}, {}, /*retain_graph=*/true, /*create_graph=*/true)[0];
  report::exact("first", first);
  auto second = torch::autograd::grad({first.sum()}, {x}, {}, c10::nullopt, true)[0];
  report::exact("second", second);
  second.sum().backward();
  report::exact("third", x.grad());

  // The penalty of a critic's gradient.
  torch::manual_seed(3);
  auto model = torch::nn::Linear(4, 3);
  auto input = torch::randn({3, 4}).requires_grad_(true);
  auto output = model(input);
  auto target = torch::randn({3, 3});
  auto loss = torch::nn::MSELoss()(output, target);
  auto gradient = torch::autograd::grad(
      {loss}, {input}, /*grad_outputs=*/{torch::ones_like(loss)}, /*retain_graph=*/true, /*create_graph=*/true)[0];
  auto penalty = torch::pow((gradient.norm(2, /*dim=*/1) - 1), 2).mean();
  (loss + penalty).backward();
  report::close("penalised input", input.grad());
  report::close("penalised weight", model->weight.grad());
  auto unused = torch::ones({1}, torch::requires_grad());
  report::exact(
      "unused", torch::autograd::grad({input.sum()}, {unused}, {}, false, false, /*allow_unused=*/true)[0].defined());
  report::throws("unused", [&] { return torch::autograd::grad({input.sum()}, {unused}); });
  auto a = torch::randn({2}, torch::requires_grad()), b = torch::randn({2}, torch::requires_grad());
  torch::autograd::backward({(a * b).sum(), a.sum()}, {});
  report::exact("two roots", torch::allclose(a.grad(), b + 1));
}

void functions() {
  auto x = torch::arange(6, torch::kFloat).view({2, 3}).requires_grad_();
  auto weight = (torch::arange(12, torch::kFloat).view({4, 3}) / 10).requires_grad_();
  auto bias = torch::ones({4}).requires_grad_();
  auto y = LinearFunction::apply(x, weight, bias);
  report::exact("name", y.grad_fn()->name());
  y.pow(2).sum().backward();
  report::exact("x", x.grad());
  report::exact("weight", weight.grad());
  report::exact("bias", bias.grad());
  LinearFunction::apply(x, weight).sum().backward();
  auto z = torch::ones({2}, torch::requires_grad());
  MulConstant::apply(z, 5.5).sum().backward();
  report::exact("constant", z.grad());
  auto unsorted = torch::tensor({{3., 1., 2.}, {0., 5., 4.}}, torch::requires_grad());
  auto written = torch::ones({2}, torch::requires_grad()) * 1;
  auto outputs = SortAndClear::apply(unsorted, written);
  report::exact("indices need no gradient", outputs[1].requires_grad());
  report::exact("dirty", outputs[2].is_same(written));
  ((outputs[0] * torch::tensor({1., 10., 100.})).sum() + outputs[2].sum()).backward();
  report::exact("unsorted", unsorted.grad());
  auto binary = torch::tensor({-2., 0.5, 3.}, torch::requires_grad());
  (StraightThrough::apply(binary) * torch::tensor({0.5, 5., -5.})).sum().backward();
  report::exact("straight through", binary.grad());
}

void hooks() {
  auto v = torch::tensor({0., 0., 0.}, torch::requires_grad());
  auto handle = v.register_hook([](Tensor grad) { return grad * 2; });
  v.register_hook([](const Tensor& grad) { report::exact("hook sees", grad); });
  v.backward(torch::tensor({1., 2., 3.}));
  report::exact("doubled", v.grad());
  v.mutable_grad().reset();
  v.remove_hook(handle);
  v.backward(torch::tensor({1., 2., 3.}));
  report::exact("not doubled", v.grad());
}

void modes() {
  auto x = torch::ones({2}, torch::requires_grad());
  {
    torch::NoGradGuard no_grad;
    report::exact("no_grad", (x * 2).requires_grad());
    {
      torch::AutoGradMode enable(true);
      report::exact("enabled again", (x * 2).requires_grad());
    }
    x += 1;
  }
  {
    torch::autograd::GradMode::set_enabled(false);
    report::exact("set_enabled", torch::autograd::GradMode::is_enabled());
    torch::autograd::GradMode::set_enabled(true);
  }
  {
    c10::InferenceMode guard;
    auto y = x * 2;
    report::exact("inference", y.is_inference());
    report::exact("requires grad", y.requires_grad());
  }
  auto detached = x.detach();
  report::exact("detached", detached.requires_grad());
  detached.zero_();
  report::exact("shares", x);
  auto view = (x * 3).view({1, 2});
  view.mul_(2);
  report::exact("view", view.grad_fn()->name());
  report::exact("base", view._base().grad_fn()->name());
  report::exact("version", view._version());
  report::exact("is view", view.is_view());
  x.set_requires_grad(false);
  report::exact("off", x.requires_grad());
  auto data = torch::ones({2}, torch::requires_grad());
  data.data().fill_(5);
  report::exact("data", data);
  data.set_data(torch::zeros({3}));
  report::exact("set_data", data.sizes());
}

void values() {
  torch::manual_seed(5);
  const auto check = [](const char* name, const auto& f, at::IntArrayRef sizes) {
    auto x = (torch::rand(sizes, torch::kDouble) + 0.5).requires_grad_();
    auto y = f(x);
    (y * torch::arange(1, y.numel() + 1, torch::kDouble).view(y.sizes()).cos()).sum().backward();
    report::close(name, x.grad());
  };
  check("softmax", [](const Tensor& x) { return x.softmax(-1); }, {2, 3});
  check("logsumexp", [](const Tensor& x) { return x.logsumexp({1}); }, {2, 3});
  check("prod", [](const Tensor& x) { return x.prod(1); }, {2, 3});
  check("var", [](const Tensor& x) { return x.var(0); }, {3, 2});
  check("norm", [](const Tensor& x) { return x.norm(3, 1); }, {2, 3});
  check("cumprod", [](const Tensor& x) { return x.cumprod(1); }, {2, 4});
  check("inverse", [](const Tensor& x) { return (x + torch::eye(3, torch::kDouble) * 3).inverse(); }, {3, 3});
  check("det", [](const Tensor& x) { return torch::det(x).view({1}); }, {3, 3});
  check(
      "cholesky", [](const Tensor& x) { return torch::linalg_cholesky(x.mm(x.t()) + torch::eye(3, torch::kDouble)); },
      {3, 3});
  check("eigenvalues", [](const Tensor& x) { return std::get<0>(torch::linalg_eigh(x + x.t(), "L")); }, {3, 3});
  check("singular values", [](const Tensor& x) { return std::get<1>(torch::svd(x)); }, {3, 2});
  check(
      "solve",
      [](const Tensor& x) {
        return torch::linalg_solve(x + torch::eye(3, torch::kDouble) * 3, torch::ones({3}, torch::kDouble), true);
      },
      {3, 3});
  check("fft", [](const Tensor& x) { return torch::fft::rfft(x).abs(); }, {8});
  check(
      "conv",
      [](const Tensor& x) {
        return torch::conv2d(x, torch::ones({2, 1, 3, 3}, torch::kDouble) / 9, {}, 1, 1);
      },
      {1, 1, 4, 4});
  check("pool", [](const Tensor& x) { return torch::max_pool2d(x, 2); }, {1, 1, 4, 4});
  check("index", [](const Tensor& x) { return x.index({torch::tensor({0, 0, 2}), torch::tensor({1, 1, 0})}); }, {3, 2});
  check("gather", [](const Tensor& x) { return x.gather(1, torch::tensor({{0, 0}, {1, 0}})); }, {2, 2});
  check("where", [](const Tensor& x) { return torch::where(x > 1, x * 2, x.exp()); }, {2, 3});
  check("clamp", [](const Tensor& x) { return x.clamp(0.8, 1.2); }, {2, 3});
  check("einsum", [](const Tensor& x) { return torch::einsum("bij,bjk->bik", {x, x.transpose(1, 2)}); }, {2, 2, 3});
  check("cat", [](const Tensor& x) { return torch::cat({x, x.flip(0)}, 1).unfold(1, 2, 2); }, {2, 2});
  check(
      "grid",
      [](const Tensor& x) {
        const auto theta = torch::tensor({{{1., 0.2, 0.}, {0., 0.8, 0.1}}}, torch::kDouble);
        return torch::nn::functional::grid_sample(x, torch::nn::functional::affine_grid(theta, {1, 1, 3, 3}, false));
      },
      {1, 1, 4, 4});
  check("special", [](const Tensor& x) { return torch::lgamma(x) + torch::erf(x) + torch::digamma(x); }, {2, 3});
  check("cdist", [](const Tensor& x) { return torch::cdist(x, x.flip(0)); }, {3, 2});
}

} // namespace

int main() {
  torch::manual_seed(1);
  basics();
  higher_order();
  functions();
  hooks();
  modes();
  values();
  return 0;
}
