// A decoder of any of the families, and how it is loaded.
#pragma once

#include <csrc/llm/cache.h>
#include <csrc/llm/config.h>
#include <csrc/llm/linear.h>
#include <aten/core/Tensor.h>
#include <c10/util/ArrayRef.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace torch::llm {

class Checkpoint;
class Decoder;

/// How a model is loaded.
struct LoadOptions {
  /// What is computed in: float32, bfloat16 or float16. Weights that are not quantized are converted to it. Without it
  /// that of the file, whose weights then stay in its mapped pages, or float32 where they are quantized.
  std::optional<at::ScalarType> dtype = std::nullopt;
  /// Weights of products may be packed in fewer bits, layer by layer while they are loaded.
  QuantizeOptions quantize;
  /// Refuse tensors that the model does not know.
  bool strict = true;
  /// Called after each layer with the share that is loaded, in (0, 1].
  std::function<void(double)> progress = nullptr;
};

/// Which positions of a step give logits.
enum class LogitsOf { Last, All };

/// New tokens of one sequence.
struct SequenceStep {
  c10::ArrayRef<int64_t> tokens; ///< at least one
  KVCache* cache; ///< what came before; the tokens are added to it
  LogitsOf logits = LogitsOf::Last;
  /// Positions that the sequence is known to reach, where later steps feed the rest of a prompt: LongRope chooses its
  /// factors by them.
  int64_t reach = 0;
};

/// A decoder with its weights. It does not change after loading: several threads may use it, each with caches of its
/// own.
class TORCH_API Model {
 public:
  /// Takes the tensors that `config` asks for; see load().
  Model(ModelConfig config, Checkpoint checkpoint, const LoadOptions& options = {});
  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  const ModelConfig& config() const;
  /// What its caches keep; the dtype is what is computed in.
  CacheLayout cache_layout() const;
  KVCache make_cache(const CacheOptions& options = {}) const;
  /// Pages that several caches share, for KVCache(pool). dtype as in CacheOptions.
  std::shared_ptr<PagePool> make_pool(
      int64_t positions, int64_t block_size = 16, std::optional<at::ScalarType> dtype = std::nullopt) const;

  /// Feeds tokens and gives logits, (1, vocab_size) of the last token or (tokens, vocab_size), in float32. Throws for
  /// tokens outside the vocabulary and for sequences longer than the model can place; the cache then stays as it was.
  at::Tensor forward(c10::ArrayRef<int64_t> tokens, KVCache& cache, LogitsOf logits = LogitsOf::Last) const;
  /// The same for several sequences at once, each with its own cache; the rows of logits in their order. When it
  /// throws, all caches are as they were, but for a ring that a prompt longer than its chunk has overwritten: it is
  /// empty.
  at::Tensor forward(c10::ArrayRef<SequenceStep> steps) const;

  /// A short text that differs between models: of sizes and of some weights.
  std::string fingerprint() const;
  /// Bytes of all weights.
  int64_t nbytes() const;
  /// Bytes of the weights of products, which each step reads.
  int64_t nbytes_of_products() const;

 private:
  std::unique_ptr<Decoder> decoder_;
};

/// Reads config.json and the safetensors files of a folder, or a GGUF file. Files are mapped, so weights that are not
/// converted are read when they are used. Weights that are quantized in the file keep their codes unless
/// LoadOptions::quantize asks for others. Throws c10::Error naming what is missing, unexpected, damaged or not
/// supported.
TORCH_API std::shared_ptr<const Model> load(const std::string& path, const LoadOptions& options = {});

} // namespace torch::llm
