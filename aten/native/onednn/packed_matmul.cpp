#include <aten/native/onednn/packed_matmul.h>

#include <aten/native/onednn/Primitive.h>
#include <aten/native/onednn/Version.h>
#include <aten/parallel/Parallel.h>
#include <c10/core/CPUAllocator.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace at::native::onednn {
namespace {

using dnnl::memory;

// Note [Packed products]
// A product is cut into blocks of rows, and of columns where there are few rows; each is a primitive for one thread.
// The cut depends on sizes alone, so bits do not depend on the number of threads. B is packed as the plain primitive
// for the first rows likes it, and others take it so. oneDNN (2.6) has its fast kernels for packed factors where the
// result's rows follow one another: blocks of columns are computed beside the result and copied.

/// Blocks that a large product is cut into, and products of one that are worth a call.
constexpr int64_t kBlocks = 8, kLeastWork = int64_t{1} << 22;

int64_t block_rows(const PackedMatmul& p) {
  constexpr int64_t kUnit = 16, kLeastRows = 64;
  const int64_t rows = std::max({at::divup(p.m, kBlocks), 2 * kLeastWork / (p.n * p.k), kLeastRows});
  return std::min(p.m, at::divup(rows, kUnit) * kUnit);
}

int64_t block_cols(const PackedMatmul& p) {
  constexpr int64_t kUnit = 64, kLeastCols = 128, kLeastTerms = 512; // beside which a copy costs next to nothing
  const int64_t rows = block_rows(p), down = at::divup(p.m, rows);
  if (down >= kBlocks || p.k < kLeastTerms) {
    return p.n;
  }
  const int64_t cols =
      std::max({at::divup(p.n, at::divup(kBlocks, down)), at::divup(kLeastWork, rows * p.k), kLeastCols});
  return std::min(p.n, at::divup(cols, kUnit) * kUnit);
}

struct PackedPrimitive {
  dnnl::matmul primitive;
  memory::desc a, b, bias, c, scratchpad;
  bool fast = false;
};

/// One block.
struct Block {
  PackedMatmul whole; // for its strides, bias and activation
  int64_t rows, cols;
  int64_t first_rows; // of the block that B is packed for
};

std::shared_ptr<const PackedPrimitive> find(const Block& block);

std::shared_ptr<const PackedPrimitive> make(const Block& block) {
  auto made = std::make_shared<PackedPrimitive>();
  const PackedMatmul& p = block.whole;
  const auto type = memory::data_type::f32;
  made->a = {{block.rows, p.k}, type, {p.a_stride, 1}};
  made->c = {{block.rows, block.cols}, type, {block.cols, 1}};
  if (p.has_bias) {
    made->bias = {{1, block.cols}, type, memory::dims{block.cols, 1}};
  }
  memory::desc b{{p.k, block.cols}, type, memory::format_tag::any};
  const PackedMatmul plain{p.m, p.n, p.k, p.a_stride, p.c_stride};
  if (block.rows != block.first_rows || p.has_bias || p.activation != Activation::None) {
    const auto first = find({plain, block.first_rows, block.cols, block.first_rows});
    if (!first->fast) {
      return made;
    }
    b = first->b;
  }
  dnnl::primitive_attr attr = primitive_attributes();
  dnnl::post_ops ops;
  add_activation(ops, p.activation);
  attr.set_post_ops(ops);
  try {
    const auto desc = matmul_desc(cpu_engine(), made->a, b, made->bias, made->c, attr);
    // Others take factors as they lie.
    if (std::string_view(desc.impl_info_str()).find("brg") == std::string_view::npos) {
      return made;
    }
    made->primitive = dnnl::matmul(desc);
    made->b = desc.weights_desc();
    made->scratchpad = desc.scratchpad_desc();
    made->fast = true;
  } catch (const dnnl::error&) {
    // Not implemented for this CPU: the caller has other ways.
  }
  return made;
}

std::shared_ptr<const PackedPrimitive> find(const Block& block) {
  static auto* cache = new PrimitiveCache<PackedPrimitive>(1024);
  const PackedMatmul& p = block.whole;
  PrimitiveKey key;
  for (const int64_t word :
       {block.rows, block.cols, block.first_rows, p.k, p.a_stride, int64_t(p.has_bias) | int64_t(p.activation) << 1}) {
    key.add(word);
  }
  return cache->get(key, [&] { return make(block); });
}

Block block_at(const PackedMatmul& p, int64_t row, int64_t col) {
  const int64_t rows = block_rows(p);
  return {p, std::min(rows, p.m - row), std::min(block_cols(p), p.n - col), rows};
}

/// Where the columns from `col` on begin in the packed memory.
size_t packed_offset(const PackedMatmul& p, int64_t col) {
  constexpr size_t kLine = 64;
  const size_t bytes = find(block_at(p, 0, 0))->b.get_size();
  return static_cast<size_t>(col / block_cols(p)) * ((bytes + kLine - 1) / kLine * kLine);
}

} // namespace

