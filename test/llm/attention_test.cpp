// tensor::paged_attention against plain loops.
#include <catch2/catch.hpp>

#include <test/llm/support.h>
#include <aten/Functions.h>
#include <aten/core/tensor_literal.h>
#include <c10/util/Exception.h>

#include <cmath>
#include <random>

using namespace torch::llm;

namespace {

struct Problem {
  int64_t heads, kv_heads, dim, block_size, width;
  std::vector<int64_t> lengths, counts; // of each sequence, and how many of its positions are queries
  at::Tensor query, keys, values, tables, length, start;
};

at::Tensor indices(const std::vector<int64_t>& values) {
  return at::tensor(values, at::TensorOptions(at::kLong));
}

// Blocks in random order, none in two sequences.
Problem make_problem(std::mt19937& random, int64_t block_size) {
  Problem p;
  p.kv_heads = 1 + random() % 3;
  p.heads = p.kv_heads * (1 + random() % 4);
  p.dim = 1 + random() % 40;
  p.block_size = block_size;
  int64_t tokens = 0, width = 1;
  std::vector<int64_t> starts{0};
  for (uint32_t s = 1 + random() % 4; s > 0; --s) {
    const int64_t length = 1 + random() % 150, count = 1 + random() % length;
    p.lengths.push_back(length);
    p.counts.push_back(count);
    tokens += count;
    starts.push_back(tokens);
    width = std::max(width, (length + block_size - 1) / block_size);
  }
  p.width = width;
  const auto sequences = static_cast<int64_t>(p.lengths.size());
  p.query = at::randn({tokens, p.heads, p.dim});
  p.keys = at::randn({sequences * width + 2, block_size, p.kv_heads, p.dim});
  p.values = at::randn({sequences * width + 2, block_size, p.kv_heads, p.dim});
  std::vector<int64_t> blocks(sequences * width);
  for (size_t i = 0; i < blocks.size(); ++i) {
    blocks[i] = static_cast<int64_t>(i) + 1;
  }
  std::shuffle(blocks.begin(), blocks.end(), random);
  p.tables = indices(blocks).view({sequences, width});
  p.length = indices(p.lengths);
  p.start = indices(starts);
  return p;
}

// In double, one query and one key at a time.
at::Tensor reference(const Problem& p, const AttentionOptions& options) {
  at::Tensor out = at::zeros(p.query.sizes(), at::TensorOptions(at::kDouble));
  const at::Tensor query = p.query.to(at::kDouble), keys = p.keys.to(at::kDouble), values = p.values.to(at::kDouble);
  const auto q = query.accessor<double, 3>();
  const auto k = keys.accessor<double, 4>(), v = values.accessor<double, 4>();
  const auto table = p.tables.accessor<int64_t, 2>();
  auto o = out.accessor<double, 3>();
  const double scale = options.scale.value_or(1 / std::sqrt(static_cast<double>(p.dim)));
  int64_t token = 0;
  for (size_t s = 0; s < p.lengths.size(); ++s) {
    for (int64_t i = 0; i < p.counts[s]; ++i, ++token) {
      const int64_t own = p.lengths[s] - p.counts[s] + i;
      const int64_t first = options.window > 0 ? std::max<int64_t>(0, own - options.window + 1) : 0;
      for (int64_t h = 0; h < p.heads; ++h) {
        const int64_t kv = h / (p.heads / p.kv_heads);
        double total = 0;
        for (int64_t j = first; j <= own; ++j) {
          const int64_t block = table[static_cast<int64_t>(s)][j / p.block_size % p.width], slot = j % p.block_size;
          double score = 0;
          for (int64_t d = 0; d < p.dim; ++d) {
            score += q[token][h][d] * k[block][slot][kv][d] * scale;
          }
          score = options.softcap > 0 ? options.softcap * std::tanh(score / options.softcap) : score;
          total += std::exp(score);
          for (int64_t d = 0; d < p.dim; ++d) {
            o[token][h][d] += std::exp(score) * v[block][slot][kv][d];
          }
        }
        for (int64_t d = 0; d < p.dim; ++d) {
          o[token][h][d] /= total;
        }
      }
    }
  }
  return out;
}

} // namespace

TEST_CASE("paged_attention equals plain loops for random shapes", "[llm][attention]") {
  std::mt19937 random(5);
  for (int round = 0; round < 16; ++round) {
    const Problem p = make_problem(random, round % 3 == 0 ? 1 + random() % 5 : round % 3 == 1 ? 16 : 200);
    AttentionOptions options;
    options.window = random() % 2 ? static_cast<int64_t>(1 + random() % 70) : 0;
    options.softcap = random() % 2 ? 3.0 : 0;
    options.scale = random() % 2 ? std::optional<double>(0.3) : std::nullopt;
    INFO("round " << round << ", window " << options.window << ", softcap " << options.softcap);
    const at::Tensor got = paged_attention(p.query, p.keys, p.values, p.tables, p.length, p.start, options);
    CHECK(test::distance(got, reference(p, options)) < 2e-5);
  }
}

