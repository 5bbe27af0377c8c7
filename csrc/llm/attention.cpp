#include <csrc/llm/attention.h>

#include <csrc/llm/cpu/attention_rows.h>
#include <aten/Functions.h>
#include <aten/core/dispatch/Dispatcher.h>
#include <aten/library/library.h>
#include <aten/parallel/Parallel.h>
#include <c10/util/Exception.h>
#include <c10/util/SmallVector.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace torch::llm {

namespace {

using at::ScalarType;
using at::Tensor;

// Queries that share one pass over the keys: as many tokens as make about so many rows.
constexpr int64_t kRows = 32;

Stored stored_kind(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::Float:
      return Stored::Float;
    case ScalarType::BFloat16:
      return Stored::BFloat16;
    case ScalarType::Half:
      return Stored::Half;
    case ScalarType::Char:
      return Stored::Int8;
    case ScalarType::Float8_e4m3fn:
      return Stored::Float8;
    default:
      TORCH_CHECK(
          false, "paged_attention: a cache of dtype ", dtype,
          " is not supported; supported: float32, bfloat16, float16, int8, float8_e4m3fn");
  }
}

// Keys or values: where rows lie.
struct Side {
  Stored kind;
  const char* data;
  int64_t itemsize;
  int64_t block_stride, slot_stride, head_stride;
  const float* scales;
  int64_t scale_block_stride, scale_slot_stride, scale_head_stride;

  Side(const Tensor& cache, const std::optional<Tensor>& scale)
      : kind(stored_kind(cache.scalar_type())),
        data(static_cast<const char*>(cache.const_data_ptr())),
        itemsize(static_cast<int64_t>(cache.itemsize())),
        block_stride(cache.stride(0)),
        slot_stride(cache.stride(1)),
        head_stride(cache.stride(2)),
        scales(scale ? scale->const_data_ptr<float>() : nullptr),
        scale_block_stride(scale ? scale->stride(0) : 0),
        scale_slot_stride(scale ? scale->stride(1) : 0),
        scale_head_stride(scale ? scale->stride(2) : 0) {}

  StoredRows rows(int64_t block, int64_t slot, int64_t head) const {
    return StoredRows{
        kind, data + (block * block_stride + slot * slot_stride + head * head_stride) * itemsize, slot_stride,
        scales ? scales + block * scale_block_stride + slot * scale_slot_stride + head * scale_head_stride : nullptr,
        scale_slot_stride};
  }
};

struct Call {
  Side keys, values;
  const float* query; // (tokens, heads, dim) with strides
  int64_t query_token_stride, query_head_stride;
  float scale;
  float* out; // (tokens, heads, dim)
  int64_t heads, kv_heads, dim, block_size, table_width;
  int64_t window;
  float softcap;
  const int64_t* tables;
};

// Some queries of a sequence, with one head of keys.
struct Work {
  int64_t sequence, kv_head;
  int64_t first_token, tokens; // rows of `query`
  int64_t first_position; // of the first of them
};

// What a piece needs beside its result. Each thread keeps its own, so that decoding allocates nothing.
struct Scratch {
  std::vector<float> query, gathered, peak, total, wide;
  std::vector<int64_t> first, last;
};

Scratch& scratch_of_thread() {
  thread_local Scratch scratch;
  return scratch;
}

class RowsOfWork {
 public:
  RowsOfWork(const Call& call, const Work& work, Scratch& scratch)
      : call_(call),
        work_(work),
        group_(call.heads / call.kv_heads),
        rows_(work.tokens * group_),
        query_(scratch.query),
        gathered_(scratch.gathered),
        peak_(scratch.peak),
        total_(scratch.total),
        wide_(scratch.wide),
        first_(scratch.first),
        last_(scratch.last) {
    query_.resize(rows_ * call.dim);
    gathered_.assign(rows_ * call.dim, 0.0f);
    peak_.assign(rows_, -3.0e38f);
    total_.assign(rows_, 0.0f);
    first_.resize(rows_);
    last_.resize(rows_);
    for (int64_t row = 0; row < rows_; ++row) {
      const float* const from = call.query + token(row) * call.query_token_stride + head(row) * call.query_head_stride;
      std::transform(from, from + call.dim, query_.data() + row * call.dim, [&](float x) { return x * call.scale; });
    }
  }

