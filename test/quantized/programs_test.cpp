// Programs with quantized modules, which PyTorch wrote (tools/peer/quantized_fixtures), and quantized tensors in files.
#include <catch2/catch.hpp>

#include <csrc/serialize/pickle_file.h>
#include <torch/script.h>
#include <torch/torch.h>

#include <sstream>
#include <string>
#include <vector>

using at::Tensor;
using Catch::Contains;

namespace {

std::string path(const std::string& name) {
  return std::string(TEST_QUANTIZED_DATA) + "/" + name;
}

Tensor recorded(const std::string& name) {
  static const auto calls = torch::serialize::load_pickle(path("calls.pt")).toGenericDict();
  return calls.at(name).toTensor();
}

} // namespace

TEST_CASE("statically quantized programs compute PyTorch's bits", "[quantized]") {
  const std::string name = GENERATE("convolutions", "residual", "signals");
  auto program = torch::jit::load(path(name + ".pt"));
  const Tensor y = program.forward({recorded(name + ".input")}).toTensor();
  CHECK(at::equal(y, recorded(name + ".output")));
}

TEST_CASE("dynamically quantized programs compute what PyTorch does", "[quantized]") {
  const std::string name = GENERATE("dynamic", "frozen", "recurrent");
  auto program = torch::jit::load(path(name + ".pt"));
  const Tensor y = program.forward({recorded(name + ".input")}).toTensor();
  CHECK(at::allclose(y, recorded(name + ".output"), 1e-6, 1e-6));
}

TEST_CASE("programs with quantized embeddings compute what PyTorch does, also saved and loaded again", "[quantized]") {
  auto program = torch::jit::load(path("tables.pt"));
  const std::vector<c10::IValue> inputs{recorded("tables.input"), recorded("tables.offsets")};
  CHECK(at::allclose(program.forward(inputs).toTensor(), recorded("tables.output"), 1e-6, 1e-6));
  std::stringstream file;
  program.save(file);
  CHECK(at::equal(torch::jit::load(file).forward(inputs).toTensor(), program.forward(inputs).toTensor()));
}

TEST_CASE("quantized programs are saved and loaded again", "[quantized]") {
  const std::string name = GENERATE("convolutions", "residual", "dynamic", "frozen", "signals", "recurrent");
  auto program = torch::jit::load(path(name + ".pt"));
  std::stringstream file;
  program.save(file);
  auto again = torch::jit::load(file);
  const Tensor x = recorded(name + ".input");
  CHECK(at::equal(again.forward({x}).toTensor(), program.forward({x}).toTensor()));
}

TEST_CASE("quantized tensors come from Python's files", "[quantized]") {
  const Tensor channels = recorded("channels"), whole = recorded("whole");
  REQUIRE(channels.is_quantized());
  CHECK(channels.scalar_type() == at::kQInt8);
  CHECK(at::qscheme(channels) == at::kPerChannelAffine);
  CHECK(at::equal(at::q_per_channel_zero_points(channels), torch::tensor({1, 2, 3}, at::kLong)));
  CHECK(at::allclose(at::dequantize(channels), recorded("channels.numbers")));
  CHECK(at::q_scale(whole) == Approx(0.1));
  CHECK(at::equal(at::dequantize(whole), recorded("whole.numbers")));
}

TEST_CASE("quantized tensors are viewed, copied and compared", "[quantized]") {
  const Tensor x = torch::randn({2, 3, 4}), q = at::quantize_per_tensor(x, 0.05, 10, at::kQUInt8);
  const auto same = [&](const Tensor& view, const Tensor& expected) {
    CHECK(at::q_zero_point(view) == 10);
    CHECK(at::equal(at::dequantize(view), expected));
  };
  const Tensor numbers = at::dequantize(q);
  same(q.view({6, 4}), numbers.view({6, 4}));
  same(q.reshape({4, 6}), numbers.reshape({4, 6}));
  same(q.flatten(1), numbers.flatten(1));
  same(q.permute({2, 0, 1}), numbers.permute({2, 0, 1}));
  same(q.permute({2, 0, 1}).contiguous(), numbers.permute({2, 0, 1}));
  same(q.select(1, 2), numbers.select(1, 2));
  same(q.slice(2, 1, 3), numbers.slice(2, 1, 3));
  same(q.unsqueeze(0).squeeze(0), numbers);
  same(q.clone(), numbers);
  CHECK(at::equal(q, q.clone()));
  Tensor copy = q.clone();
  copy.select(0, 1).copy_(torch::zeros({3, 4}));
  CHECK(!at::equal(q, copy));
  CHECK(at::dequantize(copy).select(0, 1).abs().sum().item<float>() == 0);
  CHECK(q.clone().data_ptr() != q.data_ptr());
  CHECK(q.view({24}).data_ptr() == q.data_ptr());
}

TEST_CASE("operators on quantized tensors keep scale and zero point", "[quantized]") {
  torch::manual_seed(1);
  const Tensor q = at::quantize_per_tensor(torch::randn({1, 2, 6, 6}), 0.05, 100, at::kQUInt8), x = at::dequantize(q);
  CHECK(at::equal(at::dequantize(at::relu(q)), at::relu(x)));
  CHECK(at::allclose(at::dequantize(at::clamp(q, -0.5, 0.5)), at::clamp(x, -0.5, 0.5)));
  CHECK(at::equal(at::dequantize(at::max_pool2d(q, {2, 2})), at::max_pool2d(x, {2, 2})));
  CHECK((at::dequantize(at::avg_pool2d(q, {2, 2})) - at::avg_pool2d(x, {2, 2})).abs().max().item<float>() <= 0.0251f);
  CHECK(
      (at::dequantize(at::adaptive_avg_pool2d(q, {1, 1})) - at::adaptive_avg_pool2d(x, {1, 1}))
          .abs()
          .max()
          .item<float>() <= 0.0251f);
  CHECK(at::equal(at::dequantize(at::cat({q, q}, 1)), at::cat({x, x}, 1)));
}
