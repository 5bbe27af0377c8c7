// torch::compile in mode lazy: the function runs in each call, its operators when their values are asked for.
#include <catch2/catch.hpp>

#include <torch/compile.h>
#include <torch/torch.h>

#include <functional>
#include <sstream>
#include <string>
#include <vector>

using torch::CompileMode;
using torch::CompileOptions;
using torch::Tensor;
using Catch::Matchers::Contains;

namespace {

CompileOptions lazy(const char* backend = "fused") {
  CompileOptions options;
  options.mode = CompileMode::lazy;
  options.backend = backend;
  return options;
}

/// Calls a function as it is and in mode lazy, several times, on the same arguments.
template <class F>
void agree(const F& function, const std::function<std::vector<Tensor>()>& inputs, const char* backend) {
  const auto compiled = torch::compile(function, lazy(backend));
  for (int i = 0; i < 5; ++i) {
    torch::manual_seed(i);
    const auto a = inputs(), wanted = function(a);
    torch::manual_seed(i);
    const auto b = inputs(), got = compiled(b);
    REQUIRE(got.size() == wanted.size());
    for (size_t k = 0; k < got.size(); ++k) {
      INFO("call " << i << ", result " << k);
      CHECK(got[k].sizes() == wanted[k].sizes());
      CHECK(got[k].strides() == wanted[k].strides());
      CHECK(torch::allclose(got[k], wanted[k], 1e-6, 1e-7, /*equal_nan=*/true));
    }
    for (size_t k = 0; k < a.size(); ++k) {
      INFO("call " << i << ", argument " << k);
      CHECK(torch::allclose(b[k], a[k], 1e-6, 1e-7));
    }
  }
}

} // namespace

TEST_CASE("Mode lazy runs the function each time and its operators as graphs", "[capture][lazy]") {
  int runs = 0;
  const auto f = torch::compile(
      [&](const Tensor& x, const Tensor& y) {
        ++runs;
        return (x * y + 0.5).relu() * x;
      },
      lazy());
  for (int i = 1; i <= 5; ++i) {
    const auto x = torch::randn({3, 4}), y = torch::randn({3, 4});
    CHECK(f(x, y).equal((x * y + 0.5).relu() * x));
    CHECK(runs == i);
  }
  CHECK(f.core().num_entries() == 1);
  CHECK(f.core().num_replays() == 4);
  CHECK_THAT(f.explain(), Contains("mode lazy: 1 graphs kept, 5 runs, 4 of them compiled") && Contains("aten::relu"));
  f.reset();
  CHECK(f.core().num_entries() == 0);
}

TEST_CASE("Mode lazy is right for functions that do something else each time", "[capture][lazy]") {
  int calls = 0;
  const auto counting = torch::compile([&](const Tensor& x) { return (x * ++calls).exp(); }, lazy());
  const auto literal = torch::compile([&](const Tensor& x) { return x + torch::tensor({float(calls), 1.0f}); }, lazy());
  const auto growing = torch::compile(
      [&](const Tensor& x) {
        Tensor y = x;
        for (int i = 0; i < calls % 3; ++i) {
          y = y.sin() + i;
        }
        return y.neg();
      },
      lazy());
  std::vector<Tensor> kept;
  const auto keeping = torch::compile(
      [&](const Tensor& x) {
        kept.push_back(x * 2);
        return kept.front() + kept.back();
      },
      lazy());
  const auto x = torch::randn({2});
  for (int i = 1; i <= 9; ++i) {
    CHECK(counting(x).equal((x * i).exp()));
    CHECK(literal(x).equal(x + torch::tensor({float(i), 1.0f})));
    Tensor y = x;
    for (int k = 0; k < i % 3; ++k) {
      y = y.sin() + k;
    }
    CHECK(torch::allclose(growing(x), y.neg()));
    const Tensor z = x + i;
    CHECK(keeping(z).equal(kept.front() + z * 2));
    CHECK(kept.back().equal(z * 2));
  }
}

TEST_CASE("Mode lazy goes on behind values that are read", "[capture][lazy]") {
  const auto f = [](const std::vector<Tensor>& in) {
    const Tensor y = in[0] * 2 + 1;
    const double sum = y.sum().item<double>();
    const Tensor z = sum > 0 ? y.exp() : -y;
    std::vector<Tensor> all{z * sum, y.index({y > 0}), y.nonzero()};
    if (z.equal(y)) {
      all.push_back(z);
    }
    return all;
  };
  for (const char* backend : {"fused", "eager", "aot_eager"}) {
    agree(
        f,
        [] {
          return std::vector<Tensor>{torch::randn({4, 3})};
        },
        backend);
  }
  const auto compiled = torch::compile(f, lazy());
  compiled(std::vector<Tensor>{torch::ones({4, 3})});
  CHECK_THAT(compiled.explain(), Contains("graph break, 1 times: aten::_local_scalar_dense reads values"));
  CompileOptions whole = lazy();
  whole.fullgraph = true;
  CHECK_THROWS_WITH(
      torch::compile(f, whole)(std::vector<Tensor>{torch::ones({4, 3})}),
      Contains("cannot be captured") && Contains("aten::_local_scalar_dense reads values"));
}

