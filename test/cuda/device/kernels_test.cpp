// Reductions, matrix products, kernels of networks, and picking by index, each against the CPU.
#include "test/cuda/device/support.h"

#include <vector>

using test::kGpu;
using test::near;
using test::same_on_both;

TEST_CASE("reductions of any dimensions, layouts and dtypes", "[cuda][reduce]") {
  const at::Tensor a = torch::randn({33, 5, 65});
  const std::vector<std::vector<int64_t>> dims = {{0}, {1}, {2}, {0, 1}, {1, 2}, {0, 2}, {0, 1, 2}};
  for (const at::Tensor& t : {a, a.transpose(0, 2), a.slice(0, 0, 33, 2)}) {
    for (const std::vector<int64_t>& dim : dims) {
      same_on_both(
          "sum", [&](at::Device d) { return t.to(d).sum(dim); }, 1e-4, 1e-4);
      same_on_both(
          "mean", [&](at::Device d) { return t.to(d).mean(dim, true); }, 1e-4, 1e-5);
      same_on_both("amax", [&](at::Device d) { return t.to(d).amax(dim); });
      same_on_both("amin", [&](at::Device d) { return t.to(d).amin(dim); });
      same_on_both(
          "norm", [&](at::Device d) { return at::linalg_vector_norm(t.to(d), 2, dim); }, 1e-4);
      same_on_both(
          "3-norm", [&](at::Device d) { return at::linalg_vector_norm(t.to(d), 3, dim); }, 1e-4);
      same_on_both(
          "var", [&](at::Device d) { return t.to(d).var(dim, true); }, 1e-4);
    }
    for (const int64_t dim : {0, 1, 2}) {
      same_on_both("argmax", [&](at::Device d) { return t.to(d).argmax(dim); });
      same_on_both("min", [&](at::Device d) { return std::get<1>(t.to(d).min(dim)); });
      same_on_both("any", [&](at::Device d) { return (t.to(d) > 2).any(dim); });
      same_on_both("all", [&](at::Device d) { return (t.to(d) > -2).all(dim); });
      same_on_both(
          "prod", [&](at::Device d) { return t.to(d).prod(dim); }, 1e-3);
    }
    same_on_both("argmax of all", [&](at::Device d) { return t.to(d).argmax(); });
    same_on_both("max", [&](at::Device d) { return t.to(d).max(); });
  }
  for (const at::ScalarType dtype : {at::kBool, at::kByte, at::kInt, at::kLong}) {
    const at::Tensor t = (torch::arange(1000) % 7).to(dtype);
    same_on_both("sum of integers", [&](at::Device d) { return t.to(d).sum(); });
    same_on_both("max of integers", [&](at::Device d) { return t.to(d).max(); });
  }
  for (const at::ScalarType dtype : {at::kHalf, at::kBFloat16}) {
    same_on_both(
        "sum in float", [&](at::Device d) { return torch::ones({5000}, dtype).to(d).sum(); }, 1e-2);
  }
  same_on_both("complex", [&](at::Device d) { return torch::ones({10, 3}, at::kComplexDouble).to(d).sum({0}); });
}

TEST_CASE("long reductions are shared by blocks and repeat to the bit", "[cuda][reduce]") {
  const at::Tensor a = torch::rand({1 << 22}).to(kGpu);
  const double sum = a.sum().item<double>();
  CHECK(sum == Approx(a.cpu().to(at::kDouble).sum().item<double>()).epsilon(1e-5));
  for (int i = 0; i < 5; ++i) {
    CHECK(a.sum().item<double>() == sum);
  }
  same_on_both("columns", [](at::Device d) { return torch::ones({100000, 3}).to(d).sum({0}); });
}

