#include <test/llm/support.h>

#include <csrc/serialize/safetensors.h>
#include <aten/Functions.h>

namespace test {

std::string model_folder(const std::string& name) {
  return std::string(TEST_LLM_DATA) + "/" + name;
}

const std::vector<std::string>& model_names() {
  static const std::vector<std::string> names{
      "llama", "llama_sharded", "mistral",   "qwen2", "qwen3", "gemma",   "gemma2",    "gemma3",
      "phi3",  "phi3_short",    "phi3_long", "phi",   "gpt2",  "mixtral", "qwen2_moe", "qwen3_moe"};
  return names;
}

std::vector<int64_t> to_vector(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.to(at::kLong).contiguous();
  const int64_t* const data = flat.const_data_ptr<int64_t>();
  return std::vector<int64_t>(data, data + flat.numel());
}

RecordedModel load_recorded(const std::string& name, const torch::llm::LoadOptions& options) {
  const std::string folder = model_folder(name);
  const auto expected = torch::serialize::load_safetensors(folder + "/expected.safetensors").tensors;
  return RecordedModel{
      torch::llm::load(folder, options), to_vector(expected.at("prompt")), expected.at("logits"),
      to_vector(expected.at("greedy"))};
}

double distance(const at::Tensor& a, const at::Tensor& b) {
  return (a - b).abs().max().item<double>();
}

} // namespace test
