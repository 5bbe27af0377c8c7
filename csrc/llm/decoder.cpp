#include <csrc/llm/decoder.h>

#include <csrc/llm/attention.h>
#include <csrc/llm/batch.h>
#include <csrc/llm/weight_loader.h>
#include <aten/Functions.h>
#include <aten/core/tensor_literal.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>
#include <c10/util/SmallVector.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace torch::llm {

namespace {

using at::Tensor;

} // namespace

NormLayer::NormLayer(Norm kind, double eps, const Tensor& weight, Tensor bias)
    : kind_(kind),
      eps_(eps),
      weight_(kind == Norm::RMSPlusOne ? weight.to(at::kFloat) + 1 : weight),
      bias_(std::move(bias)) {}

Tensor NormLayer::operator()(const Tensor& x) const {
  const int64_t size = weight_.size(0);
  if (kind_ == Norm::Layer) {
    return at::layer_norm(x, {size}, weight_, bias_, eps_);
  }
  // 1 + weight is in float32: in bfloat16 it would lose what training has learned.
  return at::rms_norm(x.to(weight_.scalar_type()), {size}, weight_, eps_).to(x.scalar_type());
}

Decoder::Decoder(ModelConfig config, Checkpoint checkpoint, const LoadOptions& options) : config_(std::move(config)) {
  const c10::NoGradGuard no_grad;
  WeightLoader(*this, checkpoint, options).run();
  for (const RopeConfig& rope : config_.ropes) {
    rotaries_.emplace_back(rope);
  }
  if (config_.embedding_scale != 1) {
    // Rounded to the model's dtype, as it was in training.
    embedding_scale_ =
        at::tensor(std::vector<double>{config_.embedding_scale}, at::TensorOptions(at::kDouble)).to(dtype());
  }
}

std::string Decoder::fingerprint() const {
  return fmt::format(
      "{} {} {}x{} {}x{} {:016x}", config_.model_type, config_.vocab_size, config_.num_layers(), config_.hidden_size,
      config_.num_kv_heads, config_.head_dim, weights_hash_);
}

int64_t Decoder::nbytes_of_products() const {
  int64_t bytes = head_.nbytes();
  for (const DecoderLayer& layer : layers_) {
    for (const Linear* const product : layer.products()) {
      bytes += product->nbytes();
    }
    bytes += layer.experts.nbytes_of_token(config_.moe);
  }
  return bytes;
}

Tensor Decoder::embed(const Batch& batch) const {
  Tensor x = embedding_.index_select(0, batch.tokens).to(dtype_);
  if (embedding_scale_.defined()) {
    x.mul_(embedding_scale_);
  }
  if (position_embedding_.defined()) {
    x.add_(position_embedding_.index_select(0, batch.positions));
  }
  return x;
}

Tensor Decoder::attend(int64_t index, const Tensor& q, const Tensor& k, const Tensor& v, const Batch& batch) const {
  c10::SmallVector<Tensor, 4> parts;
  for (size_t i = 0; i < batch.groups.size(); ++i) {
    const StepGroup& group = batch.groups[i];
    const Places& places = batch.places(i, index);
    LayerBlocks& blocks = group.steps[0]->cache->blocks(index);
    blocks.write(
        places.slots, k.narrow(0, group.first_token, group.tokens), v.narrow(0, group.first_token, group.tokens));
    AttentionOptions options;
    if (blocks.key_scale.defined()) {
      options.key_scales = blocks.key_scale;
      options.value_scales = blocks.value_scale;
    }
    options.scale = config_.attention_scale;
    options.window = config_.layers[index].window;
    options.softcap = config_.attention_softcap;
    parts.push_back(paged_attention(
        q.narrow(0, group.first_token, group.tokens), blocks.key, blocks.value, places.tables, places.lengths,
        places.starts, options));
  }
  return parts.size() == 1 ? parts[0] : at::cat(at::TensorList(parts.data(), parts.size()));
}

Tensor Decoder::attention(int64_t index, const Tensor& x, const Batch& batch) const {
  const DecoderLayer& layer = layers_[index];
  const int64_t heads = config_.num_heads, kv_heads = config_.num_kv_heads, dim = config_.head_dim;
  const int64_t tokens = x.size(0);
  Tensor q = layer.query(x), k, v;
  if (config_.fused_qkv) {
    k = q.narrow(1, heads * dim, kv_heads * dim);
    v = q.narrow(1, (heads + kv_heads) * dim, kv_heads * dim);
    q = q.narrow(1, 0, heads * dim);
  } else {
    k = layer.key(x);
    v = layer.value(x);
  }
  q = q.unflatten(1, {heads, dim});
  k = k.unflatten(1, {kv_heads, dim});
  v = v.unflatten(1, {kv_heads, dim});
  if (layer.query_norm.defined()) {
    q = layer.query_norm(q);
    k = layer.key_norm(k);
  }
  if (!rotaries_.empty()) {
    const int64_t rope = config_.layers[index].rope;
    q = rotaries_[rope].apply(q, batch.turns[rope]);
    k = rotaries_[rope].apply(k, batch.turns[rope]);
  }
  return layer.output(attend(index, q, k, v, batch).view({tokens, heads * dim}));
}

Tensor Decoder::mlp(const DecoderLayer& layer, const Tensor& x) const {
  const Activation activation = config_.activation;
  if (!layer.experts.networks.empty()) {
    return layer.experts(config_.moe, activation, x);
  }
  if (!config_.gated_mlp) {
    return layer.down(activate(activation, layer.up(x)));
  }
  if (config_.fused_gate_up) {
    const Tensor both = layer.gate(x);
    const int64_t inner = config_.intermediate_size;
    return layer.down(activate(activation, both.narrow(1, 0, inner)).mul_(both.narrow(1, inner, inner)));
  }
  return layer.down(activate(activation, layer.gate(x)).mul_(layer.up(x)));
}

Tensor Decoder::logits(const Tensor& x, const Batch& batch) const {
  const bool is_all = batch.wanted.size(0) == x.size(0);
  Tensor out = head_(final_norm_(is_all ? x : x.index_select(0, batch.wanted))).to(at::kFloat);
  if (config_.final_softcap > 0) {
    out = out.div_(config_.final_softcap).tanh_().mul_(config_.final_softcap);
  }
  return out;
}

Tensor Decoder::forward(c10::ArrayRef<SequenceStep> steps) const {
  const Batch batch(steps, config_, rotaries_);
  Tensor x = embed(batch);
  for (int64_t i = 0; i < config_.num_layers(); ++i) {
    const DecoderLayer& layer = layers_[i];
    const Tensor normal = layer.input_norm(x);
    Tensor change = attention(i, normal, batch);
    if (config_.parallel_block) {
      x = x + change.add_(mlp(layer, normal));
      continue;
    }
    x = x + (config_.post_norms ? layer.attention_norm(change) : change);
    change = mlp(layer, layer.mlp_input_norm(x));
    x = x + (config_.post_norms ? layer.mlp_norm(change) : change);
  }
  Tensor out = logits(x, batch);
  for (const SequenceStep& step : steps) {
    step.cache->advance(static_cast<int64_t>(step.tokens.size()));
  }
  return out;
}

} // namespace torch::llm
