// Files of named tensors, and types as keys.
#include <catch2/catch.hpp>

#include <torch/csrc/jit/ir/type_hashing.h>
#include <torch/csrc/jit/mobile/import_data.h>
#include <torch/csrc/jit/mobile/train/export_data.h>
#include <torch/script.h>

#include <map>
#include <sstream>
#include <string>
#include <unordered_map>

using Catch::Matchers::Contains;

TEST_CASE("Named tensors are written and read back", "[jit][mobile]") {
  const std::map<std::string, at::Tensor> parameters = {
      {"weight", torch::arange(6).reshape({2, 3})}, {"bias", torch::zeros({0}, torch::kHalf)}};
  std::stringstream file;
  torch::jit::_save_parameters(parameters, file);
  const auto loaded = torch::jit::_load_parameters(file);
  REQUIRE(loaded.size() == 2);
  CHECK(loaded.at("weight").equal(parameters.at("weight")));
  CHECK(loaded.at("bias").dtype() == torch::kHalf);
  std::stringstream again(file.str());
  CHECK(torch::jit::_load_parameters(again, torch::kMeta).at("weight").is_meta());
}

TEST_CASE("What is no file of named tensors is refused", "[jit][mobile]") {
  std::stringstream out;
  CHECK_THROWS_WITH(torch::jit::_save_parameters({}, out, /*use_flatbuffer=*/true), Contains("FlatBuffers"));
  std::stringstream text("not an archive");
  CHECK_THROWS_AS(torch::jit::_load_parameters(text), c10::Error);
  const std::vector<char> bytes = torch::pickle_save(c10::IValue(3));
  std::stringstream number(std::string(bytes.begin(), bytes.end()));
  CHECK_THROWS_WITH(torch::jit::_load_parameters(number), Contains("has no Dict[str, Tensor] but a Int"));
  CHECK_THROWS_WITH(torch::jit::_load_parameters("/nonexistent/file"), Contains("cannot read"));
}

TEST_CASE("Types are keys of unordered maps by what they are", "[jit]") {
  std::unordered_map<c10::ConstTypePtr, int, torch::jit::HashType, torch::jit::EqualType> sizes;
  sizes[c10::ListType::create(c10::IntType::get())] = 1;
  sizes[c10::ListType::create(c10::FloatType::get())] = 2;
  CHECK(sizes.size() == 2);
  CHECK(sizes.at(c10::ListType::create(c10::IntType::get())) == 1);
}