TEST_CASE("Mode lazy prints what eager code prints", "[capture][lazy]") {
  std::ostringstream got, wanted;
  std::ostringstream* out = &got;
  const auto function = [&](const Tensor& x) {
    const Tensor y = x * 3;
    *out << y << y.to(torch::kInt) << y[0] << x.to(torch::kDouble);
    return y + 1;
  };
  const auto f = torch::compile(function, lazy());
  for (int i = 0; i < 3; ++i) {
    const auto x = torch::randn({3, 20});
    out = &got;
    f(x);
    out = &wanted;
    function(x);
    CHECK(got.str() == wanted.str());
  }
}

TEST_CASE("Mode lazy computes what is accessed by a pointer", "[capture][lazy]") {
  const auto f = torch::compile(
      [](const Tensor& x) {
        Tensor y = x + 1;
        y.data_ptr<float>()[0] = 7;
        y.mul_(2);
        x.add_(1);
        const float first = x.accessor<float, 1>()[0];
        return y * first;
      },
      lazy());
  for (int i = 0; i < 3; ++i) {
    const auto x = torch::ones({3});
    CHECK(f(x).equal(torch::tensor({28.0f, 8.0f, 8.0f})));
    CHECK(x.equal(torch::full({3}, 2.0f)));
  }
  const auto reads = torch::compile(
      [](const Tensor& x) {
        const Tensor y = x + 1;
        return y * y.const_data_ptr<float>()[0];
      },
      lazy());
  CHECK_THROWS_WITH(reads(torch::ones({3})), Contains("const_data_ptr()") && Contains("mode lazy"));
}

TEST_CASE("Writes, views and shared memory are as in the code in mode lazy", "[capture][lazy]") {
  const auto f = [](const std::vector<Tensor>& in) {
    Tensor x = in[0], y = in[1];
    x.add_(1);
    auto row = x[0];
    row.mul_(2);
    Tensor t = x.t().contiguous();
    t.select(0, 1).fill_(3);
    y.copy_(t.t());
    const auto parts = t.split(1);
    parts[0].sub_(y.sum());
    Tensor z = torch::zeros({3, 4});
    z.slice(1, 0, 2).copy_(x.slice(1, 1, 3));
    z[1].add_(row.narrow(0, 0, 4));
    return std::vector<Tensor>{x + y, t, z, row, z.t()};
  };
  for (const char* backend : {"fused", "eager", "aot_eager"}) {
    agree(
        f,
        [] {
          return std::vector<Tensor>{torch::randn({3, 4}), torch::randn({3, 4})};
        },
        backend);
    agree(
        f,
        [] {
          const auto x = torch::randn({3, 4});
          return std::vector<Tensor>{x, x};
        },
        backend);
    agree(
        f,
        [] {
          const auto x = torch::randn({6, 4});
          return std::vector<Tensor>{x.narrow(0, 0, 3), x.narrow(0, 2, 3)};
        },
        backend);
  }
}

TEST_CASE("Random numbers are drawn in their order in mode lazy", "[capture][lazy]") {
  const auto f = [](const std::vector<Tensor>& in) {
    const Tensor a = torch::rand_like(in[0]) + in[0];
    const Tensor b = torch::dropout(a, 0.5, true);
    torch::manual_seed(5);
    return std::vector<Tensor>{a, b, torch::randn({3}) * a, in[0].clone().normal_()};
  };
  agree(
      f, [] { return std::vector<Tensor>{torch::randn({3})}; }, "fused");
}

TEST_CASE("Training inside and outside of a function in mode lazy", "[capture][lazy]") {
  torch::manual_seed(1);
  auto net = torch::nn::Sequential(
      torch::nn::Conv2d(2, 4, 3), torch::nn::BatchNorm2d(4), torch::nn::ReLU(), torch::nn::Flatten(),
      torch::nn::Linear(64, 8), torch::nn::GELU(), torch::nn::Dropout(0.2),
      torch::nn::LayerNorm(torch::nn::LayerNormOptions({8})), torch::nn::Linear(8, 2));
  auto same = std::dynamic_pointer_cast<torch::nn::SequentialImpl>(net->clone());
  torch::optim::Adam adam(net->parameters()), other(same->parameters());
  const bool names_optimizer = GENERATE(false, true);
  CompileOptions options = lazy();
  if (names_optimizer) {
    options.optimizers = {&adam};
  }
  double seen = 0;
  const auto step = [&seen](torch::nn::SequentialImpl& module, torch::optim::Adam& optimizer, const Tensor& x) {
    optimizer.zero_grad();
    Tensor loss = module.forward(x).square().mean();
    loss.register_hook([&seen](const Tensor& g) { seen += g.item<double>(); });
    loss.backward();
    optimizer.step();
    return loss.detach();
  };
  const auto f = torch::compile([&](const Tensor& x) { return step(*net, adam, x); }, options);
  for (int i = 0; i < 5; ++i) {
    torch::manual_seed(i);
    const auto x = torch::randn({3, 2, 6, 6});
    const auto got = f(x);
    torch::manual_seed(i);
    const auto wanted = step(*same, other, torch::randn({3, 2, 6, 6}));
    CHECK(torch::allclose(got, wanted));
  }
  CHECK(seen == 10);
  for (size_t i = 0; i < net->parameters().size(); ++i) {
    CHECK(torch::allclose(net->parameters()[i], same->parameters()[i], 1e-4, 1e-5));
    CHECK(torch::allclose(net->parameters()[i].grad(), same->parameters()[i].grad(), 1e-4, 1e-6));
  }
  for (size_t i = 0; i < net->buffers().size(); ++i) {
    CHECK(torch::allclose(net->buffers()[i], same->buffers()[i]));
  }
}

