// Names and meanings are those of the gguf package (constants.py, tensor_mapping.py) and of llama.cpp's converter.
#include <csrc/llm/gguf/gguf_model.h>

#include <csrc/program/json.h>
#include <aten/Functions.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

namespace torch::llm {

namespace {

using program::Json;

struct Architecture {
  const char* name;
  const char* model_type;
  bool pairs_adjacent; // the rows of a head of queries or keys: 0, dim / 2, 1, dim / 2 + 1, ...
};

constexpr Architecture kArchitectures[] = {
    {"llama", "llama", true},  {"qwen2", "qwen2", false},   {"qwen3", "qwen3", false},
    {"gemma", "gemma", false}, {"gemma2", "gemma2", false}, {"gemma3", "gemma3_text", false},
    {"phi3", "phi3", false},   {"phi2", "phi", false},      {"gpt2", "gpt2", false},
};

const Architecture& architecture_of(const GgufFile& file) {
  const std::string name = file.text("general.architecture", "");
  std::string known;
  for (const Architecture& architecture : kArchitectures) {
    if (name == architecture.name) {
      return architecture;
    }
    known += (known.empty() ? "" : ", ") + std::string(architecture.name);
  }
  TORCH_CHECK(false, "GGUF: general.architecture '", name, "' is not supported; supported: ", known);
}

constexpr const char* kFrequencyFactors = "rope_freqs.weight"; // Llama 3's
constexpr const char* kShortFactors = "rope_factors_short.weight"; // Phi 3's
constexpr const char* kLongFactors = "rope_factors_long.weight";

bool is_rotary(const std::string& name) {
  return name == kFrequencyFactors || name == kShortFactors || name == kLongFactors;
}

// The metadata as the members of a config.json.
class ConfigWriter {
 public:
  explicit ConfigWriter(const GgufFile& file) : file_(file), architecture_(architecture_of(file)) {}

  std::string write() {
    TORCH_CHECK(
        file_.integer(key("expert_count"), 0) == 0, "GGUF: mixtures of experts (", key("expert_count"),
        ") are not supported");
    add("model_type", Json(std::string(architecture_.model_type)));
    const GgufTensor& embedding = file_.tensor_info("token_embd.weight");
    TORCH_CHECK(embedding.sizes.size() == 2, "GGUF: token_embd.weight must be a matrix");
    add("vocab_size", Json(embedding.sizes[0]));
    add("tie_word_embeddings", Json(!file_.has_tensor("output.weight")));
    if (std::string_view(architecture_.name) == "gpt2") {
      add_gpt2();
    } else {
      add_sizes();
      add_rope();
      add_gemma();
    }
    add_tokens();
    return Json(std::move(members_)).to_string();
  }

 private:
  std::string key(const char* name) const {
    return std::string(architecture_.name) + "." + name;
  }
  void add(const char* name, Json value) {
    members_.emplace_back(name, std::move(value));
  }
  double number(const char* name, double fallback) const {
    const std::string whole = key(name);
    const GgufValue* const value = file_.find(whole);
    if (!value) {
      return fallback;
    }
    const double* const number = std::get_if<double>(value);
    TORCH_CHECK(number, "GGUF: '", whole, "' must be a float");
    return *number;
  }
  // Adds what is there.
  void copy_integer(const char* from, const char* name) {
    if (file_.find(key(from))) {
      add(name, Json(file_.integer(key(from), 0)));
    }
  }
  void copy_number(const char* from, const char* name) {
    if (file_.find(key(from))) {
      add(name, Json(number(from, 0)));
    }
  }

  void add_gpt2() {
    copy_integer("embedding_length", "n_embd");
    copy_integer("feed_forward_length", "n_inner");
    copy_integer("attention.head_count", "n_head");
    copy_integer("context_length", "n_positions");
    copy_integer("block_count", "n_layer");
    copy_number("attention.layer_norm_epsilon", "layer_norm_epsilon");
  }

  void add_sizes() {
    copy_integer("embedding_length", "hidden_size");
    copy_integer("feed_forward_length", "intermediate_size");
    copy_integer("attention.head_count", "num_attention_heads");
    copy_integer("attention.head_count_kv", "num_key_value_heads");
    copy_integer("attention.key_length", "head_dim");
    copy_integer("block_count", "num_hidden_layers");
    copy_integer("context_length", "max_position_embeddings");
    copy_number("attention.layer_norm_rms_epsilon", "rms_norm_eps");
    copy_number("attention.layer_norm_epsilon", "layer_norm_eps");
    if (file_.integer(key("attention.sliding_window"), 0) != 0) { // which stands for none
      copy_integer("attention.sliding_window", "sliding_window");
    }
    add("qk_layernorm", Json(file_.has_tensor("blk.0.attn_q_norm.weight"))); // Phi
  }

