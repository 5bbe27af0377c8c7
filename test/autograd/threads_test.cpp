#include "support.h"

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <thread>

using namespace autograd_test;
using torch::autograd::Function;

namespace {

// Its backward runs a whole pass of its own, `depth` levels deep.
struct Nested : Function<Nested> {
  static Variable forward(AutogradContext* ctx, const Variable& x, int64_t depth) {
    ctx->saved_data["depth"] = depth;
    return x * 1;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const int64_t depth = ctx->saved_data["depth"].toInt();
    if (depth > 0) {
      torch::AutoGradMode record(true);
      const Tensor inner = torch::ones({}, doubles()).requires_grad_();
      Nested::apply(inner, depth - 1).backward();
      return {grads[0] * inner.grad(), Variable()};
    }
    return {grads[0], Variable()};
  }
};

template <class F>
void on_threads(int count, F f) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([f, i] { f(i); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

} // namespace

TEST_CASE("a pass may run passes, to any depth", "[autograd][threads]") {
  const int64_t depth = GENERATE(0, 1, 10, 200, 2000);
  const Tensor x = torch::full({}, 3.0, doubles()).requires_grad_();
  Nested::apply(x, depth).backward();
  CHECK(x.grad().item<double>() == 1.0);
}

TEST_CASE("a hook may run a pass over the same graph", "[autograd][threads]") {
  const Tensor x = leaf({3});
  const Tensor y = x * x;
  const Tensor z = y * 2;
  bool inside = false;
  z.register_hook([&](const torch::Tensor&) {
    if (!inside) {
      inside = true;
      y.backward({}, /*retain_graph=*/true);
    }
  });
  z.backward();
  CHECK(same(x.grad(), {6 + 12}));
}

TEST_CASE("an error in an inner pass is one of the outer pass", "[autograd][threads][errors]") {
  const Tensor x = leaf({3});
  const Tensor y = x * x;
  y.register_hook([&](const torch::Tensor&) {
    torch::AutoGradMode record(true);
    const Tensor a = leaf({1});
    const Tensor b = a * 2;
    b.register_hook([](const torch::Tensor&) { throw std::runtime_error("inner"); });
    b.backward();
  });
  CHECK_THAT(error_of([&] { y.backward({}, true); }), says("inner"));
  const Tensor w = x * 2;
  w.backward();
  CHECK(same(x.grad(), {2}));
}

namespace {

// A pass whose hook runs a pass whose hook runs a pass, and so on. The last one calls `end`.
template <class F>
void nested_passes(int64_t depth, const F& end) {
  const torch::AutoGradMode record(true);
  const Tensor x = torch::ones({}, doubles()).requires_grad_();
  const Tensor y = x * 2;
  y.register_hook([depth, &end](const torch::Tensor&) {
    if (depth > 0) {
      nested_passes(depth - 1, end);
    } else {
      end();
    }
  });
  y.backward();
  if (x.grad().item<double>() != 2.0) {
    throw std::logic_error("wrong gradient");
  }
}

} // namespace

TEST_CASE("hooks may run passes ten thousand deep", "[autograd][threads][hooks]") {
  int ends = 0;
  nested_passes(10000, [&] { ++ends; });
  CHECK(ends == 1);
}

TEST_CASE("an error comes up through deep passes as it is", "[autograd][threads][hooks][errors]") {
  struct Special : std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  CHECK_THROWS_AS(nested_passes(500, [] { throw Special("from below"); }), Special);
  int ends = 0;
  nested_passes(100, [&] { ++ends; });
  CHECK(ends == 1);
}

TEST_CASE("deep passes on several threads at once", "[autograd][threads][hooks]") {
  std::atomic<int> ends{0};
  on_threads(4, [&](int) { nested_passes(300, [&] { ++ends; }); });
  CHECK(ends == 4);
}

TEST_CASE("passes that fail leave a shared graph sound for others", "[autograd][threads][errors]") {
  const Tensor x = leaf({2, 3});
  const Tensor y = x * x;
  const Tensor z = y.exp();
  std::atomic<int> calls{0};
  y.register_hook([&](const torch::Tensor&) {
    if (++calls % 3 == 0) {
      throw std::runtime_error("every third");
    }
  });
  const Tensor out = z.sum();
  const Tensor want = (y.exp() * 2 * x).detach();
  std::atomic<int> right{0};
  std::atomic<int> failed{0};
  on_threads(4, [&](int) {
    for (int k = 0; k < 30; ++k) {
      try {
        right += same(torch::autograd::grad({out}, {x}, {}, /*retain_graph=*/true)[0], want) ? 1 : 0;
      } catch (const std::runtime_error&) {
        ++failed;
      }
    }
  });
  CHECK(failed == 40);
  CHECK(right == 80);
}

TEST_CASE("passes over separate graphs on several threads", "[autograd][threads]") {
  on_threads(4, [](int i) {
    for (int k = 0; k < 50; ++k) {
      const Tensor x = torch::full({4}, i + 1.0, doubles()).requires_grad_();
      (x * x * x).sum().backward();
      if (!same(x.grad(), torch::full({4}, 3.0 * (i + 1) * (i + 1), doubles()))) {
        throw std::logic_error("wrong gradient");
      }
    }
  });
}

TEST_CASE("passes over one graph on several threads", "[autograd][threads]") {
  const Tensor x = leaf({2, 3});
  const Tensor y = x * x;
  const Tensor z = (y.exp() * y).sin() + y;
  const Tensor want = torch::autograd::grad({z.sum()}, {x}, {}, true)[0];
  const Tensor out = z.sum();
  std::atomic<int> right{0};
  on_threads(4, [&](int) {
    for (int k = 0; k < 25; ++k) {
      const Tensor got = torch::autograd::grad({out}, {x}, {}, /*retain_graph=*/true)[0];
      right += same(got, want) ? 1 : 0;
    }
  });
  CHECK(right == 100);

  SECTION("also with accumulation") {
    on_threads(4, [&](int) {
      for (int k = 0; k < 25; ++k) {
        out.backward({}, true);
      }
    });
    CHECK(same(x.grad(), want * 100));
  }
}

TEST_CASE("a shared leaf on several threads", "[autograd][threads]") {
  const Tensor shared = leaf({1});
  on_threads(4, [&](int) {
    for (int k = 0; k < 100; ++k) {
      (shared * 2).backward();
    }
  });
  CHECK(same(shared.grad(), {800}));
}

TEST_CASE("each thread has its own modes", "[autograd][threads]") {
  torch::NoGradGuard no_grad;
  std::atomic<bool> enabled{false};
  std::thread([&] { enabled = torch::GradMode::is_enabled(); }).join();
  CHECK(enabled);
}

TEST_CASE("a graph made on one thread is run and freed on another", "[autograd][threads]") {
  const Tensor x = torch::ones({}, doubles()).requires_grad_();
  Tensor y;
  std::thread([&] {
    y = x;
    for (int i = 0; i < 10000; ++i) {
      y = y * 1;
    }
  }).join();
  y.backward();
  std::thread([moved = std::move(y)]() mutable { moved.reset(); }).join();
  CHECK(x.grad().item<double>() == 1.0);
}