std::optional<PackedLayout> packed_layout(const PackedMatmul& p) {
  const OneThread one_thread;
  const int64_t rows = block_rows(p), cols = block_cols(p), last_row = (p.m - 1) / rows * rows;
  const int64_t last_col = (p.n - 1) / cols * cols;
  PackedLayout layout{0, ""};
  for (const int64_t col : {int64_t{0}, last_col}) {
    for (const int64_t row : {int64_t{0}, last_row}) {
      const auto found = find(block_at(p, row, col));
      if (!found->fast) {
        return std::nullopt;
      }
      layout.id += bytes_of(found->b);
    }
  }
  layout.bytes = packed_offset(p, last_col) + find(block_at(p, 0, last_col))->b.get_size();
  return layout;
}

void pack_right_factor(const PackedMatmul& p, const float* b, int64_t row_stride, int64_t col_stride, void* packed) {
  const OneThread one_thread;
  const int64_t cols = block_cols(p);
  for (int64_t col = 0; col < p.n; col += cols) {
    const Block block = block_at(p, 0, col);
    const auto found = find(block);
    const memory::desc given{{p.k, block.cols}, memory::data_type::f32, {row_stride, col_stride}};
    memory from(given, cpu_engine(), const_cast<float*>(b + col * col_stride));
    memory to(found->b, cpu_engine(), static_cast<char*>(packed) + packed_offset(p, col));
    dnnl::reorder(from, to).execute(cpu_stream(), from, to);
    cpu_stream().wait();
  }
}

void packed_matmul(const PackedMatmul& p, const float* a, const void* packed, float* c, const float* bias) try {
  const OneThread one_thread;
  const int64_t cols = block_cols(p), block = block_rows(p);
  const int64_t across = at::divup(p.n, cols), down = at::divup(p.m, block);
  at::parallel_for(0, across * down, 1, [&](int64_t begin, int64_t end) {
    const OneThread each_alone;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t col = i / down * cols, row = i % down * block;
      const auto found = find(block_at(p, row, col));
      const auto on = [](const memory::desc& desc, const void* data) {
        return memory(desc, cpu_engine(), const_cast<void*>(data));
      };
      const int64_t rows = std::min(block, p.m - row), width = std::min(cols, p.n - col);
      const bool is_beside = width != p.c_stride;
      const c10::DataPtr beside = is_beside
          ? c10::GetCPUAllocator()->allocate(static_cast<size_t>(rows * width) * sizeof(float))
          : c10::DataPtr();
      float* const to = is_beside ? static_cast<float*>(beside.get()) : c + row * p.c_stride;
      std::unordered_map<int, memory> args{
          {DNNL_ARG_SRC, on(found->a, a + row * p.a_stride)},
          {DNNL_ARG_WEIGHTS, on(found->b, static_cast<const char*>(packed) + packed_offset(p, col))},
          {DNNL_ARG_DST, on(found->c, to)}};
      if (p.has_bias) {
        args.emplace(DNNL_ARG_BIAS, on(found->bias, bias + col));
      }
      const Scratchpad scratchpad(found->scratchpad);
      if (scratchpad) {
        args.emplace(DNNL_ARG_SCRATCHPAD, scratchpad.memory());
      }
      found->primitive.execute(cpu_stream(), args);
      for (int64_t r = 0; is_beside && r < rows; ++r) {
        std::copy_n(to + r * width, width, c + (row + r) * p.c_stride + col);
      }
    }
  });
} catch (const dnnl::error& failure) {
  raise("linear", failure);
}

} // namespace at::native::onednn
