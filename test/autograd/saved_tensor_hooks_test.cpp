// Hooks around the tensors that nodes keep. libtorch has them in Python only, so these tests are for this library
// alone.
#include "support.h"

#include <torch/csrc/autograd/saved_variable_hooks.h>

using namespace autograd_test;
using torch::autograd::SavedTensorHooksGuard;

TEST_CASE("saved tensors pass through the hooks", "[autograd][saved][hooks]") {
  int packed = 0;
  int unpacked = 0;
  const Tensor x = leaf({2, 3});
  Tensor y;
  {
    SavedTensorHooksGuard guard(
        [&](const Tensor& t) {
          ++packed;
          CHECK_FALSE(torch::GradMode::is_enabled());
          CHECK_FALSE(t.requires_grad());
          return t * 10;
        },
        [&](const Tensor& t) {
          ++unpacked;
          return t / 10;
        });
    y = x * x;
  }
  CHECK(packed == 2);
  CHECK(unpacked == 0);
  const Tensor g = torch::autograd::grad({y.sum()}, {x}, {}, std::nullopt, /*create_graph=*/true)[0];
  CHECK(unpacked == 2);
  CHECK(same(g.detach(), {4, 6}));
  CHECK(same(torch::autograd::grad({g.sum()}, {x})[0], {2, 2}));
}

TEST_CASE("a kept output passes through the hooks", "[autograd][saved][hooks]") {
  const Tensor x = leaf({0.5});
  Tensor y;
  c10::weak_intrusive_ptr<c10::TensorImpl> watch(x.getIntrusivePtr());
  {
    SavedTensorHooksGuard guard([](const Tensor& t) { return t.clone(); }, [](const Tensor& t) { return t; });
    y = x.exp();
    watch = c10::weak_intrusive_ptr<c10::TensorImpl>((x * 1).exp().getIntrusivePtr());
  }
  CHECK(watch.expired());
  const Tensor g = torch::autograd::grad({y}, {x}, {}, std::nullopt, true)[0];
  CHECK(same(torch::autograd::grad({g}, {x})[0], x.detach().exp()));
}

TEST_CASE("hooks do not follow changes in place", "[autograd][saved][hooks]") {
  const Tensor x = leaf({2});
  Tensor y = x * 1;
  Tensor z;
  {
    SavedTensorHooksGuard guard([](const Tensor& t) { return t.clone(); }, [](const Tensor& t) { return t; });
    z = y * y;
  }
  y.add_(1);
  z.backward();
  CHECK(same(x.grad(), {4}));
}

TEST_CASE("guards nest", "[autograd][saved][hooks]") {
  std::vector<int> calls;
  const auto noting = [&calls](int name) {
    return [&calls, name](const Tensor& t) {
      calls.push_back(name);
      return t;
    };
  };
  const auto back = [](const Tensor& t) { return t; };
  const Tensor x = leaf({2});
  {
    SavedTensorHooksGuard outer(noting(1), back);
    x.exp();
    {
      SavedTensorHooksGuard inner(noting(2), back);
      x.exp();
    }
    x.exp();
  }
  x.exp();
  CHECK(calls == std::vector<int>{1, 2, 1});
}

TEST_CASE("a hook may not change what it packs", "[autograd][saved][hooks][errors]") {
  const Tensor x = leaf({2});
  const Tensor y = x * 1;
  SavedTensorHooksGuard guard(
      [](const Tensor& t) {
        Tensor changed = t;
        changed.add_(1);
        return changed;
      },
      [](const Tensor& t) { return t; });
  CHECK_THAT(error_of([&] { y* y; }), says("A saved tensor pack hook is modifying its input in place"));
}

TEST_CASE("what an unpack hook may not give", "[autograd][saved][hooks][errors]") {
  const Tensor x = leaf({2, 3});
  Tensor unpacked;
  Tensor y;
  {
    const SavedTensorHooksGuard guard([](const Tensor& t) { return t; }, [&](const Tensor&) { return unpacked; });
    y = x.exp();
  }
  const auto pass = [&] { y.backward(values({1, 1}), /*retain_graph=*/true); };
  CHECK_THAT(
      error_of(pass), says("Output of saved tensor unpack_hook expected to be a Tensor but got an undefined one"));
  unpacked = values({1, 2, 3});
  CHECK_THAT(error_of(pass), says("The size of tensor a (2) must match the size of tensor b (3)"));
  unpacked = values({5, 6}); // whatever it is, it is taken for the value
  pass();
  CHECK(same(x.grad(), {5, 6}));
}
