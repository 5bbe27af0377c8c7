// Names, order and copies of what modules hold.
#include <torch/torch.h>

#include <sstream>

#include "test/support/matchers.h"

using namespace torch;
using test::Says;

namespace {

struct InnerImpl : nn::Cloneable<InnerImpl> {
  InnerImpl() {
    reset();
  }
  void reset() override {
    weight = register_parameter("weight", torch::ones({2, 2}));
    count = register_buffer("count", torch::zeros({}, torch::kLong));
  }
  Tensor weight;
  Tensor count;
};
TORCH_MODULE(Inner);

struct OuterImpl : nn::Cloneable<OuterImpl> {
  OuterImpl() {
    reset();
  }
  void reset() override {
    first = register_module("first", Inner());
    second = register_module("second", Inner());
    scale = register_parameter("scale", torch::ones({3}), /*requires_grad=*/false);
    register_parameter("absent", Tensor(), /*requires_grad=*/false);
  }
  Tensor forward(Tensor x) {
    return x.matmul(first->weight).matmul(second->weight);
  }
  Inner first = nullptr;
  Inner second = nullptr;
  Tensor scale;
};
TORCH_MODULE(Outer);

struct PlainImpl : nn::Module {};
TORCH_MODULE(Plain);

} // namespace

TEST_CASE("a module's own tensors come first, then its children's", "[nn][module]") {
  Outer outer;
  CHECK(outer->named_parameters().keys() == std::vector<std::string>{"scale", "first.weight", "second.weight"});
  CHECK(outer->named_parameters(/*recurse=*/false).keys() == std::vector<std::string>{"scale"});
  CHECK(outer->named_buffers().keys() == std::vector<std::string>{"first.count", "second.count"});
  CHECK(outer->parameters().size() == 3);
  CHECK(outer->buffers(false).empty());
  CHECK(outer->named_modules().keys() == std::vector<std::string>{"", "first", "second"});
  CHECK(outer->named_modules("root").keys() == std::vector<std::string>{"root", "root.first", "root.second"});
  CHECK(outer->modules(/*include_self=*/false).size() == 2);
  CHECK(outer->named_children().keys() == std::vector<std::string>{"first", "second"});
  CHECK_FALSE(outer->scale.requires_grad());
  CHECK(outer->first->weight.requires_grad());
}

TEST_CASE("what is registered twice comes twice", "[nn][module]") {
  auto root = std::make_shared<nn::Module>();
  Inner shared;
  root->register_module("a", shared);
  root->register_module("b", shared);
  CHECK(root->named_parameters().keys() == std::vector<std::string>{"a.weight", "b.weight"});
  CHECK(root->parameters()[0].is_same(root->parameters()[1]));
}

TEST_CASE("names of registered things are checked", "[nn][module]") {
  auto module = std::make_shared<nn::Module>();
  module->register_parameter("p", torch::ones({1}));
  CHECK_THROWS_MATCHES(
      module->register_parameter("p", torch::ones({1})), c10::Error, Says("Parameter 'p' already defined"));
  CHECK_THROWS_MATCHES(
      module->register_parameter("", torch::ones({1})), c10::Error, Says("Parameter name must not be empty"));
  CHECK_THROWS_MATCHES(
      module->register_buffer("a.b", torch::ones({1})), c10::Error,
      Says("Buffer name must not contain a dot (got 'a.b')"));
  CHECK_THROWS_MATCHES(
      module->register_module("a.b", Inner()), c10::Error, Says("Submodule name must not contain a dot"));
  CHECK_THROWS_MATCHES(
      module->register_module("n", std::shared_ptr<InnerImpl>()), c10::Error,
      Says("submodule 'n' of torch::nn::Module is null"));
  CHECK_THROWS_MATCHES(module->unregister_module("x"), c10::Error, Says("No Module with name `x` is registered"));
  CHECK_THROWS_MATCHES(module->replace_module("x", Inner()), c10::Error, Says("Submodule 'x' is not defined"));
  module->register_module("x", Inner());
  Inner other;
  module->replace_module("x", other);
  CHECK(module->children()[0] == other.ptr());
  module->unregister_module("x");
  CHECK(module->children().empty());
}

TEST_CASE("modules on the stack do not give themselves away", "[nn][module]") {
  OuterImpl outer;
  CHECK_THROWS_MATCHES(outer.modules(), c10::Error, Says("it is not stored in a shared_ptr"));
  CHECK(outer.modules(false).size() == 2);
  CHECK(outer.parameters().size() == 3);
}

