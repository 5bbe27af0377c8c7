// Caches on disk.
#include <catch2/catch.hpp>

#include <test/llm/support.h>
#include <csrc/serialize/safetensors.h>
#include <aten/Functions.h>
#include <c10/util/Exception.h>

#include <cstdio>
#include <unistd.h>

using namespace torch::llm;
using test::load_recorded;

namespace {

// A file that is gone at the end of the case.
struct TemporaryFile {
  std::string path = "/tmp/prompt_cache_test." + std::to_string(getpid()) + ".safetensors";
  ~TemporaryFile() {
    std::remove(path.c_str());
  }
};

CacheOptions options_of(CacheKind kind) {
  CacheOptions options;
  options.kind = kind;
  options.block_size = 4;
  options.chunk = 4;
  return options;
}

void feed(const Model& model, c10::ArrayRef<int64_t> tokens, KVCache& cache) {
  model.forward(tokens, cache);
}

} // namespace

TEST_CASE("a prompt that was saved goes on in any kind of cache", "[llm][prompt_cache]") {
  const std::string name = GENERATE("mistral", "gemma3");
  const CacheKind from = GENERATE(CacheKind::Dense, CacheKind::Paged, CacheKind::Ring);
  const CacheKind to = GENERATE(CacheKind::Dense, CacheKind::Paged, CacheKind::Ring);
  const test::RecordedModel recorded = load_recorded(name);
  const c10::ArrayRef<int64_t> prompt(recorded.prompt), head = prompt.slice(0, 17);
  const TemporaryFile file;
  KVCache cache = recorded.model->make_cache(options_of(from));
  feed(*recorded.model, head, cache);
  save_prompt_cache(*recorded.model, cache, head, file.path);
  if (from == CacheKind::Ring && to != CacheKind::Ring) {
    CHECK_THAT(
        test::message_of([&] { load_prompt_cache(*recorded.model, file.path, options_of(to)); }),
        Catch::Contains("were not kept"));
    return;
  }
  PromptCache loaded = load_prompt_cache(*recorded.model, file.path, options_of(to));
  CHECK(loaded.tokens == head.vec());
  CHECK(loaded.cache.length() == 17);
  const at::Tensor logits = recorded.model->forward(prompt.slice(17, 4), loaded.cache);
  CHECK(test::distance(logits[0], recorded.logits[20]) < 1e-4);
}

TEST_CASE("saved prompts of few bits stay as they were", "[llm][prompt_cache]") {
  const test::RecordedModel recorded = load_recorded("llama");
  const c10::ArrayRef<int64_t> prompt(recorded.prompt), head = prompt.slice(0, 9);
  CacheOptions options;
  options.dtype = GENERATE(values({at::kChar, at::kBFloat16, at::ScalarType::Float8_e4m3fn}));
  const TemporaryFile file;
  KVCache cache = recorded.model->make_cache(options);
  feed(*recorded.model, head, cache);
  save_prompt_cache(*recorded.model, cache, head, file.path);
  PromptCache loaded = load_prompt_cache(*recorded.model, file.path);
  CHECK(loaded.cache.layout().dtype == *options.dtype);
  const at::Tensor wanted = recorded.model->forward(prompt.slice(9, 2), cache);
  CHECK(test::distance(recorded.model->forward(prompt.slice(9, 2), loaded.cache), wanted) == 0);
}

TEST_CASE("prompt caches of other models and damaged ones are refused", "[llm][prompt_cache]") {
  const test::RecordedModel recorded = load_recorded("llama");
  const TemporaryFile file;
  KVCache cache = recorded.model->make_cache();
  feed(*recorded.model, {1, 2, 3}, cache);
  using Catch::Contains;
  CHECK_THAT(
      test::message_of([&] {
        save_prompt_cache(*recorded.model, cache, {1, 2}, file.path);
      }),
      Contains("2 tokens for a cache of 3 positions"));
  save_prompt_cache(*recorded.model, cache, {1, 2, 3}, file.path);
  const auto refusal = [&](const Model& model, const CacheOptions& options = {}) {
    return test::message_of([&] { load_prompt_cache(model, file.path, options); });
  };
  CHECK_THAT(refusal(*load_recorded("llama_sharded").model), Contains("written with another model"));
  CacheOptions options;
  options.dtype = at::kHalf;
  CHECK_THAT(refusal(*recorded.model, options), Contains("the shape or the dtype"));
  const torch::serialize::Safetensors whole = torch::serialize::load_safetensors(file.path);
  const auto without = [&](const std::string& name, const at::Tensor& instead) {
    auto tensors = whole.tensors.copy();
    tensors.erase(name);
    if (instead.defined()) {
      tensors.insert(name, instead);
    }
    torch::serialize::save_safetensors(tensors, file.path, whole.metadata);
    return refusal(*recorded.model);
  };
  CHECK_THAT(without("layer.1.1", {}), Contains("there is no tensor 'layer.1.1'"));
  CHECK_THAT(without("layer.1.0", at::zeros({3, 2, 5})), Contains("'layer.1.0' does not have the shape"));
  CHECK_THAT(without("layer.0.1", at::zeros({2, 2, 6})), Contains("'layer.0.1' does not have the shape"));
  CHECK_THAT(without("tokens", at::full({3}, 99, at::TensorOptions(at::kLong))), Contains("token 99 is not"));
  CHECK_THAT(without("tokens", at::zeros({3})), Contains("'tokens' must be"));
  CHECK_THAT(
      test::message_of([&] { load_prompt_cache(*recorded.model, test::model_folder("llama/model.safetensors")); }),
      Contains("no prompt cache"));
}