  void run() {
    const int64_t end = work_.first_position + work_.tokens;
    int64_t position = call_.window > 0 ? std::max<int64_t>(0, work_.first_position - call_.window + 1) : 0;
    while (position < end) {
      const int64_t slot = position % call_.block_size;
      const int64_t count = std::min({kKeyRun, call_.block_size - slot, end - position});
      attend(position, slot, count);
      position += count;
    }
    for (int64_t row = 0; row < rows_; ++row) {
      const float inverse = 1 / total_[row];
      const float* const from = gathered_.data() + row * call_.dim;
      std::transform(
          from, from + call_.dim, call_.out + (token(row) * call_.heads + head(row)) * call_.dim,
          [&](float x) { return x * inverse; });
    }
  }

 private:
  int64_t token(int64_t row) const {
    return work_.first_token + row / group_;
  }
  int64_t head(int64_t row) const {
    return work_.kv_head * group_ + row % group_;
  }

  void attend(int64_t position, int64_t slot, int64_t count) {
    const int64_t block =
        call_.tables[work_.sequence * call_.table_width + position / call_.block_size % call_.table_width];
    for (int64_t row = 0; row < rows_; ++row) {
      const int64_t own = work_.first_position + row / group_;
      first_[row] = call_.window > 0 ? std::max<int64_t>(0, own - call_.window + 1 - position) : 0;
      last_[row] = std::min(count, own + 1 - position);
    }
    const StoredRows keys = call_.keys.rows(block, slot, work_.kv_head);
    const StoredRows values = call_.values.rows(block, slot, work_.kv_head);
    const QueryRows queries{rows_,        call_.dim,     query_.data(), gathered_.data(),
                            peak_.data(), total_.data(), call_.softcap};
    KeyRun run{count, nullptr, nullptr, call_.dim, first_.data(), last_.data()};
    if (keys.kind == Stored::Float && values.kind == Stored::Float && keys.stride == values.stride) {
      run.keys = static_cast<const float*>(keys.data);
      run.values = static_cast<const float*>(values.data);
      run.stride = keys.stride;
    } else {
      wide_.resize(2 * kKeyRun * call_.dim);
      row_kernels().widen(keys, count, call_.dim, wide_.data());
      row_kernels().widen(values, count, call_.dim, wide_.data() + kKeyRun * call_.dim);
      run.keys = wide_.data();
      run.values = wide_.data() + kKeyRun * call_.dim;
    }
    row_kernels().attend(queries, run);
  }

  const Call& call_;
  const Work& work_;
  const int64_t group_, rows_;
  std::vector<float>&query_, &gathered_, &peak_, &total_, &wide_;
  std::vector<int64_t>&first_, &last_;
};

void check_cache(const char* name, const Tensor& query, const Tensor& cache, const std::optional<Tensor>& scales) {
  TORCH_CHECK(
      cache.dim() == 4 && cache.size(3) == query.size(2) && cache.size(1) > 0 && cache.size(2) > 0 &&
          query.size(1) % cache.size(2) == 0 && (cache.stride(3) == 1 || cache.size(3) <= 1),
      "paged_attention: ", name, " is ", cache.sizes(), " for a query of ", query.sizes(),
      ": it must be (blocks, block_size, kv_heads, head_dim), the last dimension contiguous, with the query's head_dim "
      "and a "
      "number of heads that divides the query's");
  TORCH_CHECK(cache.device().is_cpu(), "paged_attention: ", name, " is on ", cache.device(), ", the query on the CPU");
  const bool is_int8 = cache.scalar_type() == ScalarType::Char;
  TORCH_CHECK(
      is_int8 == scales.has_value(), "paged_attention: ", name, " has dtype ", cache.scalar_type(),
      is_int8 ? ", which needs scales" : ", which takes no scales");
  if (scales) {
    TORCH_CHECK(
        scales->scalar_type() == ScalarType::Float && scales->sizes() == cache.sizes().slice(0, 3),
        "paged_attention: the scales of ", name, " are ", scales->sizes(), " (", scales->scalar_type(),
        "): they must be float32 of (blocks, block_size, kv_heads) = ", cache.sizes().slice(0, 3));
  }
}

