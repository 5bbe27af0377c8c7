// Values and modules of any type, and the containers.
#include <torch/torch.h>

#include <sstream>

#include "test/support/matchers.h"

using namespace torch;
using test::EqualsTensor;
using test::Says;

namespace {

struct AddImpl : nn::Module {
  explicit AddImpl(int by) : by(by) {}
  int forward(int x, int y) {
    return x + y + by;
  }
  int by;

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, nn::AnyValue(100)})
};
TORCH_MODULE(Add);

struct ShowImpl : nn::Module {
  std::string forward(const std::string& text, int number) const {
    return text + std::to_string(number);
  }
};
TORCH_MODULE(Show);

} // namespace

TEST_CASE("an AnyValue holds a value and knows its type", "[nn][container]") {
  nn::AnyValue value(std::string("text"));
  CHECK(value.get<std::string>() == "text");
  CHECK(value.try_get<int>() == nullptr);
  CHECK_THROWS_MATCHES(value.get<int>(), c10::Error, Says("Attempted to cast AnyValue to int, but its actual type is"));
  nn::AnyValue copy = value;
  value = nn::AnyValue(5);
  CHECK(copy.get<std::string>() == "text");
  CHECK(value.get<int>() == 5);
  const nn::AnyValue moved = std::move(copy);
  CHECK(moved.type_info() == typeid(std::string));
}

TEST_CASE("an AnyModule calls a module of any type", "[nn][container]") {
  nn::AnyModule any(Add(1));
  CHECK(any.forward<int>(2, 3) == 6);
  CHECK(any.forward<int>(2) == 103);
  CHECK(any.any_forward(2, 3).get<int>() == 6);
  CHECK(nn::AnyModule(Show()).forward<std::string>(std::string("a"), 7) == "a7");
  CHECK_THROWS_MATCHES(
      any.forward<int>(2, 3.0), c10::Error,
      Says("Expected argument #1 to be of type int, but received value of type double"));
  CHECK_THROWS_MATCHES(
      any.forward<int>(), c10::Error, Says("expects at least 1 argument(s) and at most 2 argument(s), but received 0"));
  CHECK_THROWS_MATCHES(
      nn::AnyModule(Show()).forward<std::string>(std::string()), c10::Error,
      Says("expects 2 argument(s), but received 1. If "));
  CHECK_THROWS_MATCHES(
      any.forward(2, 3), c10::Error, Says("Attempted to cast AnyValue to at::Tensor, but its actual type is int"));
  CHECK_THROWS_MATCHES(nn::AnyModule().forward(1), c10::Error, Says("Cannot call forward() on an empty AnyModule"));
  CHECK(any.get<AddImpl>().by == 1);
  CHECK(any.get<Add>()->by == 1);
  CHECK(any.ptr<AddImpl>()->by == 1);
  CHECK(any.type_info() == typeid(AddImpl));
  CHECK_THROWS_MATCHES(
      any.get<ShowImpl>(), c10::Error, Says("Attempted to cast module of type (anonymous namespace)::AddImpl"));
  nn::AnyModule linear(nn::Linear(2, 3));
  nn::AnyModule copy = linear.clone();
  CHECK(copy.ptr() != linear.ptr());
  CHECK(torch::equal(copy.get<nn::LinearImpl>().weight, linear.get<nn::LinearImpl>().weight));
}

TEST_CASE("a Sequential passes values on", "[nn][container]") {
  torch::manual_seed(0);
  nn::Sequential sequential(nn::Linear(3, 4), nn::Functional(torch::relu), nn::Functional(torch::elu, 1.0, 0, 1.0));
  CHECK(sequential->size() == 3);
  CHECK(sequential->forward(torch::ones({2, 3})).sizes() == IntArrayRef({2, 4}));
  CHECK(sequential(torch::ones({2, 3})).sizes() == IntArrayRef({2, 4}));
  CHECK(sequential->named_parameters().keys() == std::vector<std::string>{"0.weight", "0.bias"});
  CHECK(sequential->at<nn::LinearImpl>(0).options.out_features() == 4);
  CHECK(sequential[0]->as<nn::Linear>() == sequential->ptr<nn::LinearImpl>(0).get());
  CHECK_THROWS_MATCHES(sequential->ptr(3), c10::Error, Says("Index out of range"));
  CHECK_THROWS_MATCHES(nn::Sequential()->forward(1), c10::Error, Says("Cannot call forward() on an empty Sequential"));
  CHECK_THROWS_MATCHES(
      sequential->forward<int>(torch::ones({2, 3})), c10::Error,
      Says("The type of the return value is at::Tensor, but you asked for type int"));
  const auto copy = std::dynamic_pointer_cast<nn::SequentialImpl>(sequential->clone());
  CHECK_FALSE(copy->at<nn::LinearImpl>(0).weight.is_same(sequential->at<nn::LinearImpl>(0).weight));
  CHECK(torch::equal(copy->forward(torch::ones({2, 3})), sequential->forward(torch::ones({2, 3}))));
  nn::Sequential named({{"a", nn::Linear(1, 1)}, {"b", nn::ReLU()}});
  named->push_back("c", nn::Tanh());
  CHECK(named->named_children().keys() == std::vector<std::string>{"a", "b", "c"});
  named->extend(*sequential);
  CHECK(named->size() == 6);
  CHECK(nn::Sequential(Add(1), Add(2))->forward<int>(1, 1) == 105);
}

