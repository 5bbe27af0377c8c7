// State of modules and optimizers by name, in memory and in files.
#include "test/serialize/support.h"

#include <csrc/serialize/pickle_file.h>
#include <csrc/serialize/safetensors.h>

using namespace serialize_test;
using test::Says;
using torch::StateDict;
using torch::serialize::load_pickle;
namespace nn = torch::nn;
namespace optim = torch::optim;

namespace {

struct NetImpl : nn::Module {
  NetImpl() : layers(nn::Linear(3, 2), nn::BatchNorm1d(2)) {
    register_module("layers", layers);
    scale = register_parameter("scale", torch::ones({2}));
  }
  Tensor forward(const Tensor& x) {
    return layers->forward(x) * scale;
  }
  nn::Sequential layers;
  Tensor scale;
};
TORCH_MODULE(Net);

bool same_state(const StateDict& a, const StateDict& b) {
  bool same = a.keys() == b.keys();
  for (const auto& item : a) {
    same = same && same_bits(item.value(), b[item.key()]);
  }
  return same;
}

StateDict copy_of(const StateDict& state) {
  StateDict copy;
  for (const auto& item : state) {
    copy.insert(item.key(), item.value().clone());
  }
  return copy;
}

} // namespace

TEST_CASE("a state has Python's names in Python's order", "[serialize][state]") {
  Net net;
  const StateDict state = torch::state_dict(net);
  CHECK(
      state.keys() ==
      std::vector<std::string>{
          "scale", "layers.0.weight", "layers.0.bias", "layers.1.weight", "layers.1.bias", "layers.1.running_mean",
          "layers.1.running_var", "layers.1.num_batches_tracked"});
  CHECK(state["scale"].is_alias_of(net->scale));
  CHECK_FALSE(state["scale"].requires_grad());
}

TEST_CASE("a state goes into another module, converted to its dtype", "[serialize][state]") {
  Net from, to;
  to->to(torch::kDouble);
  const Tensor weight = to->scale;
  torch::NoGradGuard no_grad;
  from->scale.fill_(3);
  CHECK(torch::load_state_dict(to, torch::state_dict(*from)).ok());
  CHECK_THAT(to->scale, EqualsTensor({3.0, 3.0}));
  CHECK(to->scale.scalar_type() == torch::kDouble);
  CHECK(to->scale.is_same(weight));
}

TEST_CASE("what does not fit is reported by name and nothing is changed", "[serialize][state][errors]") {
  Net net;
  const StateDict before = copy_of(torch::state_dict(net));
  StateDict state = copy_of(before);
  state["scale"].fill_(9);
  state.erase("layers.0.bias");
  state.insert("layers.2.weight", torch::ones({1}));
  state["layers.1.weight"] = torch::ones({3});
  state["layers.1.bias"] = torch::ones({2}, torch::kComplexFloat);
  state["layers.1.running_mean"] = torch::ones({2}).to_sparse();
  state["layers.1.running_var"] = Tensor();
  CHECK_THROWS_MATCHES(
      torch::load_state_dict(net, state), c10::Error,
      Says("Error(s) in loading state_dict for") && Says("Missing key(s) in state_dict: \"layers.0.bias\".") &&
          Says("Unexpected key(s) in state_dict: \"layers.2.weight\".") &&
          Says("size mismatch for layers.1.weight: copying a param with shape [3] from checkpoint, the shape in "
               "current model is [2]."));
  CHECK(same_state(torch::state_dict(net), before));

  const torch::LoadReport report = torch::load_state_dict(*net, state, /*strict=*/false);
  CHECK_FALSE(report.ok());
  CHECK(report.missing == std::vector<std::string>{"layers.0.bias"});
  CHECK(report.unexpected == std::vector<std::string>{"layers.2.weight"});
  CHECK(report.mismatched.size() == 4);
  CHECK_THAT(net->scale.detach(), EqualsTensor({9, 9}));
  CHECK(same_bits(torch::state_dict(net)["layers.1.weight"], before["layers.1.weight"]));
  CHECK(torch::LoadReport().ok());
  CHECK(torch::LoadReport().text().empty());
}