TEST_CASE("NaN, empty and single elements in reductions", "[cuda][reduce]") {
  at::Tensor a = torch::randn({100});
  a[41] = std::nan("");
  same_on_both("max", [&](at::Device d) { return a.to(d).max(); });
  same_on_both("argmax", [&](at::Device d) { return a.to(d).argmax(); });
  same_on_both(
      "nansum", [&](at::Device d) { return a.to(d).nansum(); }, 1e-4);
  same_on_both("sum of nothing", [](at::Device d) { return torch::empty({0, 3}).to(d).sum({0}); });
  same_on_both("mean of nothing", [](at::Device d) { return torch::empty({0, 3}).to(d).mean({0}); });
  same_on_both("all of nothing", [](at::Device d) { return torch::empty({0}).to(d).all(); });
  CHECK_THROWS(torch::empty({0}, kGpu).max());
}

TEST_CASE("matrix products in all layouts and dtypes", "[cuda][matmul]") {
  const at::Tensor a = torch::randn({17, 33}, at::kDouble), b = torch::randn({33, 9}, at::kDouble);
  for (const at::ScalarType dtype :
       {at::kHalf, at::kBFloat16, at::kFloat, at::kDouble, at::kComplexFloat, at::kComplexDouble}) {
    const double tolerance = dtype == at::kHalf ? 1e-2 : dtype == at::kBFloat16 ? 5e-2 : 1e-4;
    const auto check = [&](const char* what, auto f) {
      same_on_both(
          what, [&](at::Device d) { return f(a.to(dtype).to(d), b.to(dtype).to(d)); }, tolerance, 10 * tolerance);
    };
    check("mm", [](at::Tensor x, at::Tensor y) { return x.mm(y); });
    check("transposed", [](at::Tensor x, at::Tensor y) { return y.t().mm(x.t()); });
    check("sliced", [](at::Tensor x, at::Tensor y) { return x.slice(1, 0, 33, 3).mm(y.slice(0, 0, 33, 3)); });
    check("addmm", [](at::Tensor x, at::Tensor y) { return at::addmm(y[0], x, y, 0.5, 2); });
    check("into a transposed result", [](at::Tensor x, at::Tensor y) {
      at::Tensor out = torch::empty({9, 17}, x.options()).t();
      at::mm_out(out, x, y);
      return out;
    });
    check("mv", [](at::Tensor x, at::Tensor y) { return x.mv(y.select(1, 2)); });
    check("dot", [](at::Tensor x, at::Tensor) { return x[0].dot(x[1]); });
    check("bmm", [](at::Tensor x, at::Tensor y) { return at::bmm(x.expand({3, 17, 33}), y.expand({3, 33, 9})); });
    check("batch of transposed", [](at::Tensor x, at::Tensor y) {
      return at::matmul(y.t().unsqueeze(0).repeat({2, 1, 1}), x.t().unsqueeze(0).repeat({2, 1, 1}));
    });
    check("no inner dimension", [](at::Tensor x, at::Tensor y) { return x.slice(1, 0, 0).mm(y.slice(0, 0, 0)); });
    if (at::isComplexType(dtype)) {
      check("conjugated", [](at::Tensor x, at::Tensor y) { return y.conj().t().mm(x.conj().t()); });
      check("conjugated rows", [](at::Tensor x, at::Tensor y) { return x.conj().mm(y); });
      check("vdot", [](at::Tensor x, at::Tensor) { return x[0].vdot(x[1]); });
      check("dot with a conjugated", [](at::Tensor x, at::Tensor) { return x[0].dot(x[1].conj()); });
    }
  }
}

TEST_CASE("softmax and its gradient", "[cuda][nn]") {
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{5, 7}, {3, 1025}, {2, 5000}, {4, 6, 33}}) {
    for (const int64_t dim : {0, -1}) {
      const at::Tensor a = torch::randn(sizes) * 3;
      same_on_both("softmax", [&](at::Device d) { return at::softmax(a.to(d), dim); });
      same_on_both(
          "log_softmax", [&](at::Device d) { return at::log_softmax(a.to(d), dim); }, 1e-4, 1e-5);
      same_on_both("gradient", [&](at::Device d) {
        at::Tensor x = a.detach().to(d).requires_grad_();
        at::softmax(x, dim).pow(2).sum().backward();
        return x.grad();
      });
      same_on_both(
          "gradient of the logarithm",
          [&](at::Device d) {
            at::Tensor x = a.detach().to(d).requires_grad_();
            at::log_softmax(x, dim).pow(2).sum().backward();
            return x.grad();
          },
          1e-4, 1e-3);
    }
  }
  at::Tensor masked = torch::zeros({2, 4});
  masked[0].fill_(-INFINITY);
  masked[1][0] = -INFINITY;
  same_on_both("masked", [&](at::Device d) { return at::softmax(masked.to(d), -1); });
}

