// CUDA graphs: what a replay computes, where its memory lies, and what a capture refuses. On a device, or an emulated
// one (tools/dev/cuda_emulated build/test_cuda_plugin "[graph]"); each case passes at once without.
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAEvent.h>
#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/csrc/cuda/graphs.h>
#include <torch/torch.h>

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

using at::Tensor;
using at::cuda::CUDAGraph;
using Catch::Matchers::Contains;
using torch::cuda::GraphCaptureScope;
namespace allocator = c10::cuda::CUDACachingAllocator;

namespace {

bool no_device() {
  return c10::cuda::device_count() == 0;
}

at::TensorOptions gpu() {
  return at::TensorOptions(at::kCUDA).dtype(at::kFloat);
}

template <class Work>
void capture(CUDAGraph& graph, Work work, at::cuda::MempoolId_t pool = {0, 0}) {
  GraphCaptureScope scope(graph, pool);
  work();
  scope.end();
}

Tensor on_host(const Tensor& t) {
  return t.detach().cpu();
}

} // namespace

TEST_CASE("graphs: a replay reads what lies in its inputs now", "[cuda][gpu][graph]") {
  if (no_device()) {
    return;
  }
  const Tensor x = torch::ones({5, 3}, gpu()), w = torch::randn({3, 4}, gpu());
  static_cast<void>(x.mm(w)); // libraries set themselves up
  CUDAGraph graph;
  Tensor y;
  capture(graph, [&] { y = torch::relu(x.mm(w) - 1).sum(0); });
  for (int i = 0; i < 4; ++i) {
    const Tensor input = torch::randn({5, 3});
    x.copy_(input);
    graph.replay();
    CHECK(at::allclose(on_host(y), torch::relu(input.mm(on_host(w)) - 1).sum(0), 1e-4, 1e-5));
  }
}

TEST_CASE("graphs: random numbers go on from replay to replay as eager ones do", "[cuda][gpu][graph]") {
  if (no_device()) {
    return;
  }
  const Tensor x = torch::ones({1000}, gpu());
  torch::manual_seed(5);
  std::vector<Tensor> want;
  for (int i = 0; i < 4; ++i) {
    const Tensor numbers = torch::rand({300}, gpu());
    want.push_back(on_host(at::cat({numbers, torch::dropout(x, 0.5, true)})));
  }
  CUDAGraph graph;
  Tensor out;
  capture(graph, [&] {
    static_cast<void>(x + 1); // a replay writes to its memory before it draws
    const Tensor numbers = torch::rand({300}, gpu());
    out = at::cat({numbers, torch::dropout(x, 0.5, true)});
  });
  torch::manual_seed(5);
  for (int i = 0; i < 3; ++i) {
    graph.replay();
    CHECK(at::equal(on_host(out), want[static_cast<size_t>(i)]));
  }
  // An eager call goes on where the last replay stopped.
  const Tensor numbers = torch::rand({300}, gpu());
  CHECK(at::equal(on_host(at::cat({numbers, torch::dropout(x, 0.5, true)})), want[3]));
}

TEST_CASE("graphs: a generator of one's own is registered, and its seed counts", "[cuda][gpu][graph]") {
  if (no_device()) {
    return;
  }
  at::Generator generator = at::cuda::detail::createCUDAGenerator(0);
  generator.set_current_seed(3);
  const Tensor a = on_host(torch::randn({100}, generator, gpu())), b = on_host(torch::randn({100}, generator, gpu()));
  CUDAGraph graph;
  graph.register_generator_state(generator);
  Tensor out;
  capture(graph, [&] { out = torch::randn({100}, generator, gpu()); });
  generator.set_current_seed(3);
  graph.replay();
  CHECK(at::equal(on_host(out), a));
  graph.replay();
  CHECK(at::equal(on_host(out), b));
}

