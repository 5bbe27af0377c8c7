#include <csrc/llm/weight_loader.h>

#include <aten/Functions.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <array>

namespace torch::llm {

// Empty names stand for what a family does not have.
struct WeightLoader::Names {
  const char* embedding = "embed_tokens";
  const char* positions = "";
  const char* layers = "layers.";
  const char* final_norm = "norm";
  const char* input_norm = "input_layernorm";
  const char* mlp_input_norm = "post_attention_layernorm";
  const char* attention_norm = ""; // of the output of attention
  const char* mlp_norm = "";
  const char* query_norm = "self_attn.q_norm";
  const char* key_norm = "self_attn.k_norm";
  const char* query = "self_attn.q_proj"; // or of the fused product
  const char* key = "self_attn.k_proj";
  const char* value = "self_attn.v_proj";
  const char* output = "self_attn.o_proj";
  const char* gate = "mlp.gate_proj"; // or of the fused product
  const char* up = "mlp.up_proj";
  const char* down = "mlp.down_proj";
};

const WeightLoader::Names& WeightLoader::names_of(const ModelConfig& config) {
  static const Names kUsual;
  static const Names kFourNorms = [] {
    Names names;
    names.attention_norm = "post_attention_layernorm";
    names.mlp_input_norm = "pre_feedforward_layernorm";
    names.mlp_norm = "post_feedforward_layernorm";
    return names;
  }();
  static const Names kPhi3 = [] {
    Names names;
    names.query = "self_attn.qkv_proj";
    names.gate = "mlp.gate_up_proj";
    return names;
  }();
  static const Names kPhi = [] {
    Names names;
    names.final_norm = "final_layernorm";
    names.query_norm = "self_attn.q_layernorm";
    names.key_norm = "self_attn.k_layernorm";
    names.output = "self_attn.dense";
    names.up = "mlp.fc1";
    names.down = "mlp.fc2";
    return names;
  }();
  static const Names kGpt2 = [] {
    Names names;
    names.embedding = "wte";
    names.positions = "wpe";
    names.layers = "h.";
    names.final_norm = "ln_f";
    names.input_norm = "ln_1";
    names.mlp_input_norm = "ln_2";
    names.query = "attn.c_attn";
    names.output = "attn.c_proj";
    names.up = "mlp.c_fc";
    names.down = "mlp.c_proj";
    return names;
  }();
  return config.model_type == "gpt2" ? kGpt2
      : config.model_type == "phi"   ? kPhi
      : config.model_type == "phi3"  ? kPhi3
      : config.post_norms            ? kFourNorms
                                     : kUsual;
}

WeightLoader::WeightLoader(Decoder& decoder, Checkpoint& checkpoint, const LoadOptions& options)
    : decoder_(decoder),
      checkpoint_(checkpoint),
      options_(options),
      config_(decoder.config_),
      names_(names_of(decoder.config_)) {}

// A few bytes from the middle, one page of a mapped file: every fine-tuned weight differs there.
void WeightLoader::add_to_hash(const void* data, size_t nbytes) {
  constexpr size_t kBytes = 64;
  const size_t begin = nbytes / 2, end = std::min(nbytes, begin + kBytes);
  const auto* const bytes = static_cast<const uint8_t*>(data);
  for (size_t i = begin; i < end; ++i) {
    decoder_.weights_hash_ = (decoder_.weights_hash_ ^ bytes[i]) * 0x100000001b3;
  }
}

at::Tensor WeightLoader::take_stored(const std::string& name, at::IntArrayRef shape) {
  const at::Tensor tensor = checkpoint_.take(name, shape);
  if (!tensor.defined()) {
    // finish() will throw; until then something has to stand here.
    return at::zeros({}, at::TensorOptions(at::kFloat)).expand(shape);
  }
  const bool is_known =
      tensor.scalar_type() == at::kFloat || tensor.scalar_type() == at::kBFloat16 || tensor.scalar_type() == at::kHalf;
  TORCH_CHECK(
      is_known || options_.dtype, "tensor '", name, "' has dtype ", tensor.scalar_type(),
      ": float32, bfloat16 and float16 are computed in; choose one with LoadOptions::dtype");
  add_to_hash(tensor.const_data_ptr(), tensor.nbytes());
  return tensor;
}

at::Tensor WeightLoader::take(const std::string& name, at::IntArrayRef shape) {
  const at::Tensor tensor = take_stored(name, shape).to(decoder_.dtype_);
  decoder_.nbytes_ += static_cast<int64_t>(tensor.nbytes());
  return tensor;
}

// The embedding decides what is computed in. When weights are quantized it stays as it is: rows are converted.
void WeightLoader::load_embedding(const std::string& name) {
  at::Tensor& embedding = decoder_.embedding_;
  embedding = take_stored(name, {config_.vocab_size, config_.hidden_size});
  const bool is_quantized = options_.quantize.form != WeightForm::Stored;
  decoder_.dtype_ = options_.dtype.value_or(is_quantized ? at::kFloat : embedding.scalar_type());
  if (!is_quantized) {
    embedding = embedding.to(decoder_.dtype_);
  }
  decoder_.nbytes_ += static_cast<int64_t>(embedding.nbytes());
}

Linear WeightLoader::counted(Linear linear, const at::Tensor& bias) {
  decoder_.nbytes_ +=
      linear.nbytes() - (bias.defined() ? static_cast<int64_t>(bias.nbytes()) : 0); // which take() counts
  return linear;
}

Linear WeightLoader::product(const at::Tensor& weight, const at::Tensor& bias, const QuantizeOptions& quantize) {
  const bool is_quantized = quantize.form != WeightForm::Stored;
  return counted(Linear(is_quantized ? weight : weight.to(decoder_.dtype_), bias, quantize), bias);
}

std::optional<Linear> WeightLoader::stored_codes(
    const std::string& name, at::IntArrayRef shape, const at::Tensor& bias) {
  if (options_.quantize.form != WeightForm::Stored || config_.transposed_weights) {
    return std::nullopt;
  }
  const at::quantized::PackedWeight packed = checkpoint_.take_packed(name, shape);
  if (!packed.defined()) {
    return std::nullopt;
  }
  const auto lines = static_cast<size_t>(packed.view().panels() * packed.view().panel_bytes());
  add_to_hash(packed.view().lines, lines);
  return counted(Linear(packed, bias, options_.quantize.int8_activations), bias);
}

Linear WeightLoader::linear(const std::string& name, int64_t in, int64_t out, bool has_bias) {
  const at::Tensor bias = has_bias ? take(name + ".bias", {out}) : at::Tensor();
  if (const std::optional<Linear> codes = stored_codes(name + ".weight", {out, in}, bias)) {
    return *codes;
  }
  const at::Tensor weight = config_.transposed_weights ? take_stored(name + ".weight", {in, out}).t()
                                                       : take_stored(name + ".weight", {out, in});
  return product(weight, bias, options_.quantize);
}

NormLayer WeightLoader::norm(const std::string& name, int64_t size) {
  const at::Tensor weight = take(name + ".weight", {size});
  return NormLayer(
      config_.norm, config_.norm_eps, weight,
      config_.norm == Norm::Layer ? take(name + ".bias", {size}) : at::Tensor());
}

void WeightLoader::load_attention(DecoderLayer& layer, const std::string& prefix) {
  const int64_t hidden = config_.hidden_size;
  const int64_t queries = config_.num_heads * config_.head_dim, keys = config_.num_kv_heads * config_.head_dim;
  if (config_.fused_qkv) {
    layer.query = linear(prefix + names_.query, hidden, queries + 2 * keys, config_.qkv_bias);
  } else {
    layer.query = linear(prefix + names_.query, hidden, queries, config_.qkv_bias);
    layer.key = linear(prefix + names_.key, hidden, keys, config_.qkv_bias);
    layer.value = linear(prefix + names_.value, hidden, keys, config_.qkv_bias);
  }
  layer.output = linear(prefix + names_.output, queries, hidden, config_.output_bias);
  if (config_.qk_norm) {
    layer.query_norm = norm(prefix + names_.query_norm, config_.head_dim);
    layer.key_norm = norm(prefix + names_.key_norm, config_.head_dim);
  }
}

void WeightLoader::load_mlp(DecoderLayer& layer, const std::string& prefix) {
  const int64_t hidden = config_.hidden_size, inner = config_.intermediate_size;
  if (config_.fused_gate_up) {
    layer.gate = linear(prefix + names_.gate, hidden, 2 * inner, config_.mlp_bias);
  } else {
    if (config_.gated_mlp) {
      layer.gate = linear(prefix + names_.gate, hidden, inner, config_.mlp_bias);
    }
    layer.up = linear(prefix + names_.up, hidden, inner, config_.mlp_bias);
  }
  layer.down = linear(prefix + names_.down, inner, hidden, config_.mlp_bias);
}

void WeightLoader::load_experts(Experts& experts, const std::string& prefix) {
  const MoeConfig& moe = config_.moe;
  const bool is_mixtral = config_.model_type == "mixtral";
  const std::string block = prefix + (is_mixtral ? "block_sparse_moe." : "mlp.");
  const auto network = [&](const std::string& name, int64_t inner, std::array<const char*, 3> parts) {
    return GatedNetwork{
        linear(name + parts[0], config_.hidden_size, inner, false),
        linear(name + parts[1], config_.hidden_size, inner, false),
        linear(name + parts[2], inner, config_.hidden_size, false)};
  };
  constexpr std::array<const char*, 3> kUsual{"gate_proj", "up_proj", "down_proj"}, kMixtral{"w1", "w3", "w2"};
  // As it is stored: what it decides turns on small differences.
  experts.router =
      product(take_stored(block + "gate.weight", {moe.experts, config_.hidden_size}), {}, QuantizeOptions{});
  for (int64_t i = 0; i < moe.experts; ++i) {
    experts.networks.push_back(
        network(block + "experts." + std::to_string(i) + ".", moe.intermediate_size, is_mixtral ? kMixtral : kUsual));
  }
  experts.has_shared = moe.shared_size > 0;
  if (experts.has_shared) {
    experts.shared = network(block + "shared_expert.", moe.shared_size, kUsual);
    experts.shared_gate =
        product(take_stored(block + "shared_expert_gate.weight", {1, config_.hidden_size}), {}, QuantizeOptions{});
  }
}

void WeightLoader::load_layer(DecoderLayer& layer, const LayerConfig& config, const std::string& prefix) {
  const int64_t hidden = config_.hidden_size;
  layer.input_norm = norm(prefix + names_.input_norm, hidden);
  if (!config_.parallel_block) {
    layer.mlp_input_norm = norm(prefix + names_.mlp_input_norm, hidden);
  }
  if (config_.post_norms) {
    layer.attention_norm = norm(prefix + names_.attention_norm, hidden);
    layer.mlp_norm = norm(prefix + names_.mlp_norm, hidden);
  }
  load_attention(layer, prefix);
  if (config.has_experts) {
    load_experts(layer.experts, prefix);
  } else {
    load_mlp(layer, prefix);
  }
}

void WeightLoader::load_head(const std::string& prefix) {
  QuantizeOptions quantize = options_.quantize;
  if (quantize.form == WeightForm::Int4) {
    quantize.form = WeightForm::Int8; // errors of logits are seen at once
  }
  const std::vector<int64_t> shape{config_.vocab_size, config_.hidden_size};
  if (config_.tied_embeddings) {
    if (const std::optional<Linear> codes =
            stored_codes(prefix + names_.embedding + std::string(".weight"), shape, {})) {
      decoder_.head_ = *codes;
      return;
    }
    const bool is_shared = quantize.form == WeightForm::Stored;
    decoder_.head_ = is_shared ? Linear(decoder_.embedding_, {}) : product(decoder_.embedding_, {}, quantize);
    return;
  }
  // Beside the body's tensors, whose prefix ends with "model.".
  const size_t body = prefix.rfind("model.");
  const std::string name = (body == std::string::npos ? prefix : prefix.substr(0, body)) + "lm_head";
  const at::Tensor bias = config_.head_bias ? take(name + ".bias", {config_.vocab_size}) : at::Tensor();
  const std::optional<Linear> codes = stored_codes(name + ".weight", shape, bias);
  decoder_.head_ = codes ? *codes : product(take_stored(name + ".weight", shape), bias, quantize);
}

void WeightLoader::run() {
  const std::string prefix = checkpoint_.prefix_of(names_.embedding + std::string(".weight"));
  load_embedding(prefix + names_.embedding + ".weight");
  if (config_.ropes.empty()) {
    decoder_.position_embedding_ =
        take(prefix + names_.positions + ".weight", {config_.max_position, config_.hidden_size});
  }
  decoder_.layers_.resize(config_.layers.size());
  for (size_t i = 0; i < decoder_.layers_.size(); ++i) {
    load_layer(decoder_.layers_[i], config_.layers[i], prefix + names_.layers + std::to_string(i) + ".");
    if (options_.progress) {
      options_.progress(static_cast<double>(i + 1) / static_cast<double>(decoder_.layers_.size()));
    }
  }
  decoder_.final_norm_ = norm(prefix + names_.final_norm, config_.hidden_size);
  load_head(prefix);
  // What old files keep beside weights: tables that are computed, masks, and the head that is the embedding.
  for (const char* const end : {"rotary_emb.inv_freq", ".attn.bias", ".attn.masked_bias"}) {
    checkpoint_.ignore(end);
  }
  if (config_.tied_embeddings) {
    checkpoint_.ignore("lm_head.weight");
  }
  // Models that see pictures have parts beside the decoder.
  const bool is_part = prefix.find("language_model.") != std::string::npos;
  checkpoint_.finish(is_part ? prefix : "", options_.strict);
}

} // namespace torch::llm