TEST_CASE("layer norm and its gradients", "[cuda][nn]") {
  for (const int64_t size : {1, 31, 128, 3000}) {
    const at::Tensor a = torch::randn({37, size}) + 3, w = torch::randn({size}), b = torch::randn({size});
    const auto run = [&](at::Device d, int which) {
      std::vector<at::Tensor> leaves = {
          a.detach().to(d).requires_grad_(), w.detach().to(d).requires_grad_(), b.detach().to(d).requires_grad_()};
      const at::Tensor y = at::layer_norm(leaves[0], {size}, leaves[1], leaves[2]);
      y.sin().sum().backward();
      return which < 3 ? leaves[which].grad() : y.detach();
    };
    for (int which = 0; which < 4; ++which) {
      same_on_both(
          "layer_norm", [&](at::Device d) { return run(d, which); }, 1e-3, 1e-3);
    }
  }
}

TEST_CASE("embedding and cross entropy with gradients", "[cuda][nn]") {
  const at::Tensor table = torch::randn({11, 6}), tokens = torch::randint(11, {5, 7}, at::kLong);
  same_on_both("embedding", [&](at::Device d) { return at::embedding(table.to(d), tokens.to(d)); });
  same_on_both(
      "embedding's gradient",
      [&](at::Device d) {
        at::Tensor t = table.detach().to(d).requires_grad_();
        at::embedding(t, tokens.to(d), /*padding_idx=*/3, /*scale_grad_by_freq=*/true).pow(2).sum().backward();
        return t.grad();
      },
      1e-4, 1e-5);
  const at::Tensor scores = torch::randn({35, 11}), weight = torch::rand({11});
  for (const int64_t reduction : {0, 1, 2}) {
    const auto loss = [&](at::Device d, at::Tensor& x) {
      x = scores.detach().to(d).requires_grad_();
      return at::cross_entropy_loss(x, tokens.flatten().to(d), weight.to(d), reduction, /*ignore_index=*/2);
    };
    same_on_both("cross entropy", [&](at::Device d) {
      at::Tensor x;
      return loss(d, x).detach();
    });
    same_on_both("its gradient", [&](at::Device d) {
      at::Tensor x;
      loss(d, x).sum().backward();
      return x.grad();
    });
  }
}

TEST_CASE("gather, scatter and kin", "[cuda][index]") {
  const at::Tensor a = torch::randn({6, 7, 8}), index = torch::randint(6, {4, 7, 8}, at::kLong);
  const at::Tensor places = torch::randint(7, {9}, at::kLong), source = torch::randn({6, 9, 8});
  const auto both = [&](const char* what, auto f) {
    same_on_both(
        what, [&](at::Device d) { return f(a.to(d), index.to(d), places.to(d), source.to(d)); }, 1e-4, 1e-5);
  };
  using T = at::Tensor;
  both("gather", [](T x, T i, T, T) { return x.gather(0, i); });
  both("gather transposed", [](T x, T i, T, T) { return x.transpose(1, 2).gather(0, i.transpose(1, 2)); });
  both("index_select", [](T x, T, T p, T) { return x.index_select(1, p); });
  both("index_add", [](T x, T, T p, T s) { return x.index_add(1, p, s, 0.5); });
  both("scatter_add", [](T x, T i, T, T) { return x.scatter_add(0, i, x.slice(0, 0, 4) * 2); });
  both("scatter a number", [](T x, T i, T, T) { return x.scatter(0, i, 3.5); });
  both("index_fill", [](T x, T, T p, T) { return x.index_fill(1, p, -1); });
  both("greatest", [](T x, T i, T, T) { return x.scatter_reduce(0, i, x.slice(0, 0, 4), "amax"); });
  both("mean", [](T x, T i, T, T) { return x.scatter_reduce(0, i, x.slice(0, 0, 4), "mean", false); });
  both("product of halves", [](T x, T i, T, T) {
    return torch::ones_like(x, at::kHalf).scatter_reduce(0, i, torch::full_like(i, 2, at::kHalf), "prod");
  });
  both("take", [](T x, T i, T, T) { return x.take(i - 3); });
}