  int64_t head_dim() const {
    const int64_t heads = std::max<int64_t>(1, file_.integer(key("attention.head_count"), 1));
    return file_.integer(key("attention.key_length"), file_.integer(key("embedding_length"), 0) / heads);
  }

  void add_rope() {
    copy_number("rope.freq_base", "rope_theta");
    copy_number("rope.freq_base_swa", "rope_local_base_freq");
    const int64_t turning = file_.integer(key("rope.dimension_count"), head_dim());
    if (turning != head_dim() && head_dim() > 0) {
      add("partial_rotary_factor", Json(static_cast<double>(turning) / static_cast<double>(head_dim())));
    }
    const std::string type = file_.text(key("rope.scaling.type"), "none");
    if (file_.has_tensor(kLongFactors)) {
      add_longrope();
      return;
    }
    if (type == "none") {
      return;
    }
    Json::Object scaling{{"rope_type", Json(type)}, {"factor", Json(number("rope.scaling.factor", 1))}};
    if (file_.find(key("rope.scaling.original_context_length"))) {
      scaling.emplace_back(
          "original_max_position_embeddings", Json(file_.integer(key("rope.scaling.original_context_length"), 0)));
    }
    for (const auto& [from, name] :
         {std::pair("rope.scaling.yarn_beta_fast", "beta_fast"),
          std::pair("rope.scaling.yarn_beta_slow", "beta_slow")}) {
      if (file_.find(key(from))) {
        scaling.emplace_back(name, Json(number(from, 0)));
      }
    }
    add("rope_scaling", Json(std::move(scaling)));
  }

  Json factors(const char* name) const {
    Json::Array numbers;
    const at::Tensor values = file_.dequantized(name);
    for (int64_t i = 0; i < values.numel(); ++i) {
      numbers.emplace_back(static_cast<double>(values.const_data_ptr<float>()[i]));
    }
    return Json(std::move(numbers));
  }

  // Phi 3's, a set of factors for sequences within the context of training and one for longer ones.
  void add_longrope() {
    Json::Object scaling{
        {"rope_type", Json(std::string("longrope"))},
        {"short_factor", factors(kShortFactors)},
        {"long_factor", factors(kLongFactors)}};
    if (file_.find(key("rope.scaling.attn_factor"))) {
      scaling.emplace_back("attention_factor", Json(number("rope.scaling.attn_factor", 1)));
    }
    add("rope_scaling", Json(std::move(scaling)));
    copy_integer("rope.scaling.original_context_length", "original_max_position_embeddings");
  }

  // Files do not tell what scores are divided by; in all models but the largest it is the size of a head.
  void add_gemma() {
    if (!std::string_view(architecture_.name).starts_with("gemma")) {
      return;
    }
    copy_number("attn_logit_softcapping", "attn_logit_softcapping");
    copy_number("final_logit_softcapping", "final_logit_softcapping");
    const std::string_view name = architecture_.name;
    const int64_t layers = file_.integer(key("block_count"), 0);
    const bool is_largest = (name == "gemma2" && layers == 46) || (name == "gemma3" && layers == 62);
    const int64_t heads = std::max<int64_t>(1, file_.integer(key("attention.head_count"), 1));
    const int64_t scalar = is_largest ? file_.integer(key("embedding_length"), 0) / heads : head_dim();
    add("query_pre_attn_scalar", Json(static_cast<double>(scalar)));
    add_window_pattern();
  }

  // Every which layer has no window, or a flag for each layer.
  void add_window_pattern() {
    const std::string name = key("attention.sliding_window_pattern");
    const GgufValue* const pattern = file_.find(name);
    if (!pattern || std::holds_alternative<int64_t>(*pattern)) {
      copy_integer("attention.sliding_window_pattern", "sliding_window_pattern");
      return;
    }
    Json::Array types;
    for (const int64_t slides : file_.integers(name)) {
      types.emplace_back(std::string(slides != 0 ? "sliding_attention" : "full_attention"));
    }
    add("layer_types", Json(std::move(types)));
  }

