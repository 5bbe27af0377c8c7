// Caches: forks, truncation, sharing of pages, dtypes, and running out of pages.
#include <catch2/catch.hpp>

#include <test/llm/support.h>
#include <aten/Functions.h>
#include <c10/util/Exception.h>

using namespace torch::llm;
using test::load_recorded;

namespace {

KVCache make(const Model& model, CacheKind kind) {
  CacheOptions options;
  options.kind = kind;
  options.capacity = 64;
  options.block_size = 4;
  options.chunk = 8;
  return model.make_cache(options);
}

} // namespace

TEST_CASE("a truncated cache goes on as if the rest had never been", "[llm][cache]") {
  const std::string name = GENERATE("mistral", "gemma3");
  const CacheKind kind = GENERATE(CacheKind::Dense, CacheKind::Paged, CacheKind::Ring);
  const test::RecordedModel recorded = load_recorded(name);
  const c10::ArrayRef<int64_t> prompt(recorded.prompt);
  KVCache cache = make(*recorded.model, kind);
  recorded.model->forward(prompt.slice(0, 8), cache);
  recorded.model->forward({1, 2, 3, 4, 5, 6}, cache);
  cache.truncate(8);
  CHECK(cache.length() == 8);
  for (size_t i = 8; i < prompt.size(); i += 4) {
    const size_t count = std::min<size_t>(4, prompt.size() - i);
    const at::Tensor logits = recorded.model->forward(prompt.slice(i, count), cache);
    CHECK(test::distance(logits[0], recorded.logits[static_cast<int64_t>(i + count) - 1]) < 1e-4);
  }
  cache.truncate(0);
  CHECK(test::distance(recorded.model->forward(prompt.slice(0, 5), cache)[0], recorded.logits[4]) < 1e-4);
}

TEST_CASE("a ring refuses to go back to positions that it has overwritten", "[llm][cache]") {
  const test::RecordedModel recorded = load_recorded("mistral");
  KVCache cache = make(*recorded.model, CacheKind::Ring);
  recorded.model->forward(recorded.prompt, cache);
  CHECK_THAT(test::message_of([&] { cache.truncate(5); }), Catch::Contains("has overwritten positions before 6"));
  CHECK(cache.length() == 21);
  cache.truncate(13);
  CHECK(cache.length() == 13);
}

TEST_CASE("forks of a cache do not see each other's tokens", "[llm][cache]") {
  const std::string name = GENERATE("llama", "gemma3");
  const CacheKind kind = GENERATE(CacheKind::Dense, CacheKind::Paged, CacheKind::Ring);
  const test::RecordedModel recorded = load_recorded(name);
  const c10::ArrayRef<int64_t> prompt(recorded.prompt);
  KVCache cache = make(*recorded.model, kind);
  recorded.model->forward(prompt.slice(0, 6), cache);
  KVCache fork = cache.fork();
  recorded.model->forward({1, 2, 3}, fork);
  CHECK(test::distance(recorded.model->forward(prompt.slice(6, 3), cache)[0], recorded.logits[8]) < 1e-4);
  fork.truncate(6);
  CHECK(test::distance(recorded.model->forward(prompt.slice(6, 5), fork)[0], recorded.logits[10]) < 1e-4);
  CHECK(test::distance(recorded.model->forward(prompt.slice(9, 2), cache)[0], recorded.logits[10]) < 1e-4);
}

TEST_CASE("forks of a paged cache share pages until one writes", "[llm][cache]") {
  const test::RecordedModel recorded = load_recorded("llama");
  const c10::ArrayRef<int64_t> prompt(recorded.prompt);
  const std::shared_ptr<PagePool> pool = recorded.model->make_pool(40, 4);
  CHECK(pool->num_blocks() == 10);
  {
    KVCache cache(pool);
    recorded.model->forward(prompt.slice(0, 10), cache);
    CHECK(pool->free_blocks() == 7);
    CHECK(cache.bytes() == 3 * pool->bytes_per_block());
    KVCache fork = cache.fork();
    CHECK(pool->free_blocks() == 7);
    recorded.model->forward(prompt.slice(10, 1), fork); // copies the page that both had begun
    CHECK(pool->free_blocks() == 6);
    recorded.model->forward(prompt.slice(10, 1), cache); // has that page for itself now
    CHECK(pool->free_blocks() == 6);
    fork.truncate(8);
    CHECK(pool->free_blocks() == 7);
    KVCache moved = std::move(fork);
    CHECK(pool->free_blocks() == 7);
    moved = cache.fork();
    CHECK(pool->free_blocks() == 7);
  }
  CHECK(pool->free_blocks() == 10);
}

