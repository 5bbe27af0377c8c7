#include <csrc/llm/model.h>

#include <csrc/llm/checkpoint.h>
#include <csrc/llm/decoder.h>
#include <csrc/llm/gguf/gguf_model.h>
#include <csrc/llm/quantized_folder.h>
#include <aten/Functions.h>
#include <aten/parallel/Parallel.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>
#include <c10/util/SmallVector.h>

#include <algorithm>
#include <filesystem>
#include <functional>

namespace torch::llm {

namespace {

void check_step(const SequenceStep& step, const ModelConfig& config) {
  TORCH_CHECK(step.cache, "Model: a sequence has no cache");
  TORCH_CHECK(!step.tokens.empty(), "Model: a sequence has no tokens: give at least one");
  for (const int64_t token : step.tokens) {
    TORCH_CHECK(
        token >= 0 && token < config.vocab_size, "Model: token ", token, " is out of range [0, ", config.vocab_size,
        ")");
  }
  const CacheLayout& layout = step.cache->layout();
  bool fits = layout.windows.size() == config.layers.size() && layout.kv_heads == config.num_kv_heads &&
      layout.head_dim == config.head_dim;
  for (size_t i = 0; fits && i < layout.windows.size(); ++i) {
    fits = layout.windows[i] == config.layers[i].window;
  }
  TORCH_CHECK(fits, "Model: the cache was made for another model: use make_cache()");
  const int64_t reached = step.cache->length() + static_cast<int64_t>(step.tokens.size());
  TORCH_CHECK(
      !config.ropes.empty() || reached <= config.max_position, "Model: a sequence of ", reached,
      " tokens is too long: the model has learned ", config.max_position, " positions");
}

// Caches as they were, unless all went well.
class Rollback {
 public:
  explicit Rollback(c10::ArrayRef<SequenceStep> steps) : steps_(steps) {
    for (const SequenceStep& step : steps) {
      lengths_.push_back(step.cache->length());
    }
  }
  ~Rollback() {
    for (size_t i = 0; i < lengths_.size(); ++i) {
      restore(*steps_[i].cache, lengths_[i]);
    }
  }
  void dismiss() {
    lengths_.clear();
  }

 private:
  // A ring that a long prompt has overwritten cannot go back: it is emptied.
  static void restore(KVCache& cache, int64_t length) {
    try {
      cache.truncate(length);
    } catch (const c10::Error&) {
      cache.truncate(0);
    }
  }

  c10::ArrayRef<SequenceStep> steps_;
  c10::SmallVector<int64_t, 32> lengths_;
};

} // namespace

Model::Model(ModelConfig config, Checkpoint checkpoint, const LoadOptions& options)
    : decoder_(std::make_unique<Decoder>(std::move(config), std::move(checkpoint), options)) {}

Model::~Model() = default;

const ModelConfig& Model::config() const {
  return decoder_->config();
}

CacheLayout Model::cache_layout() const {
  CacheLayout layout;
  for (const LayerConfig& layer : config().layers) {
    layout.windows.push_back(layer.window);
  }
  layout.kv_heads = config().num_kv_heads;
  layout.head_dim = config().head_dim;
  layout.dtype = decoder_->dtype();
  return layout;
}

KVCache Model::make_cache(const CacheOptions& options) const {
  return KVCache(cache_layout(), options);
}

std::shared_ptr<PagePool> Model::make_pool(
    int64_t positions, int64_t block_size, std::optional<at::ScalarType> dtype) const {
  TORCH_CHECK(
      positions > 0 && block_size > 0, "make_pool: ", positions, " positions in pages of ", block_size,
      ": both must be positive");
  CacheLayout layout = cache_layout();
  layout.dtype = dtype.value_or(layout.dtype);
  return std::make_shared<PagePool>(layout, at::divup(positions, block_size), block_size);
}

at::Tensor Model::forward(c10::ArrayRef<int64_t> tokens, KVCache& cache, LogitsOf logits) const {
  const SequenceStep step{tokens, &cache, logits};
  return forward(c10::ArrayRef<SequenceStep>(&step, 1));
}

at::Tensor Model::forward(c10::ArrayRef<SequenceStep> steps) const {
  const c10::NoGradGuard no_grad;
  c10::SmallVector<const KVCache*, 32> caches;
  for (const SequenceStep& step : steps) {
    check_step(step, config());
    caches.push_back(step.cache);
  }
  std::sort(caches.begin(), caches.end(), std::less<>());
  TORCH_CHECK(
      std::adjacent_find(caches.begin(), caches.end()) == caches.end(),
      "Model: two sequences of a step have the same cache");
  if (steps.empty()) {
    return at::empty({0, config().vocab_size}, at::TensorOptions(at::kFloat));
  }
  Rollback rollback(steps);
  // A ring takes long prompts in parts; all but the last part go ahead alone.
  c10::SmallVector<SequenceStep, 32> rest;
  for (const SequenceStep& step : steps) {
    rest.push_back(step);
    rest.back().reach = std::max(step.reach, step.cache->length() + static_cast<int64_t>(step.tokens.size()));
    const auto part =
        static_cast<size_t>(std::min<int64_t>(step.cache->max_append(), static_cast<int64_t>(step.tokens.size())));
    TORCH_CHECK(
        step.logits == LogitsOf::Last || step.tokens.size() <= part, "Model: logits of all of ", step.tokens.size(),
        " tokens do not come in one step: this ring takes ", part, " at once (CacheOptions::chunk)");
    while (rest.back().tokens.size() > part) {
      const SequenceStep ahead{rest.back().tokens.slice(0, part), step.cache, LogitsOf::Last, rest.back().reach};
      step.cache->reserve(static_cast<int64_t>(part));
      decoder_->forward(ahead);
      rest.back().tokens = rest.back().tokens.slice(part);
    }
    step.cache->reserve(static_cast<int64_t>(rest.back().tokens.size()));
  }
  at::Tensor logits = decoder_->forward(rest);
  rollback.dismiss();
  return logits;
}

std::string Model::fingerprint() const {
  return decoder_->fingerprint();
}

int64_t Model::nbytes() const {
  return decoder_->nbytes();
}

int64_t Model::nbytes_of_products() const {
  return decoder_->nbytes_of_products();
}

std::shared_ptr<const Model> load(const std::string& path, const LoadOptions& options) {
  if (std::filesystem::is_regular_file(path)) {
    const auto file = std::make_shared<const GgufFile>(GgufFile::open(path));
    return std::make_shared<const Model>(gguf_config(*file), gguf_checkpoint(file), options);
  }
  ModelConfig config = load_config(path);
  Checkpoint checkpoint = Checkpoint::open(path);
  if (config.quantization) {
    join_quantized_weights(checkpoint, *config.quantization);
  }
  return std::make_shared<const Model>(std::move(config), std::move(checkpoint), options);
}

} // namespace torch::llm