TEST_CASE("names that differ by a prefix are pointed out", "[serialize][state][errors]") {
  nn::Linear layer(2, 2);
  StateDict state;
  for (const auto& item : torch::state_dict(layer)) {
    state.insert("module." + item.key(), item.value());
  }
  CHECK_THROWS_MATCHES(
      torch::load_state_dict(layer, state), c10::Error, Says("The names in the dictionary begin with \"module.\""));
  nn::Sequential sequence(layer);
  CHECK_THROWS_MATCHES(
      torch::load_state_dict(sequence, torch::state_dict(layer)), c10::Error,
      Says("The names of the module begin with \"0.\""));
}

TEST_CASE("the state of old weight_norm goes into the parametrization", "[serialize][state]") {
  const auto old = nn::utils::weight_norm(nn::Linear(3, 2));
  const auto fresh = nn::utils::parametrizations::weight_norm(nn::Linear(3, 2));
  nn::Sequential from(old), to(fresh);
  CHECK(torch::load_state_dict(to, torch::state_dict(from)).ok());
  const Tensor x = torch::rand({1, 3});
  CHECK(at::allclose(from->forward(x), to->forward(x)));
  CHECK(torch::load_state_dict(to, torch::state_dict(to)).ok());
}

TEST_CASE("states are written to files and read from them", "[serialize][state]") {
  const Folder folder;
  Net net;
  net->layers->to(torch::kHalf);
  for (const char* name : {"state.pt", "state.safetensors"}) {
    INFO(name);
    const std::string file = folder.file(name);
    torch::save_state_dict(net, file);
    const StateDict read = torch::read_state_dict(file);
    for (const auto& item : torch::state_dict(net)) {
      CHECK(same_bits(read[item.key()], item.value()));
    }
    Net other;
    other->layers->to(torch::kHalf);
    CHECK(torch::load_state_dict(other, file).ok());
    CHECK(same_state(torch::state_dict(other), torch::state_dict(net)));
  }
  // An archive of torch::save has the same names in nested form.
  torch::save(net, folder.file("archive.pt"));
  Net other;
  other->layers->to(torch::kHalf);
  CHECK(torch::load_state_dict(other, folder.file("archive.pt")).ok());
  CHECK(same_state(torch::state_dict(other), torch::state_dict(net)));
}

TEST_CASE("a state_dict of Python's is loaded", "[serialize][state]") {
  nn::Sequential model(nn::Linear(3, 2), nn::BatchNorm1d(2));
  CHECK(torch::load_state_dict(model, data_file("state_dict.pt")).ok());
  const IValue stored = load_pickle(data_file("state_dict.pt"));
  CHECK(same_bits(torch::state_dict(model)["0.weight"], at_key(stored, "0.weight").toTensor()));
}

TEST_CASE("files that hold something else are refused with what they hold", "[serialize][state][errors]") {
  const Folder folder;
  const auto read = [](const std::string& file) { return torch::read_state_dict(file); };
  CHECK_THROWS_MATCHES(
      read(data_file("training.pt")), c10::Error, Says("'SGD' is of type") && Says("The dictionary has SGD, Adam,"));
  CHECK_THROWS_MATCHES(read(folder.file("nothing.pt")), c10::Error, Says("No such file"));
  write_bytes(folder.file("short.pt"), "PK");
  CHECK_THROWS_AS(read(folder.file("short.pt")), c10::Error);
  write_bytes(folder.file("empty"), "");
  CHECK_THROWS_AS(read(folder.file("empty")), c10::Error);
  write_bytes(folder.file("header"), std::string("\xff\xff\xff\xff\xff\xff\xff\x7f{", 9));
  CHECK_THROWS_AS(read(folder.file("header")), c10::Error);
  torch::serialize::save_pickle(IValue(3), folder.file("number.pt"));
  CHECK_THROWS_MATCHES(read(folder.file("number.pt")), c10::Error, Says("Expected state_dict to be dict-like"));
  c10::Dict<int64_t, Tensor> numbered;
  numbered.insert(1, torch::ones({1}));
  CHECK_THROWS_MATCHES(torch::to_state_dict(numbered), c10::Error, Says("has names for keys"));
}