TEST_CASE("a ModuleList registers modules by position", "[nn][container]") {
  nn::ModuleList list(nn::Linear(1, 2), nn::ReLU());
  list->insert(1, nn::Dropout(0.2));
  list->insert(0, nn::Identity());
  CHECK(list->size() == 4);
  CHECK(list->named_children().keys() == std::vector<std::string>{"0", "1", "2", "3"});
  CHECK(list->children()[1] == list->ptr(1));
  CHECK(list->children()[3]->as<nn::ReLU>() != nullptr);
  CHECK(list->at<nn::DropoutImpl>(2).options.p() == 0.2);
  CHECK_THROWS_MATCHES(
      list->at<nn::LinearImpl>(0), c10::Error, Says("Unable to cast module[0] to torch::nn::LinearImpl"));
  CHECK_THROWS_MATCHES(list->ptr(4), c10::Error, Says("Index out of range"));
  CHECK_THROWS_MATCHES(list->insert(9, nn::ReLU()), c10::Error, Says("Index out of range"));
  CHECK(std::dynamic_pointer_cast<nn::ModuleListImpl>(list->clone())->size() == 4);
}

TEST_CASE("a ModuleDict registers modules by name", "[nn][container]") {
  OrderedDict<std::string, std::shared_ptr<nn::Module>> modules;
  modules.insert("linear", nn::Linear(1, 2).ptr());
  modules.insert("relu", nn::ReLU().ptr());
  nn::ModuleDict dict(modules);
  CHECK(dict->keys() == std::vector<std::string>{"linear", "relu"});
  dict->update({{"relu", nn::Tanh().ptr()}, {"drop", nn::Dropout().ptr()}});
  CHECK(dict->size() == 3);
  CHECK(dict["relu"]->as<nn::Tanh>() != nullptr);
  CHECK(dict->named_children().keys() == dict->keys());
  CHECK(dict->at<nn::LinearImpl>("linear").options.out_features() == 2);
  CHECK_THROWS_MATCHES(dict->at<nn::ReLUImpl>("linear"), c10::Error, Says("Unable to cast module[linear]"));
  CHECK(dict->pop("linear")->as<nn::Linear>() != nullptr);
  CHECK_FALSE(dict->contains("linear"));
  CHECK(dict->parameters().empty());
  dict->clear();
  CHECK(dict->children().empty());
}

TEST_CASE("parameters in lists and dictionaries", "[nn][container]") {
  nn::ParameterList list(torch::ones({2}), torch::zeros({3}).requires_grad_());
  list->append(torch::ones({1}));
  CHECK(list->size() == 3);
  CHECK(list->named_parameters().keys() == std::vector<std::string>{"0", "1", "2"});
  CHECK_FALSE(list[0].requires_grad());
  CHECK(list[1].requires_grad());
  CHECK_THROWS_MATCHES(list->at(3), c10::Error, Says("Index out of range"));
  const auto copy = std::dynamic_pointer_cast<nn::ParameterListImpl>(list->clone());
  CHECK(copy->size() == 3);
  CHECK(copy->at(1).requires_grad());
  CHECK_FALSE(copy->at(1).is_same(list->at(1)));
  nn::ParameterDict dict;
  dict->insert("a", torch::ones({2}));
  CHECK_THROWS_MATCHES(dict->insert("a", torch::ones({2})), c10::Error, Says("Parameter 'a' already defined"));
  CHECK_THAT(dict["a"], EqualsTensor({1, 1}));
  nn::ParameterDict other;
  other->insert("a", torch::zeros({2}));
  dict->update(*other);
  CHECK_THAT(dict["a"], EqualsTensor({0, 0}));
  other->insert("b", torch::zeros({2}));
  CHECK_THROWS_MATCHES(dict->update(*other), c10::Error, Says("Parameter 'b' is not defined"));
  CHECK(dict->pop("a").numel() == 2);
  CHECK(dict->empty());
  std::ostringstream out;
  out << list;
  CHECK(
      out.str() ==
      "torch::nn::ParameterList(\n(0): Parameter containing: [Float of size [2]]\n"
      "(1): Parameter containing: [Float of size [3]]\n(2): Parameter containing: [Float of size [1]]\n)");
}

TEST_CASE("modules go through archives", "[nn][serialize]") {
  torch::manual_seed(0);
  nn::Sequential source(nn::Linear(2, 3), nn::Functional(torch::relu), nn::BatchNorm1d(3));
  nn::Sequential target(nn::Linear(2, 3), nn::Functional(torch::relu), nn::BatchNorm1d(3));
  source->forward(torch::rand({4, 2}));
  std::stringstream stream;
  torch::save(source, stream);
  torch::load(target, stream);
  CHECK(torch::equal(source->at<nn::LinearImpl>(0).weight, target->at<nn::LinearImpl>(0).weight));
  CHECK(torch::equal(source->at<nn::BatchNorm1dImpl>(2).running_mean, target->at<nn::BatchNorm1dImpl>(2).running_mean));
  CHECK(target->at<nn::BatchNorm1dImpl>(2).num_batches_tracked.item<int64_t>() == 1);
  CHECK(target->at<nn::LinearImpl>(0).weight.requires_grad());
}
