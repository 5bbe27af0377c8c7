// Failures of the device, with the libraries of tools/bench/idle_cuda, which fail as they are told, and what launches are made.
// tools/bench/idle_cuda/idle_cuda.py brings them (the test cuda_failures).
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/torch.h>

#include <tools/bench/idle_cuda/counts.h>

#include <catch2/catch.hpp>

#include <cuda_runtime_api.h>
#include <dlfcn.h>

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

/// Whether the program runs with those libraries: without them the cases here pass at once.
bool is_idle() {
  return dlsym(RTLD_DEFAULT, "idle_cuda_failures") != nullptr;
}

IdleCudaFailures& failures() {
  return *static_cast<IdleCudaFailures*>(dlsym(RTLD_DEFAULT, "idle_cuda_failures"));
}

/// Sets what fails, and mends it at the end.
struct Failing {
  explicit Failing(const IdleCudaFailures& what) {
    failures() = what;
  }
  ~Failing() {
    failures() = {};
  }
};

/// The text of the error of type E that `call` throws, without the place.
template <class E>
std::string text_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const E& error) {
    return error.what_without_backtrace();
  }
  FAIL("no error of that type");
  return "";
}

const at::TensorOptions kGpu(at::kCUDA);

} // namespace

TEST_CASE("a launch that fails names its operator", "[idle]") {
  if (!is_idle()) {
    return;
  }
  const at::Tensor x = at::ones({16, 16}, kGpu), integers = at::zeros({16}, kGpu.dtype(at::kLong));
  const at::Tensor image = at::ones({1, 4, 8, 8}, kGpu), kernel = at::ones({4, 1, 3, 3}, kGpu);
  const std::pair<const char*, std::function<void()>> calls[] = {
      {"aten::add.Tensor", [&] { at::add(x, x); }},
      {"aten::add_.Tensor", [&] { at::Tensor(x).add_(x); }},
      {"aten::sum.dim_IntList", [&] { at::sum(x, {1}); }},
      {"aten::_softmax", [&] { at::softmax(x, 1); }},
      {"aten::native_layer_norm", [&] { at::layer_norm(x, {16}); }},
      {"aten::index_select", [&] { at::index_select(x, 0, integers); }},
      {"aten::cat", [&] { at::cat({x, x}); }},
      {"aten::_fused_dropout", [&] { at::dropout(x, 0.5, true); }},
      {"aten::_foreach_*", [&] { at::_foreach_mul_({x, x}, 2.0); }},
      {"aten::fill_.Scalar", [&] { at::full({4}, 2.0, kGpu); }}};
  for (const auto& [name, call] : calls) {
    const Failing launches({.launch = cudaErrorInvalidConfiguration});
    const std::string text = text_of<c10::AcceleratorError>(call);
    CHECK_THAT(text, StartsWith("CUDA error: "));
    CHECK_THAT(text, Contains(std::string("(in ") + name + ")"));
  }
  CHECK_NOTHROW(at::add(x, x));
}

TEST_CASE("memory that runs out names the operator", "[idle]") {
  if (!is_idle()) {
    return;
  }
  const at::Tensor x = at::ones({1 << 20, 8}, kGpu), row = at::ones({1 << 20}, kGpu);
  c10::cuda::CUDACachingAllocator::emptyCache();
  const Failing memory({.memory = true});
  const std::string text = text_of<c10::OutOfMemoryError>([&] {
    std::vector<at::Tensor> all;
    for (int i = 0; i < 1000; ++i) {
      all.push_back(at::mul(x, x));
    }
  });
  CHECK_THAT(text, StartsWith("CUDA out of memory. Tried to allocate 32.00 MiB."));
  CHECK_THAT(text, Contains("(in aten::mul.Tensor)"));
  CHECK_THAT(text_of<c10::OutOfMemoryError>([] { at::empty({1 << 30}, kGpu); }), Contains("(in aten::empty.memory_format)"));
}

TEST_CASE("a product that cuBLAS refuses names the operator", "[idle]") {
  if (!is_idle()) {
    return;
  }
  const at::Tensor x = at::ones({16, 16}, kGpu), batch = at::ones({2, 16, 16}, kGpu);
  const Failing products({.product = 13});
  CHECK_THAT(text_of<c10::Error>([&] { at::mm(x, x); }), StartsWith("CUDA error: ") && Contains("when calling") && Contains("(in aten::mm)"));
  CHECK_THAT(text_of<c10::Error>([&] { at::bmm(batch, batch); }), Contains("(in aten::bmm)"));
  CHECK_THAT(text_of<c10::Error>([&] { at::matmul(x, x); }), Contains("(in aten::mm)"));
}

