// grad, vjp, jvp, jacobians: against plain autograd and formulas, nested in each other and in vmap.
#include "support.h"

#include <map>
#include <tuple>
#include <utility>

using namespace func_test;
using namespace torch::func;

namespace {

Tensor cube(const Tensor& x) {
  return (x * x * x).sum();
}

} // namespace

TEST_CASE("grad") {
  const Tensor x = randn({3});
  check_close(grad(cube)(x), 3 * x * x);
  CHECK_FALSE(grad(cube)(x).requires_grad());
  const auto [g, value] = grad_and_value(cube)(x);
  check_close(g, 3 * x * x);
  check_close(value, (x * x * x).sum());
  CHECK_FALSE(value.requires_grad());
  const auto product = [](const Tensor& a, const Tensor& b) { return (a * b).sum(); };
  const Tensor y = randn({3});
  check_close(grad<1>(product)(x, y), x);
  const auto [da, db] = grad<0, 1>(product)(x, y);
  check_close(da, y);
  check_close(db, x);
  const auto [ga, aux] = grad([](const Tensor& a) { return std::make_pair(a.sum(), a * 2); }, has_aux)(x);
  check_close(ga, at::ones_like(x));
  check_close(aux, x * 2);
  CHECK_FALSE(aux.requires_grad());
}

TEST_CASE("grad of grad") {
  const Tensor x = randn({});
  const auto sine = [](const Tensor& t) { return t.sin(); };
  check_close(grad(grad(sine))(x), -x.sin());
  check_close(grad(grad(grad(sine)))(x), -x.cos());
  // d/dx of x * d/dy (x + y) at y = 1, where the inner variable hides none of the outer: perturbations stay apart.
  const auto outer = [](const Tensor& a) {
    return a * grad([&](const Tensor& b) { return a * b; })(at::ones({}, at::kDouble));
  };
  check_close(grad(outer)(x), 2 * x);
}

TEST_CASE("grad inside of plain autograd") {
  const Tensor w = randn({3}).requires_grad_();
  const Tensor x = randn({3});
  const auto loss = [&](const Tensor& t) { return (w * t * t).sum(); };
  const Tensor g = grad(loss)(x);
  REQUIRE(g.requires_grad());
  check_close(torch::autograd::grad({g.sum()}, {w})[0], 2 * x);
  const Tensor v = randn({3}).requires_grad_();
  check_close(torch::autograd::grad({grad(cube)(v).sum()}, {v})[0], 6 * v.detach());
  {
    const at::NoGradGuard no_grad;
    CHECK_FALSE(grad(loss)(x).requires_grad());
    check_close(grad(loss)(x), (2 * w * x).detach());
  }
  CHECK_FALSE(w.grad().defined());
}

TEST_CASE("per-sample gradients: vmap of grad") {
  const Tensor w = randn({3}), x = randn({5, 3}), y = randn({5});
  const auto loss = [](const Tensor& weight, const Tensor& sample, const Tensor& target) {
    return (weight.dot(sample) - target).square();
  };
  const Tensor got = vmap(grad(loss), {std::nullopt, 0, 0})(w, x, y);
  check_close(got, 2 * (x.mv(w) - y).unsqueeze(1) * x);
}

TEST_CASE("grad of vmap") {
  const Tensor x = randn({4, 3});
  const auto f = [](const Tensor& batch) { return vmap([](const Tensor& t) { return t.sin().prod(); })(batch).sum(); };
  const Tensor leaf = x.detach().requires_grad_();
  check_close(grad(f)(x), torch::autograd::grad({leaf.sin().prod(1).sum()}, {leaf})[0]);
}

TEST_CASE("grad of code that writes in place") {
  const Tensor x = randn({4, 3});
  const auto f = [](const Tensor& batch) {
    return vmap([](const Tensor& t) {
             Tensor y = t.clone();
             y.mul_(t).select(0, 0).zero_();
             return y.sum();
           })(batch)
        .sum();
  };
  const Tensor wanted = 2 * x;
  wanted.select(1, 0).zero_();
  check_close(grad(f)(x), wanted);
}

TEST_CASE("vjp") {
  const Tensor x = randn({3}), y = randn({3});
  const auto f = [](const Tensor& a, const Tensor& b) { return std::make_tuple(a * b, b.sin()); };
  const auto [outputs, vjp_fn] = vjp(f, x, y);
  check_close(std::get<0>(outputs), x * y);
  const Tensor u = randn({3}), v = randn({3});
  const auto [dx, dy] = vjp_fn(std::make_tuple(u, v));
  check_close(dx, u * y);
  check_close(dy, u * x + v * y.cos());
  check_close(std::get<0>(vjp_fn(std::make_tuple(v, u))), v * y); // any number of times
  CHECK_THAT(error_of([&] { vjp_fn(std::make_tuple(randn({2}), v)); }), Catch::Contains("has sizes [2]"));
}