TEST_CASE("apply visits parents first, in six ways", "[nn][module]") {
  Outer outer;
  std::vector<std::string> names;
  const std::vector<std::string> want{"", "first", "second"};
  outer->apply([&](const std::string& name, nn::Module&) { names.push_back(name); });
  CHECK(names == want);
  names.clear();
  const nn::Module& constant = *outer;
  constant.apply([&](const std::string& name, const nn::Module&) { names.push_back(name); });
  CHECK(names == want);
  names.clear();
  outer->apply([&](const std::string& name, const std::shared_ptr<nn::Module>&) { names.push_back(name); }, "r");
  CHECK(names == std::vector<std::string>{"r", "r.first", "r.second"});
  int count = 0;
  outer->apply([&](nn::Module& module) { count += module.as<InnerImpl>() != nullptr; });
  constant.apply([&](const nn::Module&) { count += 10; });
  outer->apply([&](const std::shared_ptr<nn::Module>& module) { count += module ? 100 : 0; });
  CHECK(count == 332);
}

TEST_CASE("train and eval reach every module", "[nn][module]") {
  Outer outer;
  CHECK(outer->is_training());
  outer->eval();
  CHECK_FALSE(outer->second->is_training());
  outer->first->train();
  CHECK(outer->first->is_training());
  CHECK_FALSE(outer->is_training());
}

TEST_CASE("zero_grad drops gradients or fills them with zeros", "[nn][module]") {
  Outer outer;
  outer(torch::ones({1, 2})).sum().backward();
  const Tensor grad = outer->first->weight.grad();
  REQUIRE(grad.defined());
  outer->zero_grad(/*set_to_none=*/false);
  CHECK(outer->first->weight.grad().data_ptr() == grad.data_ptr());
  CHECK(grad.abs().sum().item<double>() == 0);
  outer->zero_grad();
  CHECK_FALSE(outer->first->weight.grad().defined());
}

TEST_CASE("to converts parameters and buffers in place", "[nn][module]") {
  Outer outer;
  const Tensor weight = outer->first->weight;
  outer->to(torch::kDouble);
  CHECK(weight.scalar_type() == torch::kDouble);
  CHECK(weight.requires_grad());
  CHECK(outer->named_parameters()["first.weight"].is_same(weight));
  CHECK(outer->first->count.scalar_type() == torch::kDouble);
  outer->to(torch::Device(torch::kCPU), torch::kFloat);
  CHECK(weight.scalar_type() == torch::kFloat);
  outer->to(torch::Device(torch::kMeta));
  CHECK(weight.is_meta());
}

TEST_CASE("a clone shares nothing", "[nn][module]") {
  Outer outer;
  outer->first->weight.set_requires_grad(false);
  outer->first->weight.fill_(5);
  outer->eval();
  const auto copy = std::dynamic_pointer_cast<OuterImpl>(outer->clone());
  REQUIRE(copy);
  CHECK(copy->first->weight.mean().item<double>() == 5);
  CHECK_FALSE(copy->first->weight.requires_grad());
  CHECK_FALSE(copy->is_training());
  CHECK(copy->first.ptr() != outer->first.ptr());
  CHECK(copy->first.ptr() == copy->children()[0]);
  outer->first->weight.fill_(7);
  CHECK(copy->first->weight.mean().item<double>() == 5);
  CHECK(copy->named_parameters()["first.weight"].is_same(copy->first->weight));
  CHECK_THROWS_MATCHES(
      Plain()->clone(), c10::Error, Says("Subclass torch::nn::Cloneable<(anonymous namespace)::PlainImpl>"));
}

TEST_CASE("a clone whose constructor registers is refused", "[nn][module]") {
  struct WrongImpl : nn::Cloneable<WrongImpl> {
    WrongImpl() {
      register_parameter("weight", torch::ones({1}));
    }
    void reset() override {}
  };
  CHECK_THROWS_MATCHES(
      std::make_shared<WrongImpl>()->clone(), c10::Error,
      Says("The cloned module does not have the same number of parameters"));
}

TEST_CASE("modules are called after their class, or as they say", "[nn][module]") {
  CHECK(nn::Linear(1, 1)->name() == "torch::nn::LinearImpl");
  CHECK(nn::Module("mine").name() == "mine");
  std::ostringstream out;
  Outer outer;
  out << outer;
  CHECK(
      out.str() ==
      "(anonymous namespace)::OuterImpl(\n  (first): (anonymous namespace)::InnerImpl\n"
      "  (second): (anonymous namespace)::InnerImpl\n)");
}

