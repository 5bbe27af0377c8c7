// Failures of the device, with the libraries of test/cuda/idle_cuda, which fail as they are told, and what launches are
// made. test/cuda/idle_cuda/idle_cuda.py brings them (the test cuda_failures).
#include <ATen/autocast_mode.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <csrc/cuda/CUDAPluggableAllocator.h>
#include <torch/torch.h>

#include <test/cuda/idle_cuda/counts.h>

#include <catch2/catch.hpp>

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <array>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

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
      {"aten::cat",
       [&] {
         at::cat({x, x});
       }},
      {"aten::_fused_dropout", [&] { at::dropout(x, 0.5, true); }},
      {"aten::_foreach_*",
       [&] {
         at::_foreach_mul_({x, x}, 2.0);
       }},
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
  CHECK_THAT(
      text_of<c10::OutOfMemoryError>([] { at::empty({1 << 30}, kGpu); }), Contains("(in aten::empty.memory_format)"));
}

TEST_CASE("a product that cuBLAS refuses names the operator", "[idle]") {
  if (!is_idle()) {
    return;
  }
  const at::Tensor x = at::ones({16, 16}, kGpu), batch = at::ones({2, 16, 16}, kGpu);
  const Failing products({.product = 13});
  CHECK_THAT(
      text_of<c10::Error>([&] { at::mm(x, x); }),
      StartsWith("CUDA error: ") && Contains("when calling") && Contains("(in aten::mm)"));
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
  for (int i = 0; i < 150; ++i) {
    parameters.push_back(torch::ones({8, 8}, kGpu.requires_grad(true)));
    parameters.back().mutable_grad() = at::ones({8, 8}, kGpu);
  }
  torch::optim::AdamW adamw(parameters, 1e-3);
  torch::optim::SGD sgd(parameters, torch::optim::SGDOptions(1e-3).momentum(0.9));
  for (torch::optim::Optimizer* optimizer :
       {static_cast<torch::optim::Optimizer*>(&adamw), static_cast<torch::optim::Optimizer*>(&sgd)}) {
    optimizer->step();
    const auto before = counts.launches;
    optimizer->step();
    CHECK(counts.launches - before == 1);
  }
}

TEST_CASE("normalization on a GPU is few launches", "[idle]") {
  if (!is_idle()) {
    return;
  }
  const auto& counts = *static_cast<const IdleCudaCounts*>(dlsym(RTLD_DEFAULT, "idle_cuda_counts"));
  const auto launches = [&](const std::function<void()>& call) {
    const auto before = counts.launches + counts.copies + counts.memsets;
    call();
    return counts.launches + counts.copies + counts.memsets - before;
  };
  const std::array<bool, 3> all = {true, true, true};
  // Of the small images a block has each channel, of the large one several.
  for (const auto& [images, more] :
       {std::pair(at::ones({2, 4, 8, 8}, kGpu), 0), std::pair(at::ones({2, 4, 512, 512}, kGpu), 1)}) {
    for (const auto format : {at::MemoryFormat::Contiguous, at::MemoryFormat::ChannelsLast}) {
      const at::Tensor x = images.contiguous(format), w = at::ones({4}, kGpu), b = at::ones({4}, kGpu),
                       mean = at::zeros({4}, kGpu);
      at::Tensor variance = at::ones({4}, kGpu), saved, invstd;
      CHECK(launches([&] {
              std::tie(std::ignore, saved, invstd) = at::native_batch_norm(x, w, b, mean, variance, true, 0.1, 1e-5);
            }) == 2 + more);
      CHECK(launches([&] { at::native_batch_norm(x, w, b, mean, variance, false, 0.1, 1e-5); }) == 1);
      CHECK(launches([&] {
              at::native_batch_norm_backward(x, x, w, mean, variance, saved, invstd, true, 1e-5, all);
            }) == 2 + more);
      CHECK(launches([&] { at::batch_norm_update_stats(x, mean, variance, 0.1); }) == 1 + more);
    }
    const int64_t pixels = images.size(2) * images.size(3);
    const at::Tensor w = at::ones({4}, kGpu);
    at::Tensor saved, rstd;
    CHECK(launches([&] {
            std::tie(std::ignore, saved, rstd) = at::native_group_norm(images, w, w, 2, 4, pixels, 2, 1e-5);
          }) == 2 + more);
    CHECK(launches([&] {
            at::native_group_norm_backward(images, images, saved, rstd, w, 2, 4, pixels, 2, all);
          }) == 4 + more);
  }
  const at::Tensor rows = at::ones({64, 32}, kGpu.dtype(at::kBFloat16)), weight = at::ones({32}, kGpu);
  CHECK(launches([&] { at::rms_norm(rows, {32}, weight); }) == 1);
  const at::Tensor leaf = at::ones({64, 32}, kGpu).requires_grad_();
  CHECK(launches([&] { at::rms_norm(leaf, {32}).backward(leaf.detach()); }) == 2);
}