TEST_CASE("jvp and linearize") {
  const Tensor x = randn({3}), v = randn({3});
  const auto f = [](const Tensor& t) { return t.sin(); };
  auto [y, dy] = jvp(f, {x}, {v});
  check_close(y, x.sin());
  check_close(dy, x.cos() * v);
  const auto [z, derivative] = linearize(f, x);
  check_close(z, x.sin());
  check_close(derivative(v), x.cos() * v);
  check_close(derivative(2 * v), 2 * x.cos() * v);
  const auto [p, dp] = jvp([](const Tensor& a, const Tensor& b) { return a * b; }, {x, v}, {v, x});
  check_close(p, x * v);
  check_close(dp, v * v + x * x);
}

TEST_CASE("jacobians") {
  const Tensor x = randn({3}), a = randn({2, 3});
  const auto f = [&](const Tensor& t) { return a.mv(t.sin()); };
  const Tensor wanted = a * x.cos();
  check_close(jacrev(f)(x), wanted);
  check_close(jacfwd(f)(x), wanted);
  check_close(jacrev(f, 1)(x), wanted);
  const auto matrix = [](const Tensor& t) { return t.matmul(t.t()); };
  const Tensor m = randn({2, 3});
  CHECK(jacrev(matrix)(m).sizes() == at::IntArrayRef({2, 2, 2, 3}));
  check_close(jacrev(matrix)(m), jacfwd(matrix)(m));
  const auto two = [](const Tensor& s, const Tensor& t) { return std::make_pair(s * t, t.sum()); };
  const auto [first, second] = jacrev<0, 1>(two)(x, x + 1);
  check_close(std::get<0>(first), at::diag(x + 1));
  check_close(std::get<1>(first), at::diag(x));
  check_close(std::get<0>(second), at::zeros_like(x));
  check_close(std::get<1>(second), at::ones_like(x));
}

TEST_CASE("hessian") {
  const Tensor x = randn({3});
  auto H = hessian(cube)(x);
  check_close(H, at::diag(6 * x));
  check_close(jacrev(jacrev(cube))(x), H);
  check_close(jacfwd(jacfwd(cube))(x), H);
  check_close(jacrev(jacfwd(cube))(x), H);
}

TEST_CASE("transforms of transforms") {
  const Tensor x = randn({4, 3});
  const auto f = [](const Tensor& t) { return t.sin() * t.sum(); };
  std::vector<Tensor> wanted;
  for (const Tensor& row : x.unbind(0)) {
    wanted.push_back(jacrev(f)(row));
  }
  check_close(vmap(jacrev(f))(x), at::stack(wanted));
  check_close(vmap(jacfwd(f))(x), at::stack(wanted));
  check_close(vmap(jacrev(f), 1, 2)(x.t()), at::stack(wanted).movedim(0, 2));
  // The gradient of something made of second derivatives.
  const auto trace = [](const Tensor& t) { return hessian(cube)(t).diagonal().sum(); };
  check_close(grad(trace)(x[0]), at::full({3}, 6.0, at::kDouble));
  const auto pushed = [&](const Tensor& t) { return std::get<1>(jvp(f, {t}, {at::ones_like(t)})); };
  check_close(vmap(pushed)(x), at::stack(wanted).sum(2));
}

TEST_CASE("gradients of structures") {
  using Dict = std::map<std::string, Tensor>;
  const Dict params{{"bias", randn({})}, {"weight", randn({3})}};
  const Tensor x = randn({3});
  const auto f = [](const Dict& p, const Tensor& t) { return p.at("weight").dot(t) * 2 + p.at("bias"); };
  const Dict g = grad(f)(params, x);
  check_close(g.at("weight"), 2 * x);
  check_close(g.at("bias"), at::ones({}, at::kDouble));
}

TEST_CASE("wrong use of grad gives words") {
  const auto says = [&](const auto& call, const char* words) { CHECK_THAT(error_of(call), Catch::Contains(words)); };
  says(
      [] { grad([](const Tensor& x) { return x; })(randn({3})); },
      "Expected f(*args) to return a scalar tensor, got tensor with 1 dims");
  says(
      [] { grad([](const Tensor& x) { return x.sum(); })(at::ones({3}, at::kLong)); },
      "Expected all differentiated inputs to be tensors of floating point or complex dtype");
  says([] { jvp([](const Tensor& x) { return x; }, {randn({3})}, {randn({2})}); }, "tangents number 0 has sizes [2]");
}