  void add_tokens() {
    if (const int64_t bos = file_.integer("tokenizer.ggml.bos_token_id", -1); bos >= 0) {
      add("bos_token_id", Json(bos));
    }
    Json::Array ends;
    for (const char* const name : {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id"}) {
      if (const int64_t end = file_.integer(name, -1); end >= 0) {
        ends.push_back(Json(end));
      }
    }
    add("eos_token_id", Json(std::move(ends)));
  }

  const GgufFile& file_;
  const Architecture& architecture_;
  Json::Object members_;
};

// What Llama 3's frequencies are divided by, as the converter has worked it out.
void read_frequency_factors(ModelConfig& config, const GgufFile& file) {
  if (!file.has_tensor(kFrequencyFactors)) {
    return;
  }
  const at::Tensor factors = file.dequantized(kFrequencyFactors);
  TORCH_CHECK(
      !config.ropes.empty() && factors.numel() == config.ropes[0].dim / 2, "GGUF: rope_freqs.weight has ",
      factors.numel(), " elements: there must be one for each pair that turns");
  const float* const data = factors.const_data_ptr<float>();
  TORCH_CHECK(
      std::all_of(data, data + factors.numel(), [](float factor) { return factor > 0 && std::isfinite(factor); }),
      "GGUF: the elements of rope_freqs.weight must be positive");
  config.ropes[0].frequency_factors.assign(data, data + factors.numel());
}

using Renamed = std::pair<std::string_view, const char*>;

constexpr Renamed kParts[] = {
    {"attn_norm", "input_layernorm"},     {"attn_q", "self_attn.q_proj"},      {"attn_k", "self_attn.k_proj"},
    {"attn_v", "self_attn.v_proj"},       {"attn_qkv", "self_attn.qkv_proj"},  {"attn_output", "self_attn.o_proj"},
    {"attn_q_norm", "self_attn.q_norm"},  {"attn_k_norm", "self_attn.k_norm"}, {"ffn_norm", "post_attention_layernorm"},
    {"ffn_gate", "mlp.gate_proj"},        {"ffn_up", "mlp.up_proj"},           {"ffn_down", "mlp.down_proj"},
    {"token_embd", "model.embed_tokens"}, {"output_norm", "model.norm"},       {"output", "lm_head"},
};
constexpr Renamed kGemmaParts[] = {
    // with four norms a layer
    {"post_attention_norm", "post_attention_layernorm"},
    {"ffn_norm", "pre_feedforward_layernorm"},
    {"post_ffw_norm", "post_feedforward_layernorm"},
};
constexpr Renamed kPhi3Parts[] = {{"ffn_up", "mlp.gate_up_proj"}};
constexpr Renamed kPhiParts[] = {
    {"attn_output", "self_attn.dense"},
    {"attn_q_norm", "self_attn.q_layernorm"},
    {"attn_k_norm", "self_attn.k_layernorm"},
    {"ffn_up", "mlp.fc1"},
    {"ffn_down", "mlp.fc2"},
    {"output_norm", "model.final_layernorm"},
};
constexpr Renamed kGpt2Parts[] = {
    {"attn_norm", "ln_1"}, {"attn_qkv", "attn.c_attn"}, {"attn_output", "attn.c_proj"},
    {"ffn_norm", "ln_2"},  {"ffn_up", "mlp.c_fc"},      {"ffn_down", "mlp.c_proj"},
    {"token_embd", "wte"}, {"position_embd", "wpe"},    {"output_norm", "ln_f"},
};

c10::ArrayRef<Renamed> own_parts(std::string_view architecture) {
  if (architecture == "gemma2" || architecture == "gemma3") {
    return kGemmaParts;
  }
  if (architecture == "phi3") {
    return kPhi3Parts;
  }
  if (architecture == "phi2") {
    return kPhiParts;
  }
  return architecture == "gpt2" ? c10::ArrayRef<Renamed>(kGpt2Parts) : c10::ArrayRef<Renamed>();
}

std::string_view renamed_part(std::string_view part, std::string_view architecture) {
  for (const c10::ArrayRef<Renamed> parts : {own_parts(architecture), c10::ArrayRef<Renamed>(kParts)}) {
    for (const auto& [name, other] : parts) {
      if (name == part) {
        return other;
      }
    }
  }
  return part;
}

// "blk.3.attn_q.weight" -> "model.layers.3.self_attn.q_proj.weight"; what is not known keeps its name.
std::string renamed(const std::string& name, std::string_view architecture) {
  std::string_view part = name;
  std::string begin;
  if (part.starts_with("blk.")) {
    const size_t end = part.find('.', 4);
    if (end == std::string_view::npos) {
      return name;
    }
    begin = (architecture == "gpt2" ? "h." : "model.layers.") + std::string(part.substr(4, end - 3));
    part.remove_prefix(end + 1);
  }
  const size_t dot = std::min(part.rfind('.'), part.size());
  return begin + std::string(renamed_part(part.substr(0, dot), architecture)) + std::string(part.substr(dot));
}

// The heads of queries or keys whose rows were rearranged, 0 for other tensors.
int64_t rearranged_heads(const std::string& name, const GgufFile& file, const Architecture& architecture) {
  if (!architecture.pairs_adjacent) {
    return 0;
  }
  const std::string prefix = std::string(architecture.name) + ".attention.";
  const int64_t heads = file.integer(prefix + "head_count", 0);
  for (const char* const end : {".weight", ".bias"}) {
    if (name.ends_with(std::string(".attn_q") + end)) {
      return heads;
    }
    if (name.ends_with(std::string(".attn_k") + end)) {
      return file.integer(prefix + "head_count_kv", heads);
    }
  }
  return 0;
}

class GgufWeight final : public StoredWeight {
 public:
  GgufWeight(std::shared_ptr<const GgufFile> file, std::string name, int64_t heads)
      : file_(std::move(file)), name_(std::move(name)), heads_(heads) {}