void check_shapes(
    const Tensor& query,
    const Tensor& key_cache,
    const Tensor& value_cache,
    const Tensor& tables,
    const Tensor& lengths,
    const std::optional<Tensor>& query_start,
    const AttentionOptions& options) {
  TORCH_CHECK(
      query.dim() == 3 && query.size(1) > 0 && query.size(2) > 0, "paged_attention: query is ", query.sizes(),
      ": it must be (tokens, heads, head_dim)");
  TORCH_CHECK(
      query.scalar_type() == ScalarType::Float || query.scalar_type() == ScalarType::BFloat16 ||
          query.scalar_type() == ScalarType::Half,
      "paged_attention: dtype ", query.scalar_type(), " is not supported; supported: float32, bfloat16, float16");
  check_cache("key_cache", query, key_cache, options.key_scales);
  check_cache("value_cache", query, value_cache, options.value_scales);
  TORCH_CHECK(
      key_cache.sizes() == value_cache.sizes(), "paged_attention: key_cache is ", key_cache.sizes(),
      " and value_cache ", value_cache.sizes(), ": they must have the same shape");
  const auto is_index = [](const Tensor& t, int64_t dim) {
    return t.scalar_type() == ScalarType::Long && t.dim() == dim && t.device().is_cpu();
  };
  TORCH_CHECK(
      is_index(tables, 2) && is_index(lengths, 1) && tables.size(0) == lengths.size(0) &&
          (tables.size(1) > 0 || lengths.size(0) == 0),
      "paged_attention: block_tables is ", tables.sizes(), " (", tables.scalar_type(), ") and lengths ",
      lengths.sizes(), " (", lengths.scalar_type(),
      "): they must be (sequences, width) and (sequences), int64 on the CPU");
  TORCH_CHECK(
      query_start ? is_index(*query_start, 1) && query_start->size(0) == lengths.size(0) + 1
                  : query.size(0) == lengths.size(0),
      "paged_attention: with ", lengths.size(0), " sequences and ", query.size(0),
      " queries, query_start must be int64 of (sequences + 1); it may be left out when each sequence has one query");
  TORCH_CHECK(
      options.window >= 0 && options.softcap >= 0, "paged_attention: window ", options.window, " and softcap ",
      options.softcap, " must not be negative");
}

// The pieces that are run in parallel; each index of the call is checked here.
using Pieces = c10::SmallVector<Work, 64>;

Pieces cut(const Call& call, const Tensor& lengths, const int64_t* starts, int64_t tokens, int64_t blocks) {
  Pieces pieces;
  const int64_t* const length = lengths.const_data_ptr<int64_t>();
  const int64_t capacity = call.block_size * call.table_width;
  const int64_t step = std::max<int64_t>(1, kRows / (call.heads / call.kv_heads));
  for (int64_t s = 0; s < lengths.size(0); ++s) {
    const int64_t begin = starts ? starts[s] : s, end = starts ? starts[s + 1] : s + 1, count = end - begin;
    TORCH_CHECK(
        begin >= 0 && count >= 0 && end <= tokens && (s > 0 || begin == 0) &&
            (s + 1 < lengths.size(0) || end == tokens),
        "paged_attention: query_start must rise from 0 to the ", tokens, " queries; sequence ", s, " has [", begin,
        ", ", end, ")");
    const int64_t reach = call.window > 0 ? std::min(length[s], call.window + count - 1) : length[s];
    TORCH_CHECK(
        length[s] >= count && reach <= capacity, "paged_attention: sequence ", s, " has length ", length[s], " with ",
        count, " queries: the length must include the queries, and what they see fit into the table's ", capacity,
        " positions");
    for (int64_t i = 0; i < call.table_width && i * call.block_size < length[s]; ++i) {
      const int64_t block = call.tables[s * call.table_width + i];
      TORCH_CHECK(
          block >= 0 && block < blocks, "paged_attention: block ", block, " of sequence ", s, " is out of range [0, ",
          blocks, ")");
    }
    for (int64_t head = 0; head < call.kv_heads; ++head) {
      for (int64_t first = 0; first < count; first += step) {
        pieces.push_back(Work{s, head, begin + first, std::min(step, count - first), length[s] - count + first});
      }
    }
  }
  return pieces;
}