TEST_CASE("a kernel that has failed is told of by the operator that meets it", "[idle]") {
  if (!is_idle()) {
    return;
  }
  const at::Tensor x = at::ones({}, kGpu);
  at::mul(x, x);
  at::exp(x);
  const Failing device({.device = cudaErrorIllegalAddress});
  const std::string text = text_of<c10::AcceleratorError>([&] { x.item(); });
  CHECK_THAT(text, Contains("CUDA_LAUNCH_BLOCKING=1") && Contains("(in aten::"));
  CHECK(text.find("(in aten::") == text.rfind("(in aten::"));
  CHECK_THAT(text, Contains("exp, mul.Tensor"));
}

TEST_CASE("wrong arguments are told of as on the CPU", "[idle]") {
  if (!is_idle()) {
    return;
  }
  const at::Tensor x = at::ones({4}, kGpu), y = at::ones({5}, kGpu);
  CHECK_THAT(text_of<c10::Error>([&] { at::add(x, y); }), !Contains("(in aten::"));
  CHECK_THAT(text_of<c10::Error>([&] { at::cumsum(x, 3); }), !Contains("(in aten::"));
}

TEST_CASE("operators run on the device of their tensors and return to the thread's", "[idle]") {
  if (!is_idle()) {
    return;
  }
  if (c10::cuda::device_count() < 2) {
    return; // IDLE_CUDA_DEVICES=2
  }
  const auto runtime_device = [] {
    int device = -1;
    cudaGetDevice(&device);
    return device;
  };
  const at::Tensor other = at::ones({4}, kGpu.device_index(1)), own = at::ones({4}, kGpu.device_index(0));
  REQUIRE(runtime_device() == 0);
  CHECK((other + other).device().index() == 1);
  CHECK(other.sum().device().index() == 1);
  CHECK(runtime_device() == 0);
  {
    const Failing launches({.launch = cudaErrorInvalidConfiguration});
    CHECK_THROWS_AS(other + other, c10::AcceleratorError);
  }
  CHECK(runtime_device() == 0);
  const c10::cuda::CUDAGuard guard(1);
  CHECK((own + own).device().index() == 0);
  CHECK(runtime_device() == 1);
  CHECK((other + other).device().index() == 1);
  CHECK(runtime_device() == 1);
}

TEST_CASE("lists, dropout and gradients of it take few launches", "[idle]") {
  if (!is_idle()) {
    return;
  }
  const auto& counts = *static_cast<const IdleCudaCounts*>(dlsym(RTLD_DEFAULT, "idle_cuda_counts"));
  const auto launches = [&](const std::function<void()>& call) {
    call(); // the first call may set up more
    const auto before = counts.launches + counts.copies + counts.memsets;
    call();
    return counts.launches + counts.copies + counts.memsets - before;
  };
  std::vector<at::Tensor> list;
  for (int i = 0; i < 30; ++i) {
    list.push_back(at::ones({5, 7}, kGpu));
  }
  const at::Tensor number = at::ones({}, kGpu), x = at::ones({16}, kGpu), mask = at::zeros({16}, kGpu.dtype(at::kBool));
  CHECK(launches([&] { at::_foreach_add_(list, list, 0.5); }) == 1);
  CHECK(launches([&] { at::_foreach_sqrt(list); }) == 1);
  CHECK(launches([&] { at::_foreach_mul_(list, number); }) == 1);
  CHECK(launches([&] { at::_foreach_norm(list); }) == 2);
  CHECK(launches([&] { at::stack(list); }) == 1);
  CHECK(launches([&] { at::native_dropout(x, 0.25, true); }) == 1);
  CHECK(launches([&] { at::native_dropout_backward(x, mask, 2); }) == 1);
  // What is recorded goes tensor by tensor.
  list[3].requires_grad_(true);
  CHECK(launches([&] { at::_foreach_sqrt(list); }) == 30);
}

TEST_CASE("an optimizer's step on a GPU is few launches", "[idle]") {
  if (!is_idle()) {
    return;
  }
  const auto& counts = *static_cast<const IdleCudaCounts*>(dlsym(RTLD_DEFAULT, "idle_cuda_counts"));
  std::vector<at::Tensor> parameters;
  for (int i = 0; i < 30; ++i) {
    parameters.push_back(torch::ones({8, 8}, kGpu.requires_grad(true)));
    parameters.back().mutable_grad() = at::ones({8, 8}, kGpu);
  }
  torch::optim::AdamW adamw(parameters, 1e-3);
  torch::optim::SGD sgd(parameters, torch::optim::SGDOptions(1e-3).momentum(0.9));
  for (torch::optim::Optimizer* optimizer : {static_cast<torch::optim::Optimizer*>(&adamw), static_cast<torch::optim::Optimizer*>(&sgd)}) {
    optimizer->step();
    const auto before = counts.launches;
    optimizer->step();
    CHECK(counts.launches - before == 1);
  }
}
