// Brings the tensors of a checkpoint into a decoder: the names of all families.
#pragma once

#include <csrc/llm/decoder.h>

#include <optional>
#include <string>

namespace torch::llm {

class WeightLoader {
 public:
  WeightLoader(Decoder& decoder, Checkpoint& checkpoint, const LoadOptions& options);
  /// All weights; throws for what is missing or unexpected.
  void run();

 private:
  struct Names;
  static const Names& names_of(const ModelConfig& config);

  void add_to_hash(const void* data, size_t nbytes);
  at::Tensor take_stored(const std::string& name, at::IntArrayRef shape); // as it is in the file
  at::Tensor take(const std::string& name, at::IntArrayRef shape); // in the dtype of the computation
  void load_embedding(const std::string& name);
  Linear product(const at::Tensor& weight, const at::Tensor& bias, const QuantizeOptions& quantize);
  // The weight in the codes of the file, when that has some and no others are asked for.
  std::optional<Linear> stored_codes(const std::string& name, at::IntArrayRef shape, const at::Tensor& bias);
  Linear counted(Linear linear, const at::Tensor& bias);
  Linear linear(const std::string& name, int64_t in, int64_t out, bool bias);
  NormLayer norm(const std::string& name, int64_t size);
  void load_attention(DecoderLayer& layer, const std::string& prefix);
  void load_mlp(DecoderLayer& layer, const std::string& prefix);
  void load_experts(Experts& experts, const std::string& prefix);
  void load_layer(DecoderLayer& layer, const LayerConfig& config, const std::string& prefix);
  void load_head(const std::string& prefix);

  Decoder& decoder_;
  Checkpoint& checkpoint_;
  const LoadOptions& options_;
  const ModelConfig& config_;
  const Names& names_;
};

} // namespace torch::llm