Tensor paged_attention_cpu(
    const Tensor& query,
    const Tensor& key_cache,
    const Tensor& value_cache,
    const Tensor& block_tables,
    const Tensor& lengths,
    const std::optional<Tensor>& query_start,
    const std::optional<Tensor>& key_scales,
    const std::optional<Tensor>& value_scales,
    std::optional<double> scale,
    int64_t window,
    double softcap) {
  check_shapes(
      query, key_cache, value_cache, block_tables, lengths, query_start,
      AttentionOptions{key_scales, value_scales, scale, window, softcap});
  const Tensor tables = block_tables.contiguous(), counts = lengths.contiguous();
  const Tensor starts = query_start ? query_start->contiguous() : Tensor();
  const double factor = scale.value_or(1 / std::sqrt(static_cast<double>(query.size(2))));
  const Tensor wide = query.stride(2) == 1 ? query.to(at::kFloat) : query.to(at::kFloat).contiguous();
  Tensor out = at::empty(query.sizes(), query.options().dtype(at::kFloat));
  const Call call{
      Side(key_cache, key_scales),
      Side(value_cache, value_scales),
      wide.const_data_ptr<float>(),
      wide.stride(0),
      wide.stride(1),
      static_cast<float>(factor),
      out.mutable_data_ptr<float>(),
      query.size(1),
      key_cache.size(2),
      query.size(2),
      key_cache.size(1),
      tables.size(1),
      window,
      static_cast<float>(softcap),
      tables.const_data_ptr<int64_t>()};
  const Pieces pieces = cut(
      call, counts, starts.defined() ? starts.const_data_ptr<int64_t>() : nullptr, query.size(0), key_cache.size(0));
  int64_t products = 0;
  for (const Work& work : pieces) {
    products += work.tokens * (work.first_position + work.tokens);
  }
  const int64_t each = pieces.empty() ? 1 : products * call.dim / static_cast<int64_t>(pieces.size()) + 1;
  at::parallel_for(
      0, static_cast<int64_t>(pieces.size()), at::divup(at::internal::GRAIN_SIZE, each),
      [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          RowsOfWork(call, pieces[i], scratch_of_thread()).run();
        }
      });
  return out.to(query.scalar_type());
}

Tensor paged_attention_meta(
    const Tensor& query,
    const Tensor&,
    const Tensor&,
    const Tensor&,
    const Tensor&,
    const std::optional<Tensor>&,
    const std::optional<Tensor>&,
    const std::optional<Tensor>&,
    std::optional<double>,
    int64_t,
    double) {
  return at::empty(query.sizes(), query.options());
}

TORCH_LIBRARY_FRAGMENT(tensor, m) {
  m.def(
      "paged_attention(Tensor query, Tensor key_cache, Tensor value_cache, Tensor block_tables, Tensor lengths, "
      "Tensor? query_start=None, *, Tensor? key_scales=None, Tensor? value_scales=None, float? scale=None, "
      "int window=0, float softcap=0.0) -> Tensor");
}
TORCH_LIBRARY_IMPL(tensor, CPU, m) {
  m.impl("paged_attention", &paged_attention_cpu);
}
TORCH_LIBRARY_IMPL(tensor, Meta, m) {
  m.impl("paged_attention", &paged_attention_meta);
}

} // namespace

Tensor paged_attention(
    const Tensor& query,
    const Tensor& key_cache,
    const Tensor& value_cache,
    const Tensor& block_tables,
    const Tensor& lengths,
    const std::optional<Tensor>& query_start,
    const AttentionOptions& options) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("tensor::paged_attention", "")
                             .typed<decltype(paged_attention_cpu)>();
  return op.call(
      query, key_cache, value_cache, block_tables, lengths, query_start, options.key_scales, options.value_scales,
      options.scale, options.window, options.softcap);
}

} // namespace torch::llm