TEST_CASE("graphs: memory of a capture is the graph's as long as it lives", "[cuda][gpu][graph]") {
  if (no_device()) {
    return;
  }
  const Tensor x = torch::full({1 << 16}, 2.0, gpu());
  CUDAGraph graph;
  std::optional<Tensor> out;
  capture(graph, [&] { out = (x + 1) * (x + 2) - x; }); // the sums and the product go back within the capture
  std::vector<Tensor> others;
  for (int i = 0; i < 8; ++i) {
    others.push_back(torch::full({1 << 16}, 100 + i, gpu()));
  }
  graph.replay();
  CHECK(on_host(*out).eq(10).all().item<bool>());
  for (int i = 0; i < 8; ++i) {
    CHECK(on_host(others[static_cast<size_t>(i)]).eq(100 + i).all().item<bool>());
  }
  // Also when its tensors are gone.
  void* const place = out->data_ptr();
  out.reset();
  others.clear();
  for (int i = 0; i < 8; ++i) {
    others.push_back(torch::full({1 << 16}, 200 + i, gpu()));
    CHECK(others.back().data_ptr() != place);
  }
  graph.replay();
  torch::cuda::synchronize();
  for (int i = 0; i < 8; ++i) {
    CHECK(on_host(others[static_cast<size_t>(i)]).eq(200 + i).all().item<bool>());
  }
  others.clear();
  graph.reset();
  capture(graph, [&] { out = x * 3; }); // it can capture again
  graph.replay();
  CHECK(on_host(*out).eq(6).all().item<bool>());
}

TEST_CASE("graphs: several share a pool and run one after the other", "[cuda][gpu][graph]") {
  if (no_device()) {
    return;
  }
  const at::cuda::MempoolId_t pool = at::cuda::graph_pool_handle();
  const Tensor x = torch::ones({70000}, gpu());
  CUDAGraph first, second, third;
  Tensor a, b, c;
  capture(
      first, [&] { a = (x + 1).mul_(2); }, pool);
  capture(
      second, [&] { b = a.mul(a) + x; }, pool);
  CHECK(second.pool() == pool);
  capture(
      third, [&] { c = (b - a).sum(); }, first.pool());
  for (int i = 1; i < 4; ++i) {
    x.fill_(i);
    first.replay();
    second.replay();
    third.replay();
    const double doubled = 2.0 * (i + 1);
    CHECK(c.item<double>() == Approx(70000 * (doubled * doubled + i - doubled)).epsilon(1e-5));
  }
  second.reset(); // the others go on
  x.fill_(0);
  first.replay();
  CHECK(on_host(a).eq(2).all().item<bool>());
}

TEST_CASE("graphs: other streams join a capture and are waited for", "[cuda][gpu][graph]") {
  if (no_device()) {
    return;
  }
  const Tensor x = torch::ones({5000}, gpu());
  const auto side = at::cuda::getStreamFromPool();
  CUDAGraph graph;
  Tensor left, right, sum;
  const auto forked = [&](bool joined) {
    at::cuda::CUDAEvent fork, join;
    fork.record(at::cuda::getCurrentCUDAStream());
    {
      const at::cuda::CUDAStreamGuard guard(side);
      fork.block(side);
      right = x * 3;
      join.record(side);
    }
    left = x + 1;
    if (joined) {
      join.block(at::cuda::getCurrentCUDAStream());
      sum = left + right;
    }
  };
  capture(graph, [&] { forked(true); });
  for (int i = 0; i < 3; ++i) {
    x.fill_(i);
    graph.replay();
    CHECK(on_host(sum).eq(4 * i + 1).all().item<bool>());
  }
  CUDAGraph torn;
  CHECK_THROWS_WITH(capture(torn, [&] { forked(false); }), Contains("unjoined"));
  CHECK(on_host(x + 1).eq(3).all().item<bool>());
}

TEST_CASE("graphs: what a capture forbids is refused, and everything stays usable", "[cuda][gpu][graph]") {
  if (no_device()) {
    return;
  }
  const Tensor x = torch::arange(6.0, gpu());
  CUDAGraph graph;
  const auto refuses = [&](const char* why, const std::function<void()>& work) {
    INFO(why);
    CHECK_THROWS_WITH(capture(graph, work), Contains("captur"));
    CHECK(x.sum().item<double>() == 15);
    CHECK(c10::cuda::captures_underway() == 0);
  };
  refuses("a value", [&] { static_cast<void>(x.sum().item<double>()); });
  refuses("a copy to the host", [&] { static_cast<void>(x.cpu()); });
  refuses("a copy from the host", [&] { x.copy_(torch::ones({6})); });
  refuses("a size that depends on values", [&] { static_cast<void>(x.nonzero()); });
  refuses("a mask", [&] { static_cast<void>(x.index({x > 2})); });
  refuses("waiting for a stream", [&] { at::cuda::getCurrentCUDAStream().synchronize(); });
  refuses("waiting for the device", [&] { torch::cuda::synchronize(); });
  refuses("asking a stream", [&] { static_cast<void>(at::cuda::getCurrentCUDAStream().query()); });
  CHECK_THROWS_WITH(graph.replay(), Contains("preceding successful capture"));
  CHECK_THROWS_WITH(graph.capture_begin(), Contains("non-default stream"));

  Tensor y;
  capture(graph, [&] { y = x * 2; });
  graph.replay();
  CHECK(y.sum().item<double>() == 30);
  CHECK_THROWS_WITH(capture(graph, [] {}), Contains("captur")); // it has one already
}

