// Nodes on a device that is not the CPU run on a thread of their own. The device here has no tensors: gradients on
// their way to it are undefined, and nodes note where they ran.
#include "support.h"

#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/function.h>

#include <atomic>
#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>

using namespace autograd_test;
using torch::autograd::Edge;
using torch::autograd::edge_list;
using torch::autograd::Engine;
using torch::autograd::Node;

namespace {

C10_REGISTER_GUARD_IMPL(PrivateUse1, c10::impl::NoOpDeviceGuardImpl<c10::DeviceType::PrivateUse1>)

// A node with one input on `device` that does what it is told.
struct Step : Node {
  Step(at::Device device, edge_list&& next, std::function<variable_list()> work_)
      : Node(std::move(next)), work(std::move(work_)) {
    add_input_metadata(at::TensorOptions().dtype(at::kDouble).device(device), at::IntArrayRef());
  }
  variable_list apply(variable_list&&) override {
    ran_on = std::this_thread::get_id();
    return work ? work() : variable_list(num_outputs());
  }
  std::function<variable_list()> work;
  std::thread::id ran_on;
};

const at::Device kDevice(at::DeviceType::PrivateUse1, 0);
const at::Device kCpu(at::kCPU);

std::shared_ptr<Step> step(at::Device device, edge_list next = {}, std::function<variable_list()> work = nullptr) {
  return std::make_shared<Step>(device, std::move(next), std::move(work));
}

void run(const std::shared_ptr<Node>& root) {
  Engine::get_default_engine().execute({Edge(root, 0)}, {Tensor()}, false, false, true);
}

} // namespace

TEST_CASE("nodes of a device run on its thread, those of the CPU on the caller's", "[autograd][devices]") {
  const auto last = step(kCpu);
  const auto inner = step(kDevice, {Edge(last, 0)});
  const auto root = step(kCpu, {Edge(inner, 0)});
  run(root);
  CHECK(root->ran_on == std::this_thread::get_id());
  CHECK(last->ran_on == std::this_thread::get_id());
  CHECK(inner->ran_on != std::thread::id());
  CHECK(inner->ran_on != std::this_thread::get_id());

  SECTION("unless threads are switched off") {
    auto& state = c10::AutogradState::get_tls_state();
    state.set_multithreading_enabled(false);
    run(root);
    state.set_multithreading_enabled(true);
    CHECK(inner->ran_on == std::this_thread::get_id());
  }
}

TEST_CASE("gradients come back from a device's thread", "[autograd][devices]") {
  const Tensor x = leaf({1, 2});
  const auto root = step(kDevice, {torch::autograd::impl::gradient_edge(x)}, [] {
    return variable_list{values({3, 4})};
  });
  run(root);
  CHECK(same(x.grad(), {3, 4}));
}

TEST_CASE("grad mode and other settings go with the pass", "[autograd][devices]") {
  bool recording = true;
  const auto root = step(kDevice, {}, [&] {
    recording = torch::GradMode::is_enabled();
    return variable_list();
  });
  run(root);
  CHECK_FALSE(recording);
}

TEST_CASE("an error on a device's thread reaches the caller", "[autograd][devices][errors]") {
  bool fail = true;
  const auto last = step(kCpu);
  const auto inner = step(kDevice, {Edge(last, 0)}, [&]() -> variable_list {
    if (fail) {
      throw std::out_of_range("on the device");
    }
    return variable_list(1);
  });
  const auto root = step(kCpu, {Edge(inner, 0)});
  CHECK_THROWS_AS(run(root), std::out_of_range);
  CHECK(last->ran_on == std::thread::id());
  fail = false;
  run(root);
  CHECK(last->ran_on == std::this_thread::get_id());
}

TEST_CASE("passes within passes, across threads", "[autograd][devices]") {
  std::atomic<int> done{0};
  // Each level goes to the device and back, and starts the next from there.
  std::function<void(int)> level = [&](int depth) {
    const auto last = step(kCpu, {}, [&, depth] {
      if (depth > 0) {
        level(depth - 1);
      }
      ++done;
      return variable_list();
    });
    const auto inner = step(kDevice, {Edge(last, 0)}, [&, depth] {
      if (depth > 0) {
        level(depth - 1);
      }
      return variable_list(1);
    });
    run(step(kCpu, {Edge(inner, 0)}));
  };
  level(6);
  CHECK(done == 127);

  SECTION("deeper than one stack") {
    std::atomic<int> deepest{0};
    std::function<void(int)> down = [&](int depth) {
      const auto inner = step(kDevice, {}, [&, depth] {
        ++deepest;
        if (depth > 0) {
          down(depth - 1);
        }
        return variable_list();
      });
      run(step(kCpu, {Edge(inner, 0)}));
    };
    down(300);
    CHECK(deepest == 301);
  }
}

TEST_CASE("several threads send work to one device", "[autograd][devices]") {
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&right, i] {
      for (int k = 0; k < 50; ++k) {
        const Tensor x = leaf({0});
        const auto inner =
            step(kDevice, {torch::autograd::impl::gradient_edge(x)}, [i] { return variable_list{values({i + 1.0})}; });
        run(step(kCpu, {Edge(inner, 0)}));
        right += same(x.grad(), {i + 1.0}) ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  CHECK(right == 200);
}
