// Names and defaults are those of the families' configuration classes in transformers, 4.x and 5.x.
#include <csrc/llm/config.h>

#include <csrc/llm/fields.h>
#include <csrc/llm/quantization_config.h>
#include <csrc/llm/rope_config.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>

namespace torch::llm {

namespace {

using program::Json;

// Larger ones do not exist, and each layer has objects of its own.
constexpr int64_t kMaxLayers = 4096;

Activation activation_named(const std::string& name, const std::string& where) {
  static constexpr std::pair<const char*, Activation> kNames[] = {
      {"silu", Activation::SiLU},         {"swish", Activation::SiLU},
      {"gelu", Activation::GELU},         {"gelu_pytorch_tanh", Activation::GELUTanh},
      {"gelu_new", Activation::GELUTanh}, {"gelu_fast", Activation::GELUTanh},
      {"relu", Activation::ReLU},
  };
  for (const auto& [known, activation] : kNames) {
    if (name == known) {
      return activation;
    }
  }
  TORCH_CHECK(
      false, where, ": activation '", name,
      "' is not supported; supported: silu, swish, gelu, gelu_new, gelu_fast, gelu_pytorch_tanh, relu");
}

void read_tokens(ModelConfig& config, const Fields& fields) {
  const auto token = [&](const Json& value, const char* name) {
    TORCH_CHECK(
        value.is_int() && value.as_int() >= 0, fields.where(), ": '", name,
        "' must be a token, an integer of at least 0, found ", value.to_string().substr(0, 60));
    return value.as_int();
  };
  if (const Json* const bos = fields.find("bos_token_id"); bos && bos->is_int()) {
    config.bos_token = token(*bos, "bos_token_id");
  }
  if (const Json* const eos = fields.find("eos_token_id")) {
    config.eos_tokens.clear();
    for (const Json& item : eos->is_array() ? eos->items() : Json::Array{*eos}) {
      config.eos_tokens.push_back(token(item, "eos_token_id"));
    }
  }
}

// Sizes that config.json may leave out, 0 where it must not: Gemma 3's files do.
struct UsualSizes {
  int64_t vocab_size, num_heads, num_kv_heads, head_dim, max_position;
};

UsualSizes usual_sizes(const std::string& model_type) {
  if (model_type == "gemma3_text") {
    return {262208, 8, 4, 256, 131072};
  }
  return {0, 0, 0, model_type == "gemma" || model_type == "gemma2" ? 256 : 0, 2048};
}

int64_t size_or(const Fields& fields, const char* name, int64_t usual) {
  return usual > 0 ? fields.size(name, usual) : fields.size(name);
}

// Sizes under the names of all families but GPT-2.
void read_sizes(ModelConfig& config, const Fields& fields) {
  const UsualSizes usual = usual_sizes(config.model_type);
  config.vocab_size = size_or(fields, "vocab_size", usual.vocab_size);
  config.hidden_size = fields.size("hidden_size");
  config.intermediate_size = fields.size("intermediate_size");
  config.num_heads = size_or(fields, "num_attention_heads", usual.num_heads);
  config.num_kv_heads =
      fields.size("num_key_value_heads", usual.num_kv_heads > 0 ? usual.num_kv_heads : config.num_heads);
  TORCH_CHECK(
      fields.has("head_dim") || usual.head_dim > 0 || config.hidden_size % config.num_heads == 0, fields.where(),
      ": hidden_size ", config.hidden_size, " must be a multiple of num_attention_heads ", config.num_heads,
      ", or head_dim be given");
  const int64_t share = std::max<int64_t>(1, config.hidden_size / config.num_heads);
  config.head_dim = fields.size("head_dim", usual.head_dim > 0 ? usual.head_dim : share);
  config.max_position = fields.size("max_position_embeddings", usual.max_position);
  config.norm_eps = fields.number("rms_norm_eps", 1e-6);
  config.attention_scale = 1 / std::sqrt(static_cast<double>(config.head_dim));
  config.layers.resize(std::min(fields.size("num_hidden_layers"), kMaxLayers + 1));
  config.tied_embeddings = fields.flag("tie_word_embeddings", false);
}

bool is_sliding(const Json& type, const Fields& fields) {
  TORCH_CHECK(
      type.is_string() && (type.as_string() == "full_attention" || type.as_string() == "sliding_attention"),
      fields.where(), ": layer_types holds ", type.to_string().substr(0, 60),
      "; supported: full_attention, sliding_attention");
  return type.as_string() == "sliding_attention";
}

// `slides(layer)` decides where no layer_types are given.
template <class Slides>
void read_windows(ModelConfig& config, const Fields& fields, int64_t window, const Slides& slides) {
  const Json* const types = fields.find("layer_types");
  TORCH_CHECK(
      !types || (types->is_array() && types->items().size() == config.layers.size()), fields.where(),
      ": layer_types must name a type for each of the ", config.layers.size(), " layers");
  for (size_t i = 0; i < config.layers.size(); ++i) {
    const bool sliding = types ? is_sliding(types->items()[i], fields) : slides(static_cast<int64_t>(i));
    config.layers[i].window = sliding ? window : 0;
  }
}

void read_llama(ModelConfig& config, const Fields& fields) {
  read_sizes(config, fields);
  config.activation = activation_named(fields.text("hidden_act", "silu"), fields.where());
  config.qkv_bias = config.output_bias = fields.flag("attention_bias", false);
  config.mlp_bias = fields.flag("mlp_bias", false);
  config.ropes = {read_rope(fields, config, 10000)};
}

void read_mistral(ModelConfig& config, const Fields& fields) {
  read_llama(config, fields);
  read_windows(config, fields, fields.size("sliding_window", 0), [&](int64_t) { return fields.has("sliding_window"); });
}

void read_qwen(ModelConfig& config, const Fields& fields) {
  read_llama(config, fields);
  const bool is_second = config.model_type == "qwen2" || config.model_type == "qwen2_moe";
  config.qkv_bias = is_second || config.qkv_bias;
  config.output_bias = !is_second && config.output_bias;
  config.qk_norm = !is_second;
  const bool sliding = fields.flag("use_sliding_window", false);
  const int64_t first = fields.find("max_window_layers") && sliding ? fields.find("max_window_layers")->as_int() : 28;
  read_windows(config, fields, sliding ? fields.size("sliding_window", 4096) : 0, [&](int64_t layer) {
    return sliding && layer >= first;
  });
}

void read_gemma(ModelConfig& config, const Fields& fields) {
  read_llama(config, fields);
  config.norm = Norm::RMSPlusOne;
  config.activation = activation_named(fields.text("hidden_activation", "gelu_pytorch_tanh"), fields.where());
  config.tied_embeddings = fields.flag("tie_word_embeddings", true);
  config.embedding_scale = std::sqrt(static_cast<double>(config.hidden_size));
  if (config.model_type == "gemma") {
    return;
  }
  config.post_norms = true;
  const double scalar = fields.number("query_pre_attn_scalar", 256);
  TORCH_CHECK(scalar > 0, fields.where(), ": query_pre_attn_scalar must be positive");
  config.attention_scale = 1 / std::sqrt(scalar);
  const bool is_second = config.model_type == "gemma2";
  config.attention_softcap = fields.number("attn_logit_softcapping", 0);
  config.final_softcap = fields.number("final_logit_softcapping", 0);
  TORCH_CHECK(
      config.attention_softcap >= 0 && config.final_softcap >= 0, fields.where(), ": soft caps must not be negative");
  config.qk_norm = !is_second;
  const int64_t pattern =
      is_second ? 2 : fields.size("sliding_window_pattern", fields.size("_sliding_window_pattern", 6));
  read_windows(
      config, fields, fields.size("sliding_window", 4096), [&](int64_t layer) { return (layer + 1) % pattern != 0; });
  if (!is_second) {
    config.ropes = {read_rope(fields, config, 1000000, "full_attention"), read_local_rope(fields, config)};
    for (LayerConfig& layer : config.layers) {
      layer.rope = layer.window > 0 ? 1 : 0;
    }
  }
}

void read_experts(ModelConfig& config, const Fields& fields) {
  MoeConfig& moe = config.moe;
  const char* const count = fields.has("num_experts") ? "num_experts" : "num_local_experts";
  moe.experts = fields.size(count);
  moe.per_token = fields.size("num_experts_per_tok");
  moe.intermediate_size = fields.size("moe_intermediate_size", config.intermediate_size);
  constexpr int64_t kMost = 1 << 16; // larger ones do not exist, and each has objects of its own
  TORCH_CHECK(
      moe.per_token <= moe.experts, fields.where(), ": num_experts_per_tok ", moe.per_token, " must be at most ", count,
      " ", moe.experts);
  TORCH_CHECK(
      moe.experts * config.num_layers() <= kMost, fields.where(), ": ", moe.experts, " experts in ",
      config.num_layers(), " layers: there may be at most ", kMost);
}

void read_mixtral(ModelConfig& config, const Fields& fields) {
  read_mistral(config, fields);
  config.ropes = {read_rope(fields, config, 1000000)};
  config.norm_eps = fields.number("rms_norm_eps", 1e-5);
  read_experts(config, fields);
  for (LayerConfig& layer : config.layers) {
    layer.has_experts = true;
  }
}

void read_qwen_moe(ModelConfig& config, const Fields& fields) {
  read_qwen(config, fields);
  const bool is_second = config.model_type == "qwen2_moe";
  config.qkv_bias = is_second ? fields.flag("qkv_bias", true) : config.qkv_bias;
  read_experts(config, fields);
  config.moe.normalize = fields.flag("norm_topk_prob", false);
  config.moe.shared_size = is_second ? fields.size("shared_expert_intermediate_size", 5632) : 0;
  const int64_t step = fields.size("decoder_sparse_step", 1);
  for (int64_t i = 0; i < config.num_layers(); ++i) {
    config.layers[i].has_experts = (i + 1) % step == 0;
  }
  if (const Json* const plain = fields.find("mlp_only_layers")) {
    for (const Json& layer : plain->items()) {
      TORCH_CHECK(
          layer.as_int() >= 0 && layer.as_int() < config.num_layers(), fields.where(), ": mlp_only_layers names layer ",
          layer.as_int(), " of ", config.num_layers());
      config.layers[layer.as_int()].has_experts = false;
    }
  }
}

void read_phi3(ModelConfig& config, const Fields& fields) {
  read_llama(config, fields);
  config.fused_qkv = config.fused_gate_up = true;
  read_windows(config, fields, fields.size("sliding_window", 0), [&](int64_t) { return fields.has("sliding_window"); });
}

void read_phi(ModelConfig& config, const Fields& fields) {
  read_sizes(config, fields);
  config.activation = activation_named(fields.text("hidden_act", "gelu_new"), fields.where());
  config.norm = Norm::Layer;
  config.norm_eps = fields.number("layer_norm_eps", 1e-5);
  config.gated_mlp = false;
  config.qkv_bias = config.output_bias = config.mlp_bias = config.head_bias = true;
  config.qk_norm = config.qk_layer_norm = fields.flag("qk_layernorm", false);
  config.parallel_block = true;
  config.ropes = {read_rope(fields, config, 10000, "", 0.5)};
}

void read_gpt2(ModelConfig& config, const Fields& fields) {
  config.vocab_size = fields.size("vocab_size");
  config.hidden_size = fields.size("n_embd");
  config.intermediate_size = fields.size("n_inner", 4 * config.hidden_size);
  config.num_heads = config.num_kv_heads = fields.size("n_head");
  TORCH_CHECK(
      config.hidden_size % config.num_heads == 0, fields.where(), ": n_embd ", config.hidden_size,
      " must be a multiple of n_head ", config.num_heads);
  config.head_dim = config.hidden_size / config.num_heads;
  config.max_position = fields.size("n_positions", 1024);
  config.layers.resize(std::min(fields.size("n_layer"), kMaxLayers + 1));
  config.norm = Norm::Layer;
  config.norm_eps = fields.number("layer_norm_epsilon", 1e-5);
  config.activation = activation_named(fields.text("activation_function", "gelu_new"), fields.where());
  config.gated_mlp = false;
  config.fused_qkv = config.transposed_weights = true;
  config.qkv_bias = config.output_bias = config.mlp_bias = true;
  config.tied_embeddings = fields.flag("tie_word_embeddings", true);
  config.attention_scale =
      fields.flag("scale_attn_weights", true) ? 1 / std::sqrt(static_cast<double>(config.head_dim)) : 1;
  TORCH_CHECK(
      !fields.flag("scale_attn_by_inverse_layer_idx", false) && !fields.flag("add_cross_attention", false),
      fields.where(), ": scale_attn_by_inverse_layer_idx and add_cross_attention are not supported");
}

struct Family {
  const char* model_type;
  void (*read)(ModelConfig&, const Fields&);
};

constexpr Family kFamilies[] = {
    {"llama", read_llama},        {"mistral", read_mistral}, {"qwen2", read_qwen},      {"qwen3", read_qwen},
    {"gemma", read_gemma},        {"gemma2", read_gemma},    {"phi3", read_phi3},       {"phi", read_phi},
    {"gemma3_text", read_gemma},  {"gpt2", read_gpt2},       {"mixtral", read_mixtral}, {"qwen2_moe", read_qwen_moe},
    {"qwen3_moe", read_qwen_moe},
};

const Family& family_named(const std::string& model_type, const std::string& where) {
  std::string known;
  for (const Family& family : kFamilies) {
    if (model_type == family.model_type) {
      return family;
    }
    known += (known.empty() ? "" : ", ") + std::string(family.model_type);
  }
  TORCH_CHECK(false, where, ": model_type '", model_type, "' is not supported; supported: ", known);
}

void check(const ModelConfig& config, const std::string& where) {
  TORCH_CHECK(config.num_layers() <= kMaxLayers, where, ": there may be at most ", kMaxLayers, " layers");
  TORCH_CHECK(
      config.num_heads % config.num_kv_heads == 0, where, ": num_attention_heads ", config.num_heads,
      " must be a multiple of num_key_value_heads ", config.num_kv_heads);
  TORCH_CHECK(config.norm_eps >= 0, where, ": the epsilon of norms must not be negative");
  constexpr int64_t kMaxSize = int64_t{1} << 40;
  TORCH_CHECK(
      config.num_heads * config.head_dim < kMaxSize && config.vocab_size * config.hidden_size < kMaxSize, where,
      ": a product of sizes exceeds 2^40 elements");
}

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  TORCH_CHECK(file, "cannot read ", path, ": a model's folder holds config.json and *.safetensors");
  return std::string(std::istreambuf_iterator<char>(file), {});
}

} // namespace

ModelConfig parse_config(const std::string& json, const std::string& where) {
  const Json whole = Json::parse(json, where);
  const Fields outer(whole, where);
  // Models that see pictures keep the decoder's part apart.
  const Json* const part = outer.find("text_config");
  const Fields fields(part ? *part : whole, part ? where + ", text_config" : where);
  ModelConfig config;
  config.model_type = fields.text("model_type", "");
  const Family& family = family_named(config.model_type, fields.where());
  family.read(config, fields);
  read_tokens(config, outer);
  if (const Json* const quantization = outer.find("quantization_config")) {
    config.quantization = read_stored_quantization(Fields(*quantization, where + ", quantization_config"));
  }
  check(config, fields.where());
  return config;
}

ModelConfig load_config(const std::string& folder) {
  const std::string path = folder + "/config.json", generation = folder + "/generation_config.json";
  ModelConfig config = parse_config(read_text(path), path);
  if (std::ifstream(generation)) {
    const Json json = Json::parse(read_text(generation), generation);
    read_tokens(config, Fields(json, generation));
  }
  return config;
}

} // namespace torch::llm