TEST_CASE("graphs: an error of a program ends its capture", "[cuda][gpu][graph]") {
  if (no_device()) {
    return;
  }
  const Tensor x = torch::ones({4}, gpu());
  CUDAGraph graph;
  CHECK_THROWS_WITH(
      capture(
          graph,
          [&] {
            static_cast<void>(x + 1);
            TORCH_CHECK(false, "something of the program");
          }),
      Contains("something of the program"));
  CHECK(at::cuda::getCurrentCUDAStream() == at::cuda::getDefaultCUDAStream());
  Tensor y;
  capture(graph, [&] { y = x + 1; });
  graph.replay();
  CHECK(y.sum().item<double>() == 8);
}

TEST_CASE("graphs: an index out of range in a replay is an error, and the graph goes on", "[cuda][gpu][graph]") {
  if (no_device()) {
    return;
  }
  const Tensor table = torch::arange(6.0, gpu()).view({3, 2}), places = torch::tensor({2, 0}, at::kLong).to(at::kCUDA);
  CUDAGraph graph;
  Tensor rows;
  capture(graph, [&] { rows = at::embedding(table, places); });
  places.fill_(7);
  graph.replay();
  CHECK_THROWS_WITH(torch::cuda::synchronize(), Contains("index 7 is out of bounds"));
  places.fill_(1);
  graph.replay();
  CHECK(rows.sum().item<double>() == 10);
}

TEST_CASE("graphs: kept, written to a file, instantiated by hand", "[cuda][gpu][graph]") {
  if (no_device()) {
    return;
  }
  const Tensor x = torch::ones({4}, gpu());
  CUDAGraph graph(/*keep_graph=*/true);
  Tensor y;
  capture(graph, [&] { y = (x + 1) * 2; });
  size_t nodes = 0;
  C10_CUDA_CHECK(cudaGraphGetNodes(graph.raw_cuda_graph(), nullptr, &nodes));
  CHECK(nodes == 2);
  const std::string path = "graph_of_test.dot";
  graph.debug_dump(path);
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  CHECK_THAT(text.str(), Contains("digraph"));
  std::remove(path.c_str());
  graph.instantiate();
  CHECK(graph.raw_cuda_graph_exec() != nullptr);
  graph.replay();
  CHECK(y.sum().item<double>() == 16);
}

