// Archives of torch.export: read, called, and refused when they are damaged.
#include <catch2/catch.hpp>

#include "test/fx/archive_records.h"

#include <torch/export.h>
#include <torch/torch.h>

#include <fstream>
#include <random>
#include <sstream>

using Catch::Matchers::Contains;

namespace {

std::string bytes_of(const std::string& name) {
  std::ifstream file(std::string(TEST_PROGRAMS_DATA) + "/export/" + name + ".pt2", std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

test::Records records_of_file(const std::string& name) {
  std::istringstream stream(bytes_of(name));
  return test::records_of(stream);
}

torch::ExportedProgram load(const std::string& bytes) {
  return torch::load_program(bytes.data(), bytes.size());
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t place = text.find(from);
  REQUIRE(place != std::string::npos);
  return text.replace(place, from.size(), to);
}

} // namespace

TEST_CASE("A program is read from files, streams and memory, and is a module", "[fx][export]") {
  const std::string path = std::string(TEST_PROGRAMS_DATA) + "/export/cnn.pt2";
  const auto program = torch::load_program(path);
  std::istringstream stream(bytes_of("cnn"));
  const auto again = torch::load_program(stream);
  const auto x = torch::randn({4, 3, 8, 8});
  const auto y = program({x}).toTensor();
  CHECK(y.equal(again({x}).toTensor()));
  CHECK(y.equal(load(bytes_of("cnn"))({x}).toTensor()));
  CHECK(program.forward_arg_names() == std::vector<std::string>{"input"});
  CHECK(program.module().named_parameters().contains("0.weight"));
  CHECK(program.state_dict().count("1.running_mean") == 1);
  CHECK(program.range_constraints().size() == 1);
  CHECK_THAT(program.torch_version(), Contains("2."));
  CHECK_THAT(program.graph().to_string(), Contains("aten::conv2d"));
  program.graph().lint();
  torch::optim::SGD sgd(program.module().parameters(), 0.1);
  y.square().mean().backward();
  sgd.step();
  CHECK_FALSE(program({x}).toTensor().equal(y));
}

TEST_CASE("Arguments of other shapes are refused", "[fx][export]") {
  const auto program = load(bytes_of("cnn"));
  CHECK_THROWS_WITH(program({torch::randn({2, 4, 8, 8})}), Contains(".shape[1] to be equal to 3, but got 4"));
  CHECK_THROWS_WITH(program({torch::randn({65, 3, 8, 8})}), Contains("must lie in"));
  CHECK_THROWS_WITH(program({torch::randn({3, 8, 8})}), Contains("to have 4 dimensions, but got 3"));
  CHECK_THROWS_WITH(program({5}), Contains("to be a tensor, but got Int"));
  CHECK_THROWS_WITH(program({}), Contains("missing a value for argument 'input'"));
  const auto halves = load(bytes_of("dyn_two"));
  CHECK_THROWS_WITH(halves({torch::randn(3), torch::randn(4)}), Contains("Expected input"));
  const auto constants = load(bytes_of("constants_in"));
  CHECK_THROWS_WITH(constants({torch::randn(3), 3, 1.5, true, "mean"}), Contains("to be equal to 2, but got 3"));
  const auto dict = load(bytes_of("dict_in_out"));
  CHECK_THROWS_WITH(dict({torch::randn(3)}), Contains("must be a dict, got a Tensor"));
}

TEST_CASE("Damaged archives are refused", "[fx][export]") {
  CHECK_THROWS_WITH(load("no archive"), Contains("is no archive of an exported program"));
  CHECK_THROWS_AS(torch::load_program("/no/such/file.pt2"), c10::Error);
  const auto records = records_of_file("lstm");
  const auto with = [&](const std::string& name, const std::string& text) {
    auto changed = records;
    changed[name] = text;
    return test::archive_of(changed);
  };
  CHECK_NOTHROW(load(test::archive_of(records)));
  const std::string model = records.at("models/model.json");
  CHECK_THROWS_WITH(load(with("archive_format", "zip")), Contains("is no archive of an exported program"));
  CHECK_THROWS_WITH(load(with("models/model.json", "{")), Contains("models/model.json"));
  CHECK_THROWS_WITH(load(with("models/model.json", std::string(100000, '['))), Contains("nested too deep"));
  CHECK_THROWS_WITH(
      load(with("models/model.json", replaced(model, "\"major\": 8", "\"major\": 9"))), Contains("schema version 9"));
  CHECK_THROWS_WITH(
      load(with("models/model.json", replaced(model, "torch.ops.aten.lstm.input", "torch.ops.mine.lstm.input"))),
      Contains("Failed deserializing node torch.ops.mine.lstm.input"));
  auto without = records;
  without.erase("data/weights/model_weights_config.json");
  CHECK_THROWS_WITH(load(test::archive_of(without)), Contains("not found in PT2 archive"));
  const std::string config = records.at("data/weights/model_weights_config.json");
  CHECK_THROWS_WITH(
      load(
          with("data/weights/model_weights_config.json", replaced(config, "\"as_int\": 24", "\"as_int\": 2400000000"))),
      Contains("do not fit into"));
  CHECK_THROWS_WITH(
      torch::load_program(std::string(TEST_PROGRAMS_DATA) + "/export/cnn.pt2", std::nullopt, "other"),
      Contains("has no program 'other'; it has: model"));
}

TEST_CASE("Archives with changed texts load or are refused", "[fx][export]") {
  std::mt19937 random(11);
  for (const char* const name : {"cond_parameters", "scan_sum", "dict_in_out", "dyn_two", "buffers_decomposed"}) {
    const auto records = records_of_file(name);
    for (int i = 0; i < 150; ++i) {
      auto changed = records;
      for (const char* const record : {"models/model.json", "data/weights/model_weights_config.json"}) {
        std::string& text = changed[record];
        const std::string original = text;
        for (size_t k = 1 + random() % 3; k > 0; --k) {
          const size_t from = random() % original.size(),
                       length = std::min<size_t>(random() % 8, original.size() - from);
          text.replace(random() % text.size(), random() % 4, original.substr(from, length));
        }
      }
      try {
        load(test::archive_of(changed)).graph().lint();
      } catch (const c10::Error&) {
      }
    }
  }
}

TEST_CASE("Programs of older versions are read", "[fx][export]") {
  // What torch.export.save wrote up to 2.7: other names of records, and tensors by torch.save.
  const auto records = records_of_file("tied");
  const auto program = load(bytes_of("tied"));
  c10::Dict<std::string, at::Tensor> state;
  for (const auto& [name, tensor] : program.state_dict()) {
    state.insert(name, tensor.detach());
  }
  const std::vector<char> saved = torch::pickle_save(state);
  auto old = records;
  for (const auto& [name, text] : records) {
    if (name.rfind("data/weights/", 0) == 0 || name.rfind("data/constants/", 0) == 0) {
      old.erase(name);
    }
  }
  old["data/weights/model.pt"] = std::string(saved.begin(), saved.end());
  old["data/constants/model.pt"] = "";
  const auto again = load(test::archive_of(old));
  const auto x = torch::tensor({1, 2, 5});
  CHECK(again({x}).toTensor().equal(program({x}).toTensor()));
  CHECK(again.module().parameters().size() == program.module().parameters().size());
}
