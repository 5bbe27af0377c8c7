// make_graphed, with work that is called again instead of graphs that are replayed.
#include <csrc/cuda/graphed.h>

#include <aten/Functions.h>
#include <autograd/autograd.h>
#include <autograd/grad_mode.h>

#include <catch2/catch.hpp>

using namespace torch::cuda::detail;
using at::Tensor;
using Catch::Matchers::Contains;

namespace {

/// A replay writes the same results, as a graph does (but not, as that would, what the function keeps in between:
/// functions here save inputs alone for their backward).
class CallingRecorder final : public WorkRecorder {
 public:
  void warm_up(const Work& work) override {
    ++warm_ups;
    work();
  }
  Recording record(const Work& work) override {
    Recording recording;
    recording.results = work();
    recording.replay = [work, results = recording.results] {
      const at::AutoGradMode with_gradients(true);
      const std::vector<Tensor> again = work();
      for (size_t i = 0; i < results.size(); ++i) {
        if (results[i].defined()) {
          results[i].data().copy_(again[i].data());
        }
      }
    };
    return recording;
  }
  bool runs_again() const override {
    return true;
  }

  int warm_ups = 0;
};

Tensor numbers(std::initializer_list<int64_t> sizes, double start) {
  int64_t n = 1;
  for (const int64_t size : sizes) {
    n *= size;
  }
  return (at::arange(n, at::kDouble) * 0.37 + start).sin().reshape(std::vector<int64_t>(sizes));
}

} // namespace

TEST_CASE("a graphed function gives the function's results and gradients", "[cuda][graph][graphed]") {
  Tensor w = numbers({3, 2}, 0.1).set_requires_grad(true);
  Tensor unused = numbers({2}, 0.4).set_requires_grad(true);
  const auto f = [&](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    const Tensor y = in[0].matmul(w);
    return {y * in[1], y.detach() > 0};
  };
  CallingRecorder recorder;
  const Tensor sample = numbers({4, 3}, 5).set_requires_grad(true);
  const auto graphed =
      make_graphed_by(recorder, f, {sample, numbers({4, 2}, 6)}, {w, unused}, {2, /*allow_unused_input=*/true});
  CHECK(recorder.warm_ups == 2);

  for (int step = 0; step < 3; ++step) {
    Tensor x = numbers({4, 3}, step).set_requires_grad(true);
    const Tensor scale = numbers({4, 2}, step + 0.5);
    const auto expected = f({x, scale});
    const auto wanted = torch::autograd::grad({expected[0].pow(2).sum()}, {x, w});

    const auto got = graphed({x, scale});
    REQUIRE(got.size() == 2);
    CHECK(at::equal(got[0], expected[0]));
    CHECK(at::equal(got[1], expected[1]));
    CHECK(got[0].requires_grad());
    CHECK_FALSE(got[1].requires_grad());
    const auto grads = torch::autograd::grad({got[0].pow(2).sum()}, {x, w}, {}, true);
    CHECK(at::allclose(grads[0], wanted[0]));
    CHECK(at::allclose(grads[1], wanted[1]));
    // A step of an optimizer changes the parameter where the graph reads it.
    w.data().sub_(wanted[1] * 0.1);
  }
}

TEST_CASE("gradients accumulate over calls of a graphed function", "[cuda][graph][graphed]") {
  Tensor w = numbers({3}, 1).set_requires_grad(true);
  const auto f = [&](const std::vector<Tensor>& in) -> std::vector<Tensor> { return {(in[0] * w).sum()}; };
  CallingRecorder recorder;
  const auto graphed = make_graphed_by(recorder, f, {numbers({3}, 2)}, {w}, {});
  const Tensor a = numbers({3}, 3);
  const Tensor b = numbers({3}, 4);
  CHECK_FALSE(w.grad().defined());
  graphed({a})[0].backward();
  graphed({b})[0].backward();
  CHECK(at::allclose(w.grad(), a + b));
}

TEST_CASE("a graphed function refuses what it was not recorded for", "[cuda][graph][graphed]") {
  const auto f = [](const std::vector<Tensor>& in) -> std::vector<Tensor> { return {in[0] * 2}; };
  CallingRecorder recorder;
  const auto graphed = make_graphed_by(recorder, f, {numbers({3}, 0)}, {}, {});
  CHECK(at::equal(graphed({at::ones({3}, at::kDouble)})[0], at::full({3}, 2, at::kDouble)));
  CHECK_THROWS_WITH(graphed({}), Contains("expected 1 inputs"));
  CHECK_THROWS_WITH(graphed({numbers({4}, 0)}), Contains("input 0 must be as at the recording: [3]"));
  CHECK_THROWS_WITH(graphed({at::ones({3}, at::kFloat)}), Contains("Double"));
  CHECK_THROWS_WITH(graphed({numbers({3}, 0).set_requires_grad(true)}), Contains("its sample did not"));
  Tensor with_history = numbers({3}, 0).set_requires_grad(true) * 2;
  CHECK_THROWS_WITH(make_graphed_by(recorder, f, {with_history}, {}, {}), Contains("without history"));
}