TEST_CASE("graphs: a whole training step with scaled losses is the eager one", "[cuda][gpu][graph]") {
  if (no_device()) {
    return;
  }
  // An MLP, its loss scaled, gradients checked and unscaled, a fused step of Adam, and the next scale, without the
  // host.
  struct Trainer {
    Tensor x, target, w1, b1, w2, scale, growth, step, found_inf, loss;
    std::vector<Tensor> params, grads, averages, squares;

    Trainer() {
      torch::manual_seed(1);
      x = torch::zeros({16, 8}, gpu());
      target = torch::zeros({16, 4}, gpu());
      w1 = torch::randn({8, 32}).to(at::kCUDA).requires_grad_();
      b1 = torch::zeros({32}, gpu().requires_grad(true));
      w2 = torch::randn({32, 4}).to(at::kCUDA).requires_grad_();
      scale = torch::full({}, 4.0, gpu());
      growth = torch::zeros({}, gpu().dtype(at::kInt));
      step = torch::zeros({}, gpu());
      found_inf = torch::zeros({}, gpu());
      params = {w1, b1, w2};
      for (const Tensor& p : params) {
        grads.push_back(torch::zeros_like(p));
        averages.push_back(torch::zeros_like(p));
        squares.push_back(torch::zeros_like(p));
      }
    }
    void train() {
      loss = torch::mse_loss(torch::relu(torch::addmm(b1, x, w1)).mm(w2), target);
      const auto fresh = torch::autograd::grad({loss * scale}, params);
      const at::NoGradGuard no_grad;
      found_inf.zero_();
      at::_foreach_copy_(grads, fresh);
      at::_amp_foreach_non_finite_check_and_unscale_(grads, found_inf, scale.reciprocal());
      step.add_(1 - found_inf);
      at::_fused_adam_(
          params, grads, averages, squares, {}, {step, step, step}, 0.01, 0.9, 0.99, 0, 1e-8, false, false, {},
          found_inf);
      at::_amp_update_scale_(scale, growth, found_inf, 2.0, 0.5, 3);
    }
    void feed(int i) {
      torch::manual_seed(100 + i);
      x.copy_(torch::randn({16, 8}));
      target.copy_(torch::randn({16, 4}));
      if (i == 2) {
        x.select(0, 3).fill_(std::numeric_limits<float>::infinity()); // that step is skipped
      }
    }
  };
  Trainer eager, captured;
  {
    // Libraries set themselves up; the state is put back.
    Trainer other;
    other.train();
  }
  CUDAGraph graph;
  capture(graph, [&] { captured.train(); });
  for (int i = 0; i < 6; ++i) {
    eager.feed(i);
    eager.train();
    captured.feed(i);
    graph.replay();
    INFO("step " << i);
    CHECK(on_host(captured.scale).item<double>() == on_host(eager.scale).item<double>());
    CHECK(on_host(captured.step).item<double>() == (i < 2 ? i + 1 : i));
    for (size_t p = 0; p < eager.params.size(); ++p) {
      CHECK(at::allclose(on_host(captured.params[p]), on_host(eager.params[p]), 1e-5, 1e-6));
    }
    if (i != 2) {
      CHECK(captured.loss.item<double>() == Approx(eager.loss.item<double>()).epsilon(1e-5));
    }
  }
}

TEST_CASE("graphs: make_graphed trains as the function does", "[cuda][gpu][graph]") {
  if (no_device()) {
    return;
  }
  torch::manual_seed(2);
  const Tensor w = torch::randn({8, 8}).to(at::kCUDA).requires_grad_(), plain = w.detach().clone().requires_grad_();
  const auto function_of = [](const Tensor& weight) {
    return [weight](const std::vector<Tensor>& in) -> std::vector<Tensor> {
      return {torch::tanh(in[0].mm(weight)) + in[0]};
    };
  };
  const auto graphed =
      torch::cuda::make_graphed(function_of(w), {torch::randn({4, 8}).to(at::kCUDA).requires_grad_()}, {w});
  for (int i = 0; i < 4; ++i) {
    const Tensor input = torch::randn({4, 8});
    const Tensor a = input.to(at::kCUDA).requires_grad_(), b = input.to(at::kCUDA).requires_grad_();
    const Tensor left = graphed({a})[0].square().sum(), right = function_of(plain)({b})[0].square().sum();
    CHECK(left.item<double>() == Approx(right.item<double>()).epsilon(1e-4));
    left.backward();
    right.backward();
    CHECK(at::allclose(on_host(a.grad()), on_host(b.grad()), 1e-4, 1e-5));
    const at::NoGradGuard no_grad;
    for (Tensor parameter : {w, plain}) {
      parameter.sub_(parameter.grad(), 0.05);
      parameter.mutable_grad().zero_();
    }
    CHECK(at::allclose(on_host(w), on_host(plain), 1e-4, 1e-5));
  }
}

TEST_CASE("graphs: memory that a program has pinned itself is copied in a capture", "[cuda][gpu][graph]") {
  if (no_device()) {
    return;
  }
  void* memory = nullptr;
  REQUIRE(cudaHostAlloc(&memory, 1000 * sizeof(float), cudaHostAllocDefault) == cudaSuccess);
  {
    const Tensor host = torch::from_blob(memory, {1000}, at::TensorOptions().dtype(at::kFloat));
    CHECK(host.is_pinned());
    host.fill_(1);
    const Tensor x = torch::zeros({1000}, gpu());
    CUDAGraph graph;
    capture(graph, [&] { x.copy_(host, /*non_blocking=*/true); });
    for (int i = 0; i < 3; ++i) {
      host.fill_(i);
      graph.replay();
      CHECK(x.sum().item<double>() == 1000.0 * i);
    }
  }
  cudaFreeHost(memory);
}

