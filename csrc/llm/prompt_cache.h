// Caches on disk, so that a long prompt is computed once.
#pragma once

#include <csrc/llm/model.h>

#include <string>
#include <vector>

namespace torch::llm {

/// A cache and the tokens that are in it.
struct PromptCache {
  std::vector<int64_t> tokens;
  KVCache cache;
};

/// Writes a safetensors file with the cache's content and `tokens`, as many as cache.length(). It carries a fingerprint
/// of the model, which load_prompt_cache compares. The file is replaced at once when all is on disk.
TORCH_API void save_prompt_cache(
    const Model& model, const KVCache& cache, c10::ArrayRef<int64_t> tokens, const std::string& filename);

/// Reads such a file into a new cache, whose kind `options` may choose anew; its dtype is that of the file. Throws for
/// files of another model, of another dtype than `options` gives, and for damaged ones; a file of a ring goes only into
/// a ring with the same or a smaller chunk.
TORCH_API PromptCache load_prompt_cache(const Model& model, const std::string& filename, CacheOptions options = {});

} // namespace torch::llm
