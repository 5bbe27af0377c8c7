// Decoding takes no memory from the system once it has begun.
#include <catch2/catch.hpp>

#include <test/llm/support.h>
#include <aten/Functions.h>
#include <aten/parallel/Parallel.h>
#include <c10/core/CPUAllocator.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>

// glibc's own, under malloc's names for all of the program: sanitizers bring theirs.
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define COUNTS_ALLOCATIONS 1
#else
#define COUNTS_ALLOCATIONS 0
#endif

namespace {

std::atomic<int64_t> allocations{0};

} // namespace

#if COUNTS_ALLOCATIONS
extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* block, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

void* malloc(size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
  ++allocations;
  return __libc_calloc(count, size);
}
void* realloc(void* block, size_t size) {
  ++allocations;
  return __libc_realloc(block, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  ++allocations;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** block, size_t alignment, size_t size) {
  ++allocations;
  *block = __libc_memalign(alignment, size);
  return *block ? 0 : ENOMEM;
}
}
#endif

using namespace torch::llm;

namespace {

struct Row {
  const char* model;
  WeightForm form;
  bool int8_activations;
};

// Decoding of some sequences whose pages, of so many positions, lie in one pool.
class Decoding {
 public:
  Decoding(const Row& row, int64_t sequences, int64_t block_size = 64, const SamplerOptions& sampler = {})
      : sampler_(sampler) {
    LoadOptions options;
    options.quantize.form = row.form;
    options.quantize.int8_activations = row.int8_activations;
    options.quantize.group_size = 8;
    model_ = test::load_recorded(row.model, options).model;
    const auto pool = model_->make_pool(sequences * 64, block_size);
    for (int64_t i = 0; i < sequences; ++i) {
      caches_.emplace_back(pool);
      tokens_.push_back({i + 3});
      tokens_.back().reserve(64);
    }
  }

  void run(int64_t steps) {
    for (int64_t i = 0; i < steps; ++i) {
      steps_.clear();
      for (size_t s = 0; s < caches_.size(); ++s) {
        steps_.push_back({c10::ArrayRef<int64_t>(tokens_[s]).slice(tokens_[s].size() - 1), &caches_[s]});
      }
      const at::Tensor logits = model_->forward(steps_);
      for (size_t s = 0; s < caches_.size(); ++s) {
        tokens_[s].push_back(sampler_(logits[static_cast<int64_t>(s)], tokens_[s]));
      }
    }
  }

 private:
  std::shared_ptr<const Model> model_;
  std::vector<KVCache> caches_;
  std::vector<std::vector<int64_t>> tokens_;
  std::vector<SequenceStep> steps_;
  Sampler sampler_;
};

} // namespace

TEST_CASE("decoding allocates nothing once it has begun", "[llm][model]") {
  const Row row = GENERATE(
      Row{"llama", WeightForm::Int8, false}, Row{"llama", WeightForm::Int4, false},
      Row{"llama", WeightForm::Int4, true}, Row{"llama", WeightForm::BFloat16, false},
      Row{"llama", WeightForm::Stored, false}, Row{"gemma3", WeightForm::Int8, false},
      Row{"gpt2", WeightForm::Int8, false});
  const int64_t sequences = GENERATE(1, 8);
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  Decoding decoding(row, sequences);
  decoding.run(20);
  const int64_t before = allocations;
  decoding.run(16);
  const int64_t made = allocations - before;
  at::set_num_threads(threads);
  INFO(row.model << ", form " << static_cast<int>(row.form) << ", " << sequences << " sequences");
  CHECK(made == 0);
#if COUNTS_ALLOCATIONS
  // Those of the libraries are counted: a list of candidates is the caller's.
  const Sampler drawing({.temperature = 1});
  const at::Tensor logits = at::zeros({8}, at::kFloat);
  const int64_t so_far = allocations;
  CHECK(drawing.distribution(logits, {}).size() == 8);
  CHECK(allocations > so_far);
#endif
}

TEST_CASE("drawing, and pages that grow, allocate nothing once decoding has begun", "[llm][model][sampler]") {
  const SamplerOptions sampler = GENERATE(
      SamplerOptions{.temperature = 0.8}, SamplerOptions{.temperature = 1.2, .top_k = 20, .top_p = 0.9, .min_p = 0.01},
      SamplerOptions{
          .presence_penalty = 0.2,
          .frequency_penalty = 0.1,
          .repetition_penalty = 1.1,
          .temperature = 0.9,
          .typical_p = 0.9});
  const int64_t sequences = GENERATE(1, 8);
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  Decoding decoding({"llama", WeightForm::Int8, false}, sequences, 4, sampler);
  decoding.run(24);
  const int64_t before = allocations;
  decoding.run(24); // six pages more for each
  const int64_t made = allocations - before;
  at::set_num_threads(threads);
  INFO(sequences << " sequences, top_k " << sampler.top_k);
  CHECK(made == 0);
}

TEST_CASE("an engine allocates nothing once its sequences have begun", "[llm][engine]") {
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  Engine engine(test::load_recorded("llama").model, {.max_sequences = 4, .positions = 512, .block_size = 4});
  GenerateOptions options;
  options.max_new_tokens = 80;
  options.ignore_eos = true;
  options.sampler.temperature = 0.8;
  std::vector<std::shared_ptr<Request>> requests;
  for (int64_t i = 0; i < 4; ++i) {
    requests.push_back(engine.submit({i + 3, 7, 9}, options));
  }
  const auto tokens_of = [&](int64_t steps) {
    int64_t tokens = 0;
    for (int64_t i = 0; i < steps; ++i) {
      engine.step();
      for (const std::shared_ptr<Request>& request : requests) {
        tokens += request->next().has_value() ? 1 : 0;
      }
    }
    return tokens;
  };
  CHECK(tokens_of(40) == 160);
  const int64_t before = allocations;
  const int64_t tokens = tokens_of(24);
  const int64_t made = allocations - before;
  at::set_num_threads(threads);
  CHECK(tokens == 96);
  CHECK(made == 0);
}