TEST_CASE("a layer under autocast is few launches", "[idle]") {
  if (!is_idle()) {
    return;
  }
  const auto& counts = *static_cast<const IdleCudaCounts*>(dlsym(RTLD_DEFAULT, "idle_cuda_counts"));
  torch::nn::Linear layer(16, 8);
  layer->to(at::kCUDA);
  const at::Tensor x = at::ones({4, 16}, kGpu).requires_grad_(), grad = at::ones({4, 8}, kGpu.dtype(at::kBFloat16));
  at::autocast::set_autocast_dtype(at::kCUDA, at::kBFloat16);
  at::autocast::set_autocast_enabled(at::kCUDA, true);
  auto launches = counts.launches;
  auto products = counts.library_calls;
  const at::Tensor y = layer->forward(x);
  CHECK(counts.launches - launches == 1); // the casts of input, weight and bias
  CHECK(counts.library_calls - products == 1);
  at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(at::kCUDA, false);
  launches = counts.launches;
  products = counts.library_calls;
  y.backward(grad);
  CHECK(counts.launches - launches == 1); // of their gradients; that of the bias comes with that of the weight
  CHECK(counts.library_calls - products == 2);
}

// A process of its own: an allocator stays.
TEST_CASE("memory comes from an allocator of the program", "[allocator]") {
  namespace pluggable = torch::cuda::CUDAPluggableAllocator;
  if (!is_idle() || c10::cuda::CUDACachingAllocator::get()->initialized()) {
    return;
  }
  static std::map<void*, size_t> live;
  static int64_t made = 0;
  static bool is_empty = false;
  const auto allocate = [](size_t size, int device, cudaStream_t stream) {
    CHECK(device == 0);
    CHECK(stream == c10::cuda::getCurrentCUDAStream().stream());
    void* pointer = nullptr;
    if (!is_empty && cudaMalloc(&pointer, size) == cudaSuccess) {
      live[pointer] = size;
      ++made;
    }
    return pointer;
  };
  const auto release = [](void* pointer, size_t size, int device, cudaStream_t) {
    CHECK(device == 0);
    CHECK(live.at(pointer) == size);
    live.erase(pointer);
    C10_CUDA_CHECK(cudaFree(pointer));
  };
  CHECK_THROWS_WITH(pluggable::changeCurrentAllocator(nullptr), Contains("expected an allocator, got null"));
  CHECK_THROWS_WITH(
      pluggable::createCustomAllocator(allocate, nullptr), Contains("expected functions to allocate and to free"));
  const auto allocator = pluggable::createCustomAllocator(allocate, release);
  pluggable::changeCurrentAllocator(allocator);
  CHECK(pluggable::getCurrentAllocator() == allocator);
  {
    const at::Tensor a = at::empty({1000}, kGpu);
    CHECK(made == 1);
    CHECK(live.at(a.data_ptr()) >= 4000);
    const at::Tensor b = a + a, none = at::empty({0}, kGpu);
    CHECK(made == 2);
    CHECK(live.count(b.data_ptr()) == 1);
    CHECK(none.numel() == 0);
    const at::Tensor c = at::empty({2, 4, 512, 512}, kGpu);
    at::native_batch_norm(c, {}, {}, {}, {}, true, 0.1, 1e-5); // which needs memory for the length of the call
    CHECK(made > 5);
    CHECK(live.size() == 3);
    is_empty = true;
    CHECK_THROWS_AS(a + a, c10::OutOfMemoryError);
    is_empty = false;
    CHECK(live.size() == 3);
  }
  CHECK(live.empty());
  CHECK_THROWS_WITH(
      c10::cuda::CUDACachingAllocator::getDeviceStats(0),
      Contains("CUDAPluggableAllocator does not yet support getDeviceStats"));
  CHECK_THROWS_WITH(
      c10::cuda::CUDACachingAllocator::snapshot(), Contains("CUDAPluggableAllocator does not yet support snapshot"));
  CHECK_THROWS_WITH(
      pluggable::changeCurrentAllocator(pluggable::createCustomAllocator(allocate, release)),
      Contains("Can't swap an already initialized allocator"));
  CHECK(pluggable::getCurrentAllocator() == allocator);
}