TEST_CASE("indexing by tensors and masks", "[cuda][index]") {
  const at::Tensor a = torch::randn({4, 5, 6});
  const at::Tensor i = torch::tensor({0, -1, 2}, at::kLong), j = torch::tensor({{1}, {3}}, at::kLong);
  const auto both = [&](const char* what, auto f) {
    same_on_both(
        what, [&](at::Device d) { return f(a.to(d), i.to(d), j.to(d)); }, 1e-5, 1e-5);
  };
  using T = at::Tensor;
  using at::indexing::Slice;
  both("one", [](T x, T p, T) { return x.index({p}); });
  both("in the middle", [](T x, T p, T) { return x.index({Slice(), p}); });
  both("side by side, broadcast", [](T x, T p, T q) { return x.index({Slice(), p, q}); });
  both("apart", [](T x, T p, T q) { return x.transpose(0, 2).index({p, Slice(), q}); });
  both("mask", [](T x, T, T) { return x.index({x > 0.3}); });
  both("masked_select", [](T x, T, T) { return x.masked_select(x.select(2, 0).unsqueeze(2) > 0); });
  both("put", [](T x, T p, T) { return x.index_put({p}, torch::ones({1}, x.options())); });
  both("put and add", [](T x, T p, T) { return x.index_put({p.clamp(0, 1)}, x.slice(0, 0, 3), true); });
  both("masked_scatter", [](T x, T, T) { return x.masked_scatter(x > 0, torch::arange(120, x.options())); });
  both("nonzero", [](T x, T, T) { return (x > 0.5).nonzero(); });
  both("put_ of a transposed", [](T x, T p, T) { return x.transpose(0, 1).put(p, torch::ones({3}, x.options())); });
  CHECK_THROWS_WITH(
      a.to(kGpu).index({torch::tensor({4}, at::kLong).to(kGpu)}).cpu(), Catch::Contains("index 4 is out of bounds"));
}

TEST_CASE("sorting, scans and samples", "[cuda][sort]") {
  for (const at::ScalarType dtype :
       {at::kByte, at::kInt, at::kLong, at::kHalf, at::kBFloat16, at::kFloat, at::kDouble}) {
    const at::Tensor a = (torch::randn({9, 70, 3}) * 20).to(dtype == at::kByte ? at::kInt : dtype).abs().to(dtype);
    for (const int64_t dim : {0, 1, 2}) {
      for (const bool descending : {false, true}) {
        same_on_both("sort", [&](at::Device d) { return std::get<0>(a.to(d).sort(true, dim, descending)); });
        same_on_both("places", [&](at::Device d) { return std::get<1>(a.to(d).sort(true, dim, descending)); });
      }
      same_on_both("topk", [&](at::Device d) { return std::get<0>(a.to(d).topk(2, dim)); });
      same_on_both("cumsum", [&](at::Device d) { return a.to(d).to(at::kDouble).cumsum(dim); });
    }
  }
  at::Tensor b = torch::tensor({1.0f, -0.0f, 0.0f, std::nanf(""), -INFINITY, INFINITY, -2.0f});
  same_on_both("special values", [&](at::Device d) { return std::get<1>(b.to(d).sort(true, 0, false)); });
  same_on_both("long cumsum", [](at::Device d) { return torch::ones({100003}).to(d).cumsum(0); });
  const at::Tensor order = torch::randperm(1000, at::TensorOptions(kGpu).dtype(at::kLong));
  CHECK(near(std::get<0>(order.sort()).cpu(), torch::arange(1000)));
  const at::Tensor chances = torch::tensor({0.0f, 1.0f, 3.0f}).to(kGpu);
  const at::Tensor samples = chances.multinomial(4000, true);
  CHECK(samples.min().item<int64_t>() == 1);
  CHECK(samples.to(at::kDouble).mean().item<double>() == Approx(1.75).epsilon(0.05));
  CHECK(near(std::get<0>(chances.slice(0, 1).multinomial(2).sort()).cpu(), torch::tensor({0, 1}, at::kLong)));
}

