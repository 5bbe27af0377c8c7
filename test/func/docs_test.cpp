// The code of docs/transforms.md, as it stands there.
#include "support.h"
#include "test/support/doc_code.h"

#include <torch/compile.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

using namespace func_test;

namespace {

struct DocNetImpl : torch::nn::Module {
  DocNetImpl() : fc(6, 3) {
    register_module("fc", fc);
    to(at::kDouble);
  }
  Tensor forward(const Tensor& images) {
    return fc(images.flatten(1));
  }
  torch::nn::Linear fc;
};
TORCH_MODULE(DocNet);

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;
using torch::autograd::VmapDims;
using torch::autograd::VmapInfo;

struct Cubed : torch::autograd::Function<Cubed> {
  static torch::Tensor forward(AutogradContext* ctx, const torch::Tensor& x);
  static variable_list backward(AutogradContext* ctx, variable_list grads);
  static std::pair<torch::Tensor, VmapDims> vmap(
      const VmapInfo& info, const VmapDims& in_dims, const torch::Tensor& x) {
    CHECK(info.batch_size == 4);
    return {Cubed::apply(x), {in_dims[0]}};
  }
};

torch::Tensor Cubed::forward(AutogradContext* ctx, const torch::Tensor& x) {
  ctx->save_for_backward({x});
  return x.pow(3);
}

variable_list Cubed::backward(AutogradContext* ctx, variable_list grads) {
  return {grads[0] * 3 * ctx->get_saved_variables()[0].square()};
}

} // namespace

TEST_CASE("Each line of code of docs/transforms.md is compiled here") {
  const std::filesystem::path here(__FILE__);
  const test::DocCode code =
      test::look_for_doc_code(here.parent_path().parent_path().parent_path() / "docs/transforms.md", here);
  CHECK(code.missing == std::vector<std::string>());
  CHECK(code.lines > 25);
}

TEST_CASE("docs/transforms.md: forward mode by hand") {
  DocNet model;
  const Tensor x = randn({5, 6}), v = randn({5, 6});
  namespace fwd = torch::autograd::forward_ad;
  fwd::DualLevel level;
  at::Tensor y = model->forward(fwd::make_dual(x, v));
  at::Tensor dy = fwd::unpack_dual(y).tangent;
  check_close(dy, v.matmul(model->fc->weight.t()));
}

TEST_CASE("docs/transforms.md: a batch of a function") {
  const Tensor x = randn({4, 3}), y = randn({4, 3});
  auto dot = [](const torch::Tensor& a, const torch::Tensor& b) { return a.dot(b); };
  torch::Tensor row_products = torch::func::vmap(dot)(x, y);
  torch::Tensor all_products = torch::func::vmap(torch::func::vmap(dot, {std::nullopt, 0}), {0, std::nullopt})(x, y);
  torch::Tensor scaled = torch::func::vmap([](const torch::Tensor& t) { return t / t.norm(); }, 1, 1)(x);
  check_close(row_products, (x * y).sum(1));
  check_close(all_products, x.matmul(y.t()));
  check_close(scaled, x / x.norm(2, 0));
}

TEST_CASE("docs/transforms.md: gradients of each sample, ensembles") {
  DocNet net;
  const Tensor images = randn({4, 2, 3}), labels = at::randint(3, {4}, at::kLong);
  auto loss = [&](const torch::func::NamedTensors& params, const torch::Tensor& image, const torch::Tensor& label) {
    torch::Tensor scores = torch::func::functional_call(net, params, image.unsqueeze(0));
    return torch::nn::functional::cross_entropy(scores, label.unsqueeze(0));
  };
  auto per_sample = torch::func::vmap(torch::func::grad(loss), {std::nullopt, 0, 0});
  torch::func::NamedTensors gradients = per_sample(net->named_parameters(), images, labels);
  const auto of_first = torch::func::grad(loss)(net->named_parameters(), images[0], labels[0]);
  check_close(gradients["fc.weight"][0].detach(), of_first["fc.weight"].detach());

  std::vector<DocNet> nets(3);
  auto [params, buffers] = torch::func::stack_module_state(nets);
  auto run = [&](const torch::func::NamedTensors& p, const torch::func::NamedTensors& b, const torch::Tensor& batch) {
    return torch::func::functional_call(net, std::make_pair(p, b), batch);
  };
  torch::Tensor scores = torch::func::vmap(run, {0, 0, std::nullopt})(params, buffers, images);
  check_close(scores[2].detach(), nets[2](images).detach());
}

TEST_CASE("docs/transforms.md: jacobians and hessians") {
  const Tensor weight = randn({2, 3}), point = randn({3}), direction = randn({3});
  auto f = [&](const torch::Tensor& t) { return weight.mv(t).tanh(); };
  torch::Tensor by_rows = torch::func::jacrev(f)(point);
  torch::Tensor by_columns = torch::func::jacfwd(f)(point);
  auto energy = [](const torch::Tensor& t) { return t.pow(4).sum(); };
  torch::Tensor curvature = torch::func::hessian(energy)(point);
  auto [value, slope] = torch::func::jvp(f, {point}, {direction});
  check_close(by_rows, by_columns);
  check_close(curvature, at::diag(12 * point * point));
  check_close(slope, by_rows.mv(direction));
  check_close(value, f(point));
  auto [gradient, product] = torch::func::jvp(torch::func::grad(energy), {point}, {direction});
  check_close(product, curvature.mv(direction));
  check_close(gradient, 4 * point.pow(3));
}

TEST_CASE("docs/transforms.md: steps of an optimization inside") {
  const Tensor w0 = randn({3}), x = randn({4, 3});
  auto inner = [](const torch::Tensor& w, const torch::Tensor& t) { return (w * t - 1).square().sum(); };
  auto after_step = [&](const torch::Tensor& w, const torch::Tensor& t) {
    torch::Tensor stepped = w - 0.1 * torch::func::grad(inner)(w, t);
    return inner(stepped, t);
  };
  torch::Tensor meta = torch::func::vmap(torch::func::grad(after_step), {std::nullopt, 0})(w0, x);
  for (int64_t i = 0; i < 4; ++i) {
    check_close(meta[i], torch::func::grad(after_step)(w0, x[i]));
  }
}

TEST_CASE("docs/transforms.md: functions of one's own, functions that write, compiled ones") {
  const Tensor x = randn({4, 3}), batch_of_rows = randn({4, 2, 3});
  check_close(torch::func::vmap([](const Tensor& t) { return Cubed::apply(t); })(x), x.pow(3));
  check_close(
      torch::func::vmap(torch::func::grad([](const Tensor& t) { return Cubed::apply(t).sum(); }))(x), 3 * x * x);
  auto sums = [](const torch::Tensor& t) {
    torch::Tensor total = torch::zeros({3}, torch::kDouble);
    for (const torch::Tensor& row : t.unbind()) {
      total.add_(row);
    }
    return total;
  };
  torch::Tensor all_sums = torch::func::vmap(torch::func::functionalize(sums))(batch_of_rows);
  check_close(all_sums, batch_of_rows.sum(1));
  auto energy = [](const torch::Tensor& t) { return t.pow(4).sum(); };
  auto fast = torch::compile([&](const torch::Tensor& t) { return torch::func::vmap(torch::func::grad(energy))(t); });
  check_close(fast(x), 4 * x.pow(3));
  check_close(fast(x), 4 * x.pow(3));
}