TEST_CASE("graphs: pinned memory that a capture copies from", "[cuda][gpu][graph]") {
  if (no_device()) {
    return;
  }
  const Tensor host = torch::arange(1000.0).pin_memory();
  const Tensor x = torch::zeros({1000}, gpu());
  CUDAGraph graph;
  capture(graph, [&] {
    x.copy_(host, /*non_blocking=*/true);
    // Of two pinned tensors one goes and another comes while the capture is underway.
    const auto pinned = at::TensorOptions().pinned_memory(true);
    for (int i = 0; i < 2; ++i) {
      torch::zeros({300}, gpu()).copy_(torch::empty({300}, pinned), true);
    }
  });
  for (int i = 0; i < 3; ++i) {
    host.fill_(i);
    graph.replay();
    CHECK(x.sum().item<double>() == 1000.0 * i);
  }
}

TEST_CASE("graphs: an iteration with a loss scaler is captured whole", "[cuda][gpu][graph]") {
  if (no_device()) {
    return;
  }
  using Optimizers = std::vector<std::unique_ptr<torch::optim::Optimizer>>;
  const auto optimizers = [](const std::vector<Tensor>& leaves) {
    Optimizers all;
    all.push_back(std::make_unique<torch::optim::AdamW>(leaves, 0.05));
    all.push_back(std::make_unique<torch::optim::Adam>(leaves, torch::optim::AdamOptions(0.05).amsgrad(true)));
    all.push_back(std::make_unique<torch::optim::SGD>(leaves, torch::optim::SGDOptions(0.05).momentum(0.9)));
    all.push_back(std::make_unique<torch::optim::Adagrad>(leaves, 0.05));
    return all;
  };
  const Tensor start = torch::randn({70}), more = torch::randn({3, 2}), input = torch::rand({70}) + 0.5;
  for (size_t kind = 0; kind < 4; ++kind) {
    struct Training {
      Tensor a, b, x;
      std::unique_ptr<torch::optim::Optimizer> optimizer;
      torch::amp::GradScaler scaler{torch::amp::GradScalerOptions().init_scale(1024).growth_interval(2)};

      void iterate() {
        optimizer->zero_grad();
        scaler.scale((a * x).sum() + (b * b).sum()).backward();
        scaler.step(*optimizer);
        scaler.update();
      }
    };
    const auto begin = [&](at::Device device) {
      Training t;
      t.a = start.to(device, at::kFloat, false, true).requires_grad_();
      t.b = more.to(device, at::kFloat, false, true).requires_grad_();
      t.x = input.to(device, at::kFloat, false, true);
      t.optimizer = std::move(optimizers({t.a, t.b})[kind]);
      return t;
    };
    Training on_gpu = begin(at::kCUDA), want = begin(at::kCPU);
    on_gpu.iterate(); // makes the states
    want.iterate();
    CUDAGraph graph;
    capture(graph, [&] { on_gpu.iterate(); });
    for (const double factor : {1.0, 2.0, double(INFINITY), 0.5, double(NAN), 1.0, 3.0}) {
      on_gpu.x.copy_(input * factor);
      want.x.copy_(input * factor);
      graph.replay();
      want.iterate();
      CHECK(at::allclose(on_host(on_gpu.a), want.a.detach(), 1e-4, 1e-5));
      CHECK(at::allclose(on_host(on_gpu.b), want.b.detach(), 1e-4, 1e-5));
      CHECK(on_gpu.scaler.get_scale() == want.scaler.get_scale());
    }
    if (kind == 0) {
      const auto steps = [](const Training& t) {
        return static_cast<const torch::optim::AdamWParamState&>(*t.optimizer->state().at(t.a.unsafeGetTensorImpl()))
            .step();
      };
      CHECK(steps(want) == 6);
      CHECK(steps(on_gpu) == 6);
    }
    // Without the scaler the host counts on.
    on_gpu.x.copy_(input);
    want.x.copy_(input);
    for (Training* t : {&on_gpu, &want}) {
      t->optimizer->zero_grad();
      (t->a * t->x).sum().backward();
      t->optimizer->step();
    }
    CHECK(at::allclose(on_host(on_gpu.a), want.a.detach(), 1e-4, 1e-5));
  }
}