TEST_CASE("holders are pointers", "[nn][module]") {
  nn::Linear empty = nullptr;
  CHECK(empty.is_empty());
  CHECK_FALSE(empty);
  CHECK_THROWS_MATCHES(empty->weight, c10::Error, Says("Accessing empty ModuleHolder"));
  CHECK_THROWS_MATCHES(empty(torch::ones({1})), c10::Error, Says("Accessing empty ModuleHolder"));
  nn::Linear linear(2, 3);
  const nn::Linear same = linear;
  CHECK(same.ptr() == linear.ptr());
  const std::shared_ptr<nn::Module> module = linear.ptr();
  CHECK(module->as<nn::Linear>() == linear.get());
  CHECK(module->as<nn::LinearImpl>() == linear.get());
  CHECK(module->as<nn::Conv2d>() == nullptr);
}

TEST_CASE("an ordered dictionary keeps order and finds keys", "[nn][ordered_dict]") {
  OrderedDict<std::string, int> dict("Entry");
  for (int i = 0; i < 100; ++i) {
    dict.insert("k" + std::to_string(i), int(i));
  }
  for (int i = 0; i < 100; i += 3) {
    dict.erase("k" + std::to_string(i));
  }
  CHECK(dict.size() == 66);
  CHECK(dict[0].key() == "k1");
  CHECK(dict.back().value() == 98);
  for (int i = 0; i < 100; ++i) {
    CHECK(dict.contains("k" + std::to_string(i)) == (i % 3 != 0));
  }
  CHECK(dict["k50"] == 50);
  CHECK_THROWS_MATCHES(dict["k0"], c10::Error, Says("Entry 'k0' is not defined"));
  CHECK_THROWS_MATCHES(dict.insert("k1", 1), c10::Error, Says("Entry 'k1' already defined"));
  CHECK_THROWS_MATCHES(dict[66], c10::Error, Says("Index 66 is out of bounds"));
  CHECK_THROWS_MATCHES(dict.erase("x"), c10::Error, Says("Key 'x' doesn't exist"));
  OrderedDict<std::string, int> other = dict;
  CHECK(other == dict);
  other["k1"] = 5;
  CHECK_FALSE(other == dict);
  other.clear();
  CHECK_THROWS_MATCHES(other.front(), c10::Error, Says("Called front() on an empty OrderedDict"));
  dict.update(OrderedDict<std::string, int>{{"a", 1}, {"b", 2}});
  CHECK(dict.keys().back() == "b");
}

TEST_CASE("a printed module leaves its stream with boolalpha where libtorch does", "[nn][tree]") {
  namespace nn = torch::nn;
  const auto prints_words = [](const auto& module) {
    std::ostringstream stream;
    stream << module;
    return (stream.flags() & std::ios::boolalpha) != 0;
  };
  CHECK(prints_words(nn::Hardshrink()));
  CHECK(prints_words(nn::LeakyReLU()));
  CHECK(prints_words(nn::Hardtanh()));
  CHECK(prints_words(nn::LocalResponseNorm(2)));
  CHECK(prints_words(nn::CrossMapLRN2d(2)));
  CHECK(prints_words(nn::MaxUnpool2d(2)));
  CHECK(prints_words(nn::CosineSimilarity()));
  CHECK(prints_words(nn::ReLU(true)));
  CHECK_FALSE(prints_words(nn::ReLU()));
  CHECK(prints_words(nn::Conv1d(nn::Conv1dOptions(1, 1, 1).bias(false))));
  CHECK_FALSE(prints_words(nn::Conv1d(1, 1, 1)));
  CHECK(prints_words(nn::GRUCell(nn::GRUCellOptions(1, 1).bias(false))));
  CHECK_FALSE(prints_words(nn::LSTMCell(1, 1)));
  CHECK(prints_words(nn::EmbeddingBag(nn::EmbeddingBagOptions(1, 1).scale_grad_by_freq(true))));
  CHECK_FALSE(prints_words(nn::Embedding(1, 1)));
}

TEST_CASE("what forward returns is known at compile time", "[module]") {
  using torch::detail::return_type_of_forward;
  STATIC_REQUIRE(std::is_same_v<return_type_of_forward<nn::LinearImpl, torch::Tensor>::type, torch::Tensor>);
  STATIC_REQUIRE(std::is_void_v<return_type_of_forward<nn::Module>::type>);
  STATIC_REQUIRE(torch::detail::has_forward<nn::LinearImpl>::value);
  STATIC_REQUIRE_FALSE(torch::detail::has_forward<nn::ModuleListImpl>::value);
}
