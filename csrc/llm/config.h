// What config.json of a model's folder says: the shape of a decoder, whatever its family.
#pragma once

#include <c10/macros/Export.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace torch::program {
class Json;
}

namespace torch::llm {

/// How a block normalizes its input.
enum class Norm {
  RMS, ///< x / rms(x) * weight
  RMSPlusOne, ///< x / rms(x) * (1 + weight), Gemma
  Layer, ///< layer norm with a bias
};

/// What stands between the two products of a feed-forward network.
enum class Activation { SiLU, GELU, GELUTanh, ReLU };

/// How rotary frequencies are stretched for contexts longer than those of training.
enum class RopeScaling { None, Linear, Llama3, Yarn, LongRope };

/// Rotary position embeddings: pairs (i, i + dim / 2) of the first `dim` elements of a head turn by position *
/// frequency.
struct RopeConfig {
  double theta = 10000; ///< frequencies are theta^(-2 i / dim)
  int64_t dim = 0; ///< elements of a head that turn; 0 turns none
  RopeScaling scaling = RopeScaling::None;
  double factor = 1;
  double low_freq_factor = 1; ///< Llama3
  double high_freq_factor = 4; ///< Llama3
  int64_t original_max_position = 0; ///< Llama3, Yarn, LongRope: the context of training
  double beta_fast = 32; ///< Yarn
  double beta_slow = 1; ///< Yarn
  bool truncate = true; ///< Yarn: the bounds of the ramp are whole numbers
  std::vector<double> frequency_factors; ///< frequencies are divided by these, one for each pair; empty: by none
  std::vector<double> long_factors; ///< LongRope: in their place, of sequences that exceed the context of training
  double attention_factor = 1; ///< sines and cosines are multiplied by this
};

/// Mixtures of experts.
struct MoeConfig {
  int64_t experts = 0; ///< of a layer; 0: there are none
  int64_t per_token = 0; ///< that each token takes
  int64_t intermediate_size = 0; ///< of an expert
  int64_t shared_size = 0; ///< intermediate size of the one that all tokens take; 0: there is none
  bool normalize = true; ///< the probabilities of those that are taken add up to one
};

/// What differs between layers.
struct LayerConfig {
  bool has_experts = false; ///< instead of one feed-forward network
  int64_t window = 0; ///< a query sees this many positions, its own included; 0: all before it
  int64_t rope = 0; ///< index into ModelConfig::ropes
};

/// How the weights of products are quantized in a folder: quantization_config of config.json.
struct StoredQuantization {
  enum class Method {
    GPTQ, ///< qweight, qzeros, scales, g_idx
    AWQ, ///< qweight, qzeros, scales, outputs of a word in its own order
    CompressedTensors, ///< weight_packed or weight, weight_scale, weight_zero_point
  };
  Method method = Method::GPTQ;
  int64_t bits = 4; ///< of codes, 8 or 4
  int64_t group_size = 0; ///< inputs that share a scale; 0: all of an output
  bool is_floating = false; ///< CompressedTensors: weights are float8_e4m3fn
  int64_t zero_step = 0; ///< GPTQ: what is stored of zero points is less by this
};

/// A decoder by its parameters.
struct ModelConfig {
  std::string model_type; ///< "llama", "mistral", "qwen2", "qwen3", "gemma", "gemma2", "gemma3_text", "phi3", "phi",
                          ///< "gpt2", "mixtral", "qwen2_moe", "qwen3_moe"
  int64_t vocab_size = 0;
  int64_t hidden_size = 0;
  int64_t intermediate_size = 0;
  int64_t num_heads = 0;
  int64_t num_kv_heads = 0; ///< each serves num_heads / num_kv_heads heads of queries
  int64_t head_dim = 0;
  int64_t max_position = 0; ///< the longest context; with learned positions nothing can be longer
  std::vector<LayerConfig> layers;
  std::vector<RopeConfig> ropes; ///< empty with learned positions

  Norm norm = Norm::RMS;
  double norm_eps = 1e-6;
  Activation activation = Activation::SiLU;
  bool gated_mlp = true; ///< down(activation(gate(x)) * up(x)) rather than down(activation(up(x)))
  bool fused_qkv = false; ///< one weight for queries, keys and values
  bool fused_gate_up = false; ///< one weight for gate and up
  bool transposed_weights = false; ///< weights are stored as (in, out), GPT-2
  bool qkv_bias = false;
  bool output_bias = false; ///< of the product after attention
  bool mlp_bias = false;
  bool head_bias = false; ///< of the product that gives logits
  bool qk_norm = false; ///< queries and keys are normalized, head by head, before they turn
  bool qk_layer_norm = false; ///< the same with a layer norm, Phi
  bool parallel_block = false; ///< attention and feed-forward network read the same normalized input, Phi
  bool post_norms = false; ///< their outputs are normalized too, Gemma 2 and 3
  bool tied_embeddings = false; ///< the output product uses the embedding's weight

  double embedding_scale = 1;
  double attention_scale = 0; ///< of products of queries and keys
  double attention_softcap = 0; ///< cap * tanh(score / cap); 0: none
  double final_softcap = 0; ///< the same for logits

  MoeConfig moe;
  std::optional<StoredQuantization> quantization;
  std::optional<int64_t> bos_token;
  std::vector<int64_t> eos_tokens; ///< generation ends with one of these

  int64_t num_layers() const {
    return static_cast<int64_t>(layers.size());
  }
};

/// Reads the text of a config.json; `where` begins the message of an error. Throws c10::Error for what is no JSON, for
/// families that are not known (it lists those that are), for missing or senseless sizes and for features without an
/// implementation, which it names.
TORCH_API ModelConfig parse_config(const std::string& json, const std::string& where = "config.json");

/// Reads `folder`/config.json, and the stop tokens of generation_config.json where there is one.
TORCH_API ModelConfig load_config(const std::string& folder);

} // namespace torch::llm