  std::vector<int64_t> sizes() const override {
    return file_->tensor_info(name_).sizes;
  }
  at::Tensor tensor() const override {
    return in_order(file_->is_quantized(name_) ? file_->dequantized(name_) : file_->tensor(name_));
  }
  at::quantized::PackedWeight packed() const override {
    if (!file_->is_quantized(name_) || sizes().size() != 2) {
      return {};
    }
    WeightCodes codes = file_->codes(name_);
    codes.codes = in_order(codes.codes);
    codes.scales = in_order(codes.scales);
    codes.offsets = codes.offsets.defined() ? in_order(codes.offsets) : codes.offsets;
    return codes.pack();
  }

 private:
  // Rows with pairs apart, as rotary embeddings here have them.
  at::Tensor in_order(const at::Tensor& rows) const {
    if (heads_ == 0) {
      return rows;
    }
    const int64_t count = rows.dim() > 0 ? rows.size(0) : 0;
    TORCH_CHECK(
        count % (2 * heads_) == 0, "GGUF: tensor '", name_, "' has ", count, " rows, which are no ", heads_,
        " heads of an even size");
    std::vector<int64_t> sizes = rows.sizes().vec();
    sizes.erase(sizes.begin());
    sizes.insert(sizes.begin(), {heads_, count / heads_ / 2, 2});
    return rows.view(sizes).transpose(1, 2).reshape(rows.sizes());
  }

  std::shared_ptr<const GgufFile> file_;
  std::string name_;
  int64_t heads_;
};

} // namespace

ModelConfig gguf_config(const GgufFile& file) {
  ModelConfig config = parse_config(ConfigWriter(file).write(), "GGUF");
  config.transposed_weights = false;
  config.norm = config.norm == Norm::RMSPlusOne ? Norm::RMS : config.norm; // files hold 1 + weight
  config.qkv_bias = file.has_tensor("blk.0.attn_q.bias") || file.has_tensor("blk.0.attn_qkv.bias");
  config.output_bias = file.has_tensor("blk.0.attn_output.bias");
  config.mlp_bias = file.has_tensor("blk.0.ffn_up.bias");
  config.head_bias = file.has_tensor("output.bias");
  read_frequency_factors(config, file);
  return config;
}

Checkpoint gguf_checkpoint(const std::shared_ptr<const GgufFile>& file) {
  const Architecture& architecture = architecture_of(*file);
  Checkpoint checkpoint({}, "GGUF");
  for (const GgufTensor& tensor : file->tensors()) {
    if (!is_rotary(tensor.name)) {
      checkpoint.add(
          renamed(tensor.name, architecture.name),
          std::make_shared<GgufWeight>(file, tensor.name, rearranged_heads(tensor.name, *file, architecture)));
    }
  }
  return checkpoint;
}

} // namespace torch::llm