TEST_CASE("Gradients of results of a function in mode lazy, and second ones", "[capture][lazy]") {
  const auto f = torch::compile([](const Tensor& x, const Tensor& w) { return (x * w).tanh().square().sum(); }, lazy());
  for (int i = 0; i < 3; ++i) {
    const auto x = torch::randn({4}), w = torch::randn({4}).requires_grad_();
    const auto first = torch::autograd::grad({f(x, w)}, {w}, {}, true, true)[0];
    const auto second = torch::autograd::grad({first.sum()}, {w})[0];
    const auto wanted = torch::autograd::grad({(x * w).tanh().square().sum()}, {w}, {}, true, true)[0];
    CHECK(torch::allclose(first, wanted));
    CHECK(torch::allclose(second, torch::autograd::grad({wanted.sum()}, {w})[0]));
  }
}

TEST_CASE("Exceptions in mode lazy leave what eager code leaves", "[capture][lazy]") {
  Tensor left;
  const auto f = torch::compile(
      [&](const Tensor& x) {
        x.add_(1);
        left = x * 2;
        if (x.size(0) == 3) {
          throw std::runtime_error("mine");
        }
        return x.mm(torch::ones({5, 5}));
      },
      lazy());
  for (int i = 0; i < 3; ++i) {
    const auto x = torch::ones({3, 3});
    CHECK_THROWS_WITH(f(x), "mine");
    CHECK(x.equal(torch::full({3, 3}, 2.0f)));
    CHECK(left.equal(torch::full({3, 3}, 4.0f)));
    const auto y = torch::ones({2, 3});
    CHECK_THROWS_AS(f(y), c10::Error);
    CHECK(y.equal(torch::full({2, 3}, 2.0f)));
    CHECK(left.equal(torch::full({2, 3}, 4.0f)));
  }
  // An error that depends on values comes where they are computed.
  const auto gathers =
      torch::compile([](const Tensor& x, const Tensor& at) { return x.index_select(0, at) + 1; }, lazy());
  CHECK_THROWS_AS(gathers(torch::ones({3}), torch::tensor({5})), c10::Error);
  CHECK(gathers(torch::ones({3}), torch::tensor({2})).item<float>() == 2);
}

TEST_CASE("Numbers, dtypes and defaults tell graphs apart in mode lazy", "[capture][lazy]") {
  double factor = 1;
  const auto f =
      torch::compile([&](const Tensor& x) { return (x * factor).to(torch::kFloat) + torch::zeros({2}); }, lazy());
  for (int i = 0; i < 3; ++i) {
    for (const auto dtype : {torch::kFloat, torch::kDouble, torch::kInt}) {
      const auto x = torch::arange(2, dtype);
      factor = i + 0.5;
      CHECK(f(x).equal((x * factor).to(torch::kFloat) + torch::zeros({2})));
      torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
      CHECK(f(x).scalar_type() == torch::kDouble);
      torch::set_default_dtype(caffe2::TypeMeta::Make<float>());
    }
  }
  const auto changes = torch::compile(
      [](const Tensor& x) {
        const Tensor a = torch::zeros({2}) + x;
        torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
        const Tensor b = torch::zeros({2}) + x;
        torch::set_default_dtype(caffe2::TypeMeta::Make<float>());
        return std::make_tuple(a, b);
      },
      lazy());
  for (int i = 0; i < 3; ++i) {
    const auto [a, b] = changes(torch::ones({2}));
    CHECK(a.scalar_type() == torch::kFloat);
    CHECK(b.scalar_type() == torch::kDouble);
  }
}

TEST_CASE("Mode lazy keeps a bounded number of graphs, and functions nest in it", "[capture][lazy]") {
  CompileOptions options = lazy();
  options.cache_size = 3;
  const auto inner = torch::compile([](const Tensor& x) { return x.exp(); });
  const auto f = torch::compile([&](const Tensor& x) { return inner(x) + x.size(0); }, options);
  for (int64_t n = 1; n < 10; ++n) {
    const auto x = torch::randn({n});
    for (int i = 0; i < 3; ++i) {
      CHECK(f(x).equal(x.exp() + n));
    }
  }
  CHECK(f.core().num_entries() == 3);
  CHECK(inner.core().num_entries() == 0);
}
