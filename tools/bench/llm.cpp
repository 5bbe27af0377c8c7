// Tokens a second of a Llama with random weights: feeding a prompt, and one token after another.
//
//   llm [--dtype f32|bf16|f16] [--weights stored|bf16|int8|int4] [--activations float|int8] [--threads N] [--prompt 64]
//       [--tokens 64] [--rounds 3] [--sequences 1]
//
// The shape is that of tools/bench/llm_peer: 12 layers, hidden size 1024, 16 heads of which 4 have keys, 2816
// inner features, a vocabulary of 32000: 0.2 billion parameters. Prints the best round, and the bytes of weights that
// decoding reads a second.
#include "measure.h"

#include <torch/llm.h>
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <chrono>
#include <map>
#include <string>

namespace {

namespace llm = torch::llm;

llm::ModelConfig shape() {
  return llm::parse_config(
      R"({"model_type": "llama", "vocab_size": 32000, "hidden_size": 1024, "intermediate_size": 2816,
    "num_attention_heads": 16, "num_key_value_heads": 4, "num_hidden_layers": 12, "max_position_embeddings": 4096})");
}

std::map<std::string, at::Tensor> random_weights(const llm::ModelConfig& config, at::ScalarType dtype) {
  std::map<std::string, at::Tensor> tensors;
  const auto add = [&](const std::string& name, at::IntArrayRef sizes) {
    tensors.emplace(name, sizes.size() == 1 ? torch::ones(sizes, dtype) : (torch::randn(sizes) * 0.02).to(dtype));
  };
  const int64_t hidden = config.hidden_size, inner = config.intermediate_size;
  const int64_t keys = config.num_kv_heads * config.head_dim, queries = config.num_heads * config.head_dim;
  add("model.embed_tokens.weight", {config.vocab_size, hidden});
  add("lm_head.weight", {config.vocab_size, hidden});
  add("model.norm.weight", {hidden});
  for (int64_t i = 0; i < config.num_layers(); ++i) {
    const std::string layer = "model.layers." + std::to_string(i) + ".";
    add(layer + "self_attn.q_proj.weight", {queries, hidden});
    add(layer + "self_attn.k_proj.weight", {keys, hidden});
    add(layer + "self_attn.v_proj.weight", {keys, hidden});
    add(layer + "self_attn.o_proj.weight", {hidden, queries});
    add(layer + "mlp.gate_proj.weight", {inner, hidden});
    add(layer + "mlp.up_proj.weight", {inner, hidden});
    add(layer + "mlp.down_proj.weight", {hidden, inner});
    add(layer + "input_layernorm.weight", {hidden});
    add(layer + "post_attention_layernorm.weight", {hidden});
  }
  return tensors;
}

// With one thread its processor time, which other programs do not change.
double seconds_now() {
  if (torch::get_num_threads() > 1) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
  return now() / 1e9;
}

double seconds_of(const std::function<void()>& call) {
  const double start = seconds_now();
  call();
  return seconds_now() - start;
}

class Options {
 public:
  Options(int argc, char** argv) {
    for (int i = 1; i + 1 < argc; i += 2) {
      values_[argv[i]] = argv[i + 1];
    }
  }
  std::string text(const std::string& name, const std::string& fallback) const {
    const auto found = values_.find(name);
    return found == values_.end() ? fallback : found->second;
  }
  int64_t number(const std::string& name, int64_t fallback) const {
    return std::atoll(text(name, std::to_string(fallback)).c_str());
  }

 private:
  std::map<std::string, std::string> values_;
};

at::ScalarType dtype_named(const std::string& name) {
  return name == "bf16" ? torch::kBFloat16 : name == "f16" ? torch::kHalf : torch::kFloat;
}

// One step after another for all sequences; each is a batch of one token of each.
double decode(const llm::Model& model, std::vector<llm::KVCache>& caches, int64_t tokens) {
  return seconds_of([&] {
    const int64_t token = 7;
    for (int64_t i = 0; i < tokens; ++i) {
      std::vector<llm::SequenceStep> steps;
      for (llm::KVCache& cache : caches) {
        steps.push_back({token, &cache});
      }
      model.forward(steps);
    }
  });
}

} // namespace

int main(int argc, char** argv) {
  const Options options(argc, argv);
  torch::set_num_threads(static_cast<int>(options.number("--threads", 1)));
  const llm::ModelConfig config = shape();
  const std::string dtype = options.text("--dtype", "f32");
  llm::LoadOptions load;
  const std::string weights = options.text("--weights", "stored");
  load.quantize.form = weights == "bf16" ? llm::WeightForm::BFloat16
      : weights == "int8"                ? llm::WeightForm::Int8
      : weights == "int4"                ? llm::WeightForm::Int4
                                         : llm::WeightForm::Stored;
  load.quantize.int8_activations = options.text("--activations", "float") == "int8";
  const llm::Model model(config, llm::Checkpoint(random_weights(config, dtype_named(dtype)), "random weights"), load);
  const int64_t prompt = options.number("--prompt", 64), tokens = options.number("--tokens", 64);
  const int64_t sequences = options.number("--sequences", 1);
  std::vector<int64_t> ids(prompt);
  for (int64_t i = 0; i < prompt; ++i) {
    ids[i] = i * 37 % config.vocab_size;
  }
  double best_prefill = 1e9, best_decode = 1e9;
  for (int64_t round = 0; round < options.number("--rounds", 3); ++round) {
    const auto pool = model.make_pool(sequences * (prompt + tokens + 16));
    std::vector<llm::KVCache> caches;
    for (int64_t i = 0; i < sequences; ++i) {
      caches.emplace_back(pool);
      best_prefill = std::min(best_prefill, seconds_of([&] { model.forward(ids, caches.back()); }));
    }
    best_decode = std::min(best_decode, decode(model, caches, tokens));
  }
  const double per_step = best_decode / static_cast<double>(tokens);
  const auto bytes = static_cast<double>(model.nbytes_of_products());
  std::printf(
      "%s, weights %s, activations %s, %lld sequences, %d threads: prefill %.1f tokens/s, decode %.1f tokens/s, %.1f "
      "GB/s of weights\n",
      dtype.c_str(), weights.c_str(), options.text("--activations", "float").c_str(), static_cast<long long>(sequences),
      torch::get_num_threads(), static_cast<double>(prompt) / best_prefill, static_cast<double>(sequences) / per_step,
      bytes / per_step / 1e9);
}