TEST_CASE("paged_attention takes caches of each dtype", "[llm][attention]") {
  const at::ScalarType dtype =
      GENERATE(values({at::kFloat, at::kBFloat16, at::kHalf, at::ScalarType::Float8_e4m3fn, at::kChar}));
  const at::ScalarType query_dtype = GENERATE(at::kFloat, at::kBFloat16, at::kHalf);
  std::mt19937 random(6);
  Problem p = make_problem(random, 16);
  p.query = p.query.to(query_dtype);
  AttentionOptions options;
  at::Tensor keys = p.keys.clamp(-3, 3).to(dtype == at::kChar ? at::kFloat : dtype), values = keys;
  p.keys = p.values = keys.to(at::kFloat);
  if (dtype == at::kChar) {
    const at::Tensor scales = at::rand(keys.sizes().slice(0, 3)).add_(0.01);
    keys = values = keys.mul(40).round().to(at::kChar);
    p.keys = p.values = keys.to(at::kFloat) * scales.unsqueeze(-1);
    options.key_scales = options.value_scales = scales;
  }
  const at::Tensor got = paged_attention(p.query, keys, values, p.tables, p.length, p.start, options);
  CHECK(got.scalar_type() == query_dtype);
  const at::Tensor wanted = reference(p, options);
  const double bound = query_dtype == at::kFloat ? 1e-5 : query_dtype == at::kHalf ? 1e-3 : 8e-3; // of the largest
  CHECK(test::distance(got.to(at::kDouble), wanted) < bound * wanted.abs().max().item<double>());
}

TEST_CASE("paged_attention of one query each needs no starts, and of none gives nothing", "[llm][attention]") {
  std::mt19937 random(7);
  Problem p = make_problem(random, 16);
  const auto sequences = static_cast<int64_t>(p.lengths.size());
  p.query = at::randn({sequences, p.heads, p.dim});
  p.counts.assign(p.lengths.size(), 1);
  CHECK(test::distance(paged_attention(p.query, p.keys, p.values, p.tables, p.length), reference(p, {})) < 2e-5);
  const at::Tensor none =
      paged_attention(p.query.narrow(0, 0, 0), p.keys, p.values, p.tables.narrow(0, 0, 0), p.length.narrow(0, 0, 0));
  CHECK(none.sizes() == at::IntArrayRef({0, p.heads, p.dim}));
}

TEST_CASE("paged_attention refuses what does not fit", "[llm][attention]") {
  const at::Tensor query = at::zeros({2, 4, 8}), cache = at::zeros({3, 4, 2, 8}), table = indices({0, 1}).view({1, 2});
  const auto refused = [&](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& tables,
                           const at::Tensor& lengths, const at::Tensor& starts, const AttentionOptions& options = {}) {
    return test::message_of([&] { paged_attention(q, k, v, tables, lengths, starts, options); });
  };
  using Catch::Contains;
  const at::Tensor length = indices({5}), start = indices({0, 2});
  CHECK(refused(query, cache, cache, table, length, start).empty());
  CHECK_THAT(refused(query[0], cache, cache, table, length, start), Contains("query is [4, 8]"));
  CHECK_THAT(refused(query.to(at::kDouble), cache, cache, table, length, start), Contains("supported: float32"));
  CHECK_THAT(
      refused(query, at::zeros({3, 4, 3, 8}), cache, table, length, start), Contains("key_cache is [3, 4, 3, 8]"));
  CHECK_THAT(refused(query, cache, cache.narrow(0, 0, 2), table, length, start), Contains("must have the same shape"));
  CHECK_THAT(refused(query, cache.to(at::kChar), cache, table, length, start), Contains("needs scales"));
  CHECK_THAT(
      refused(query, cache, cache, indices({0, 3}).view({1, 2}), length, start), Contains("block 3 of sequence 0"));
  CHECK_THAT(refused(query, cache, cache, indices({0, -1}).view({1, 2}), length, start), Contains("block -1"));
  CHECK_THAT(refused(query, cache, cache, table, indices({9}), start), Contains("the table's 8 positions"));
  CHECK_THAT(refused(query, cache, cache, table, indices({1}), start), Contains("the length must include the queries"));
  CHECK_THAT(refused(query, cache, cache, table, length, indices({0, 1})), Contains("query_start must rise"));
  CHECK_THAT(refused(query, cache, cache, table, length, indices({0})), Contains("query_start must be int64"));
  CHECK_THAT(refused(query, cache, cache, table.to(at::kInt), length, start), Contains("int64 on the CPU"));
  AttentionOptions options;
  options.window = -1;
  CHECK_THAT(refused(query, cache, cache, table, length, start, options), Contains("window -1"));
}
