// Folders that are quantized already (tools/peer/quantized_folders).
#include <catch2/catch.hpp>

#include <test/llm/support.h>
#include <aten/Functions.h>
#include <csrc/llm/quantized_folder.h>
#include <csrc/serialize/safetensors.h>

using namespace torch::llm;

namespace {

constexpr const char* kForms[] = {
    "gptq",
    "gptq_order",
    "gptq_8_bits",
    "awq",
    "compressed_packed",
    "compressed_zeros",
    "compressed_int8",
    "compressed_float8"};

at::Tensor all_logits(const test::RecordedModel& recorded) {
  KVCache cache = recorded.model->make_cache();
  return recorded.model->forward(recorded.prompt, cache, LogitsOf::All);
}

Checkpoint checkpoint_with(const std::string& name, const std::string& part, const at::Tensor& tensor) {
  Checkpoint checkpoint = Checkpoint::open(test::model_folder("quantized/" + name));
  std::map<std::string, at::Tensor> tensors;
  for (const std::string& key : checkpoint.names_with_end("")) {
    tensors[key] = checkpoint.remove(key);
  }
  const std::string key = "model.layers.0.self_attn.q_proj." + part;
  if (tensor.defined()) {
    tensors[key] = tensor;
  } else {
    tensors.erase(key);
  }
  return Checkpoint(tensors, "changed");
}

} // namespace

TEST_CASE("a quantized folder gives the logits of the numbers that its codes stand for", "[llm][model]") {
  const std::string name = GENERATE(from_range(std::begin(kForms), std::end(kForms)));
  INFO(name);
  const test::RecordedModel recorded = test::load_recorded("quantized/" + name);
  CHECK(test::distance(all_logits(recorded), recorded.logits) < 1e-4);
  LoadOptions options;
  options.quantize.form = WeightForm::Int8;
  const test::RecordedModel anew = test::load_recorded("quantized/" + name, options);
  CHECK(test::distance(all_logits(anew), recorded.logits) < 0.2);
  // Codes are kept as codes: only what has none is wide.
  const bool is_wide = name == "gptq_order" || name == "compressed_float8";
  const bool is_smaller = recorded.model->nbytes_of_products() < 2 * anew.model->nbytes_of_products();
  CHECK(is_smaller == !is_wide);
}

TEST_CASE("parts of a quantized weight that do not fit each other are refused by name", "[llm][model]") {
  using Catch::Contains;
  const auto refused = [](const std::string& name, const std::string& part, const at::Tensor& tensor) {
    const auto config = load_config(test::model_folder("quantized/" + name));
    Checkpoint checkpoint = checkpoint_with(name, part, tensor);
    return test::message_of([&] { join_quantized_weights(checkpoint, *config.quantization); });
  };
  const auto ints = at::TensorOptions(at::kInt);
  CHECK_THAT(refused("gptq", "qzeros", {}), Contains("q_proj' lacks its part 'qzeros'"));
  CHECK_THAT(refused("gptq", "qzeros", at::zeros({4, 5}, ints)), Contains("'qzeros' of the quantized weight"));
  CHECK_THAT(refused("gptq", "qweight", at::zeros({4, 32})), Contains("must be a matrix of Int"));
  CHECK_THAT(refused("gptq", "qweight", at::zeros({4, 31}, ints)), Contains("'scales'"));
  CHECK_THAT(refused("gptq", "scales", at::zeros({3, 32})), Contains("the others ask for [4, 32]"));
  CHECK_THAT(refused("gptq", "g_idx", at::full({32}, 4, ints)), Contains("must name one of its 4 groups"));
  CHECK_THAT(refused("gptq", "g_idx", at::zeros({31}, ints)), Contains("'g_idx'"));
  CHECK_THAT(refused("awq", "qweight", at::zeros({32}, ints)), Contains("must be a matrix"));
  CHECK_THAT(refused("compressed_packed", "weight_scale", at::zeros({32, 3})), Contains("'weight_scale'"));
  CHECK_THAT(
      refused("compressed_packed", "weight_shape", at::full({2}, int64_t{1} << 40, at::TensorOptions(at::kLong))),
      Contains("weight_shape"));
  CHECK_THAT(
      refused("compressed_zeros", "weight_zero_point", at::zeros({3, 4}, ints)), Contains("'weight_zero_point'"));
  CHECK_THAT(refused("compressed_packed", "weight_g_idx", at::zeros({32}, ints)), Contains("not supported"));
  CHECK_THAT(refused("compressed_int8", "weight", at::zeros({32, 32})), Contains("matrix of Char"));
}