TEST_CASE("an index out of range is reported, and the device goes on", "[cuda][index]") {
  const at::Tensor a = torch::arange(6, kGpu);
  const at::Tensor bad = torch::tensor({1, 6, 2}, at::kLong).to(kGpu);
  CHECK_THROWS_WITH(a.index_select(0, bad).cpu(), Catch::Contains("index 6 is out of bounds"));
  // Wherever the host waits.
  (void)a.index_select(0, bad);
  CHECK_THROWS_WITH(
      torch::cuda::synchronize(), Catch::Contains("'index' of index_select on a CUDA device has it at position"));
  torch::cuda::synchronize();
  CHECK(a.index_select(0, bad.clamp(0, 5))[1].item<int64_t>() == 5);
  CHECK_THROWS_AS(at::embedding(torch::ones({3, 2}, kGpu), bad).sum().item(), c10::IndexError);
  CHECK(a.sum().item<int64_t>() == 15);
}

TEST_CASE("random numbers", "[cuda][random]") {
  torch::manual_seed(3);
  const at::Tensor a = torch::rand({1 << 18}, kGpu), b = torch::rand({1 << 18}, kGpu);
  CHECK(a.min().item<double>() >= 0);
  CHECK(a.max().item<double>() < 1);
  CHECK(a.mean().item<double>() == Approx(0.5).epsilon(0.01));
  CHECK_FALSE(near(a, b));
  torch::manual_seed(3);
  CHECK(near(torch::rand({1 << 18}, kGpu), a, 0, 0));
  const at::Tensor n = torch::randn({1 << 18}, kGpu);
  CHECK(n.mean().item<double>() == Approx(0).margin(0.01));
  CHECK(n.std().item<double>() == Approx(1).epsilon(0.01));
  const at::Tensor i = torch::randint(3, 9, {1 << 16}, at::TensorOptions(kGpu).dtype(at::kLong));
  CHECK(i.min().item<int64_t>() == 3);
  CHECK(i.max().item<int64_t>() == 8);
  CHECK(torch::empty({1 << 16}, kGpu).bernoulli_(0.25).mean().item<double>() == Approx(0.25).epsilon(0.05));
  CHECK(torch::empty({1 << 16}, kGpu).exponential_(2).mean().item<double>() == Approx(0.5).epsilon(0.05));
}

TEST_CASE("optimizers read steps and learning rates where they are", "[cuda][optim]") {
  const at::Tensor p = torch::randn({70000}), g = torch::randn({70000}), zeros = torch::zeros({70000});
  same_on_both("adamw", [&](at::Device d) {
    const at::Tensor x = p.clone().to(d), a = zeros.clone().to(d), b = zeros.clone().to(d);
    const at::Tensor step = torch::full({}, 3.0, d), lr = torch::full({}, 0.05, d);
    at::_fused_adamw_({x}, {g.to(d)}, {a}, {b}, {}, {step}, lr, 0.9, 0.99, 0.01, 1e-8, false, false);
    return x;
  });
  same_on_both("adagrad", [&](at::Device d) {
    const at::Tensor x = p.clone().to(d), sum = zeros.clone().to(d), step = torch::full({}, 3.0, d);
    at::_fused_adagrad_({x}, {g.to(d)}, {sum}, {step}, 0.05, 0.1, 0.01, 1e-8, false);
    return x;
  });
}
