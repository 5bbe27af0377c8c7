// Classes that programs declare before they include <torch/torch.h>, as libtorch's forward declarations of them allow.
namespace torch::nn {
class Module;
class Sequential;
class Embedding;
class EmbeddingBag;
class SequentialImpl;
class EmbeddingImpl;
class EmbeddingBagImpl;
class AnyModule;
template <typename Contained>
class ModuleHolder;
} // namespace torch::nn
namespace at {
class Tensor;
class Context;
} // namespace at

namespace {
// What such a declaration is for: a class of a program that only names them.
struct Network {
  torch::nn::Sequential& layers;
  torch::nn::Embedding* table;
  torch::nn::EmbeddingBag* bags;
};
} // namespace

#include <catch2/catch.hpp>
#include <torch/torch.h>

#include <optional>
#include <type_traits>

TEST_CASE("holders are classes that a program can declare before the header", "[api]") {
  torch::nn::Sequential layers({{"first", torch::nn::Linear(2, 3)}, {"second", torch::nn::ReLU()}});
  torch::nn::Embedding table = torch::nn::Embedding::from_pretrained(torch::eye(3));
  torch::nn::EmbeddingBag bags = torch::nn::EmbeddingBag::from_pretrained(torch::eye(3));
  const Network network{layers, &table, &bags};
  CHECK(network.layers->forward(torch::ones({1, 2})).sizes() == at::IntArrayRef({1, 3}));
  CHECK(network.layers->named_children().contains("second"));
  CHECK(torch::equal((*network.table)->forward(torch::tensor({2, 0})), torch::eye(3).index({torch::tensor({2, 0})})));
  CHECK(torch::equal((*network.bags)->forward(torch::tensor({{1, 1}})), torch::tensor({{0.0f, 1.0f, 0.0f}})));
  static_assert(std::is_base_of_v<torch::nn::ModuleHolder<torch::nn::SequentialImpl>, torch::nn::Sequential>);
  static_assert(std::is_base_of_v<torch::nn::ModuleHolder<torch::nn::EmbeddingImpl>, torch::nn::Embedding>);
  static_assert(std::is_base_of_v<torch::nn::ModuleHolder<torch::nn::EmbeddingBagImpl>, torch::nn::EmbeddingBag>);
}

TEST_CASE("functions of a context with a default argument have one address", "[api]") {
  const auto is_pinned = &at::Context::isPinnedPtr;
  const auto allocator = &at::Context::getPinnedMemoryAllocator;
  const auto hooks = &at::Context::getAcceleratorHooksInterface;
  int number = 0;
  CHECK_FALSE((at::globalContext().*is_pinned)(&number, at::kCPU));
  static_assert(
      std::is_same_v<decltype(allocator), c10::Allocator* (at::Context::*const)(std::optional<c10::DeviceType>)>);
  static_assert(std::is_member_function_pointer_v<std::remove_const_t<decltype(hooks)>>);
}