namespace {

using MakeOptimizer = std::function<std::unique_ptr<optim::Optimizer>(std::vector<Tensor>)>;

const std::vector<std::pair<std::string, MakeOptimizer>>& optimizers() {
  using P = std::vector<Tensor>;
  // All options come from the file.
  static const std::vector<std::pair<std::string, MakeOptimizer>> all = {
      {"SGD", [](P p) { return std::make_unique<optim::SGD>(p, optim::SGDOptions(1)); }},
      {"Adam", [](P p) { return std::make_unique<optim::Adam>(p); }},
      {"AdamW", [](P p) { return std::make_unique<optim::AdamW>(p); }},
      {"Adagrad", [](P p) { return std::make_unique<optim::Adagrad>(p); }},
      {"RMSprop", [](P p) { return std::make_unique<optim::RMSprop>(p); }},
      {"Adadelta", [](P p) { return std::make_unique<optim::Adadelta>(p); }},
      {"Adamax", [](P p) { return std::make_unique<optim::Adamax>(p); }},
      {"NAdam", [](P p) { return std::make_unique<optim::NAdam>(p); }},
      {"RAdam", [](P p) { return std::make_unique<optim::RAdam>(p); }},
      {"Rprop", [](P p) { return std::make_unique<optim::Rprop>(p); }},
      {"ASGD", [](P p) { return std::make_unique<optim::ASGD>(p); }},
      {"SparseAdam", [](P p) { return std::make_unique<optim::SparseAdam>(p); }},
  };
  return all;
}

/// The three steps of write_training.py.
void train(nn::Embedding& table, optim::Optimizer& optimizer) {
  for (int64_t i = 0; i < 3; ++i) {
    optimizer.zero_grad();
    (table(torch::tensor({i, int64_t{3}})).square().sum() + table(torch::tensor({int64_t{1}})).cos().sum()).backward();
    optimizer.step();
  }
}

} // namespace

TEST_CASE("training goes on from a checkpoint of Python's", "[serialize][state][optim]") {
  const IValue training = load_pickle(data_file("training.pt"));
  const Folder folder;
  for (const auto& [name, make] : optimizers()) {
    INFO(name);
    const IValue checkpoint = at_key(training, name);
    nn::Embedding table(nn::EmbeddingOptions(4, 2).sparse(name == "SparseAdam"));
    const auto optimizer = make(table->parameters());
    CHECK(torch::load_state_dict(table, torch::to_state_dict(at_key(checkpoint, "model"))).ok());
    optimizer->load_state_dict(at_key(checkpoint, "optimizer"));
    // Once through a file of our own.
    torch::save_state_dict(*optimizer, folder.file("optimizer.pt"));
    nn::Embedding again(nn::EmbeddingOptions(4, 2).sparse(name == "SparseAdam"));
    const auto second = make(again->parameters());
    CHECK(torch::load_state_dict(again, torch::state_dict(table)).ok());
    torch::load_state_dict(*second, folder.file("optimizer.pt"));
    train(table, *optimizer);
    train(again, *second);
    const Tensor after = at_key(at_key(checkpoint, "after"), "weight").toTensor();
    CHECK(at::allclose(table->weight, after, 1e-5, 1e-6));
    CHECK(at::allclose(again->weight, after, 1e-5, 1e-6));
  }
}

TEST_CASE("an optimizer's state that does not fit is refused", "[serialize][state][optim][errors]") {
  const IValue training = load_pickle(data_file("training.pt"));
  const IValue adam = at_key(at_key(training, "Adam"), "optimizer");
  const Tensor small = torch::zeros({2}, torch::requires_grad()), other = torch::zeros({4, 2}, torch::requires_grad());
  optim::Adam two({small, other});
  CHECK_THROWS_MATCHES(two.load_state_dict(adam), c10::Error, Says("doesn't match the size of optimizer's group"));
  CHECK(two.state().empty());
  optim::Adam one({small});
  one.load_state_dict(adam);
  small.mutable_grad() = torch::ones({2});
  CHECK_THROWS_AS(one.step(), c10::Error); // averages of [4, 2] for a parameter of [2]
  CHECK_THROWS_AS(one.load_state_dict(IValue(3)), c10::Error);
  CHECK_THROWS_AS(one.load_state_dict(IValue()), c10::Error);
  CHECK_THROWS_MATCHES(
      one.load_state_dict(at_key(training, "Adam")), c10::Error, Says("expected the keys state and param_groups"));
}