TEST_CASE("a pool without pages refuses, and the caches stay as they were", "[llm][cache]") {
  const test::RecordedModel recorded = load_recorded("llama");
  const c10::ArrayRef<int64_t> prompt(recorded.prompt);
  const std::shared_ptr<PagePool> pool = recorded.model->make_pool(16, 4);
  KVCache first(pool), second(pool);
  recorded.model->forward(prompt.slice(0, 8), first);
  recorded.model->forward(prompt.slice(0, 4), second);
  const std::vector<SequenceStep> steps{{prompt.slice(8, 1), &first}, {prompt.slice(4, 3), &second}};
  CHECK_THROWS_AS(recorded.model->forward(steps), c10::OutOfMemoryError);
  CHECK(first.length() == 8);
  CHECK(second.length() == 4);
  CHECK(pool->free_blocks() == 1);
  CHECK(test::distance(recorded.model->forward(prompt.slice(8, 4), first)[0], recorded.logits[11]) < 1e-4);
}

TEST_CASE("caches of few bits stay near to float32", "[llm][cache]") {
  struct Row {
    at::ScalarType dtype;
    double bound;
    int64_t bytes; // of a key or value of one head
  };
  const Row row = GENERATE(
      Row{at::kBFloat16, 0.05, 12}, Row{at::kHalf, 0.01, 12}, Row{at::kChar, 0.1, 6 + 4},
      Row{at::ScalarType::Float8_e4m3fn, 0.5, 6});
  const CacheKind kind = GENERATE(CacheKind::Dense, CacheKind::Paged, CacheKind::Ring);
  const test::RecordedModel recorded = load_recorded("mistral");
  const c10::ArrayRef<int64_t> prompt(recorded.prompt);
  CacheOptions options;
  options.kind = kind;
  options.dtype = row.dtype;
  options.capacity = 32;
  options.chunk = 4;
  KVCache cache = recorded.model->make_cache(options);
  at::Tensor logits;
  for (size_t i = 0; i < prompt.size(); i += 3) {
    logits = recorded.model->forward(prompt.slice(i, 3), cache);
  }
  CHECK(test::distance(logits[0], recorded.logits[20]) < row.bound);
  if (kind != CacheKind::Ring) {
    CHECK(cache.bytes() == 2 * 2 * 2 * 32 * row.bytes); // layers, keys and values, heads, positions
  } else {
    CHECK(cache.bytes() == 2 * 2 * 2 * (8 + 4 - 1) * row.bytes);
  }
}

TEST_CASE("append and attend serve models of one's own", "[llm][cache]") {
  CacheLayout layout;
  layout.windows = {0, 3};
  layout.kv_heads = 1;
  layout.head_dim = 4;
  KVCache cache(layout);
  const at::Tensor keys = at::randn({5, 1, 4}), values = at::randn({5, 1, 4}), queries = at::randn({5, 2, 4});
  for (int64_t layer = 0; layer < 2; ++layer) {
    cache.append(layer, keys, values);
    const at::Tensor out = cache.attend(layer, queries);
    for (int64_t i = 0; i < 5; ++i) {
      const int64_t first = layer == 1 ? std::max<int64_t>(0, i - 2) : 0;
      const at::Tensor seen_keys = keys.narrow(0, first, i + 1 - first).squeeze(1);
      const at::Tensor seen_values = values.narrow(0, first, i + 1 - first).squeeze(1);
      const at::Tensor weights = (queries[i].matmul(seen_keys.t()) / 2).softmax(-1);
      CHECK(test::distance(out[i], weights.matmul(seen_values)) < 1e-5);
    }
  }
  CHECK(cache.length() == 5);
  CHECK_THAT(test::message_of([&] { cache.append(0, keys, values.narrow(0, 0, 3)); }), Catch::Contains("both must be"));
  CHECK_THAT(test::message_of([&] { cache.append(1, keys, values); }), Catch::Contains("layer 0 has got 0"));
  CHECK_THAT(test::message_of([&] { cache.append(2, keys, values); }), Catch::Contains("layer 2 is out of range"));
  CHECK_THAT(test::message_of([&] { cache.truncate(6); }), Catch::Contains("the cache has 5 positions"));
}
