#include <aten/native/cpu/gemm_amx.h>

#ifdef __AVX512F__

#include <aten/Parallel.h>
#include <aten/native/cpu/gemm_kernels.h>
#include <aten/native/transposed_copy.h>
#include <aten/native/vec/Vec.h>

#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace at::native {
inline namespace CPU_CAPABILITY {
namespace {
namespace amx {

using c10::BFloat16;
using gemm_detail::ceil_div;
using gemm_detail::Scratch;

// A tile register holds 16 rows of 64 bytes: 16 x 16 floats, 16 rows of A with 32 steps, or 32 steps of B for 16 columns, which
// lie as pairs (b[2p][j], b[2p + 1][j]). The kernel computes 2 x 2 tiles of C.
constexpr int64_t kTile = 16;
constexpr int64_t kBlock = 2 * kTile; // rows and columns of C at a time
constexpr int64_t kSteps = 32;
constexpr int64_t kBlockElements = kBlock * kSteps; // of a packed operand
// Steps after which sums are put aside: as many of both operands stay in the first-level cache.
constexpr int64_t kDepth = 8 * kSteps;
// Blocks of B that are asked for ahead: they come from the second cache (measured).
constexpr int64_t kStepsAhead = 2;
// Columns that a task packs of B, at most, and elements: half of a second-level cache.
constexpr int64_t kMaxCols = 512, kMaxPacked = 1 << 19;
// Multiply-adds and sizes from which it beats oneDNN (measured with version 2.6), and steps up to which a task packs all of them.
constexpr int64_t kLeastWork = 1 << 29, kLeastSize = 256, kMaxSteps = kMaxPacked / kBlock;
// Multiply-adds of a task at least.
constexpr int64_t kTaskWork = 1 << 22;

struct TileConfig {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

__attribute__((target("amx-tile,amx-bf16"), noinline)) void open_tiles() {
  static const TileConfig config;
  _tile_loadconfig(&config);
}
__attribute__((target("amx-tile,amx-bf16"), noinline)) void close_tiles() {
  _tile_release();
}

/// sums (32 x 32 floats) = or += A B, over `blocks` blocks of packed operands.
__attribute__((target("amx-tile,amx-bf16"), noinline)) void multiply_tiles(int64_t blocks, const BFloat16* a, const BFloat16* b, float* sums, bool add) {
  constexpr int kStride = kBlock * sizeof(float), kRow = 64;
  float *c00 = sums, *c01 = sums + kTile, *c10 = sums + kTile * kBlock, *c11 = c10 + kTile;
  if (add) {
    _tile_loadd(0, c00, kStride);
    _tile_loadd(1, c01, kStride);
    _tile_loadd(2, c10, kStride);
    _tile_loadd(3, c11, kStride);
  } else {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
  const auto ask_ahead = [&b](int part) {
    constexpr int64_t kQuarter = kBlockElements / 4, kLine = 64 / sizeof(BFloat16);
    for (int64_t at = part * kQuarter; at < (part + 1) * kQuarter; at += kLine) __builtin_prefetch(b + kStepsAhead * kBlockElements + at);
  };
  for (int64_t i = 0; i < blocks; ++i, a += kBlockElements, b += kBlockElements) {
    _tile_loadd(6, b, kRow);
    _tile_loadd(4, a, kRow);
    ask_ahead(0);
    _tile_dpbf16ps(0, 4, 6);
    _tile_loadd(7, b + kBlockElements / 2, kRow);
    ask_ahead(1);
    _tile_dpbf16ps(1, 4, 7);
    _tile_loadd(5, a + kBlockElements / 2, kRow);
    ask_ahead(2);
    _tile_dpbf16ps(2, 5, 6);
    ask_ahead(3);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_stored(0, c00, kStride);
  _tile_stored(1, c01, kStride);
  _tile_stored(2, c10, kStride);
  _tile_stored(3, c11, kStride);
}

/// 32 rows by 32 steps of A; `rows` and `steps` of them exist, the others are 0.
void pack_a(const Matrix<const BFloat16>& a, int64_t rows, int64_t steps, BFloat16* to) {
  if (rows == kBlock && steps == kSteps && a.row_stride == 1) {
    turn_tile(sizeof(BFloat16), a.data, a.col_stride * int64_t(sizeof(BFloat16)), kSteps, kBlock, to);
    return;
  }
  if (rows < kBlock || steps < kSteps) std::memset(static_cast<void*>(to), 0, kBlockElements * sizeof(BFloat16));
  for (int64_t i = 0; i < rows; ++i) {
    const BFloat16* from = a.data + i * a.row_stride;
    for (int64_t p = 0; p < steps; ++p) to[i * kSteps + p] = from[p * a.col_stride];
  }
}

/// All steps of 32 rows of A, `rows` of which exist.
void pack_rows(const Matrix<const BFloat16>& a, int64_t rows, int64_t steps, BFloat16* to) {
  int64_t done = 0;
  if (a.col_stride == 1 && rows == kBlock) {
    // Some lines of each row at a time: they are adjacent where they are read, and few of them fall together where they are written.
    constexpr int64_t kLines = 4 * kSteps;
    done = steps / kSteps * kSteps;
    for (int64_t p0 = 0; p0 < done; p0 += kLines) {
      const int64_t end = std::min(done, p0 + kLines);
      for (int64_t i = 0; i < kBlock; ++i) {
        const BFloat16* from = a.data + i * a.row_stride;
        for (int64_t p = p0; p < end; p += kSteps) {
          std::memcpy(static_cast<void*>(to + p * kBlock + i * kSteps), from + p, kSteps * sizeof(BFloat16));
        }
      }
    }
  }
  for (int64_t p = done; p < steps; p += kSteps) {
    pack_a(a.shifted(0, p), rows, std::min(kSteps, steps - p), to + p * kBlock);
  }
}

/// A tile of B: 32 steps of 16 columns, `steps` and `cols` of which exist, the others are 0.
void pack_b(const Matrix<const BFloat16>& b, int64_t steps, int64_t cols, BFloat16* to) {
  const bool whole = steps == kSteps && cols == kTile;
  if (whole && b.col_stride == 1) {
    const auto row = [&](int64_t p) {
      __builtin_prefetch(b.data + (p + kSteps) * b.row_stride); // of the next tile
      return vec::convert<uint32_t>(vec::Vec<uint16_t, kTile>::load(reinterpret_cast<const uint16_t*>(b.data + p * b.row_stride)));
    };
    for (int64_t p = 0; p < kSteps; p += 2) {
      (row(p) | row(p + 1) << 16).store(reinterpret_cast<uint32_t*>(to + p * kTile));
    }
  } else if (whole && b.row_stride == 1) {
    // Pairs as one number.
    turn_tile(sizeof(uint32_t), b.data, b.col_stride * int64_t(sizeof(BFloat16)), kTile, kSteps / 2, to);
  } else {
    std::memset(static_cast<void*>(to), 0, kTile * kSteps * sizeof(BFloat16));
    for (int64_t p = 0; p < steps; ++p) {
      for (int64_t j = 0; j < cols; ++j) to[p / 2 * kBlock + 2 * j + p % 2] = b.data[p * b.row_stride + j * b.col_stride];
    }
  }
}

/// One block of C, on this thread.
void multiply_block(
    const Gemm<BFloat16>& g, const Matrix<const BFloat16>& a, const Matrix<const BFloat16>& b, int64_t m, int64_t n,
    const Matrix<BFloat16>& c) {
  const int64_t k = ceil_div(g.k, kSteps) * kSteps, cols = ceil_div(n, kBlock) * kBlock;
  Scratch scratch((cols + kBlock) * k * int64_t(sizeof(BFloat16)) + cols * kBlock * int64_t(sizeof(float)));
  float* sums = scratch.as<float>();
  BFloat16* b_pack = reinterpret_cast<BFloat16*>(sums + cols * kBlock);
  BFloat16* a_pack = b_pack + cols * k;
  // Of B for each part of the steps: blocks of 32 columns.
  for (int64_t k0 = 0; k0 < k; k0 += kDepth) {
    const int64_t depth = std::min(kDepth, k - k0);
    for (int64_t j = 0; j < cols; j += kBlock) {
      BFloat16* to = b_pack + k0 * cols + j * depth;
      for (int64_t p = k0; p < k0 + depth; p += kSteps) {
        const int64_t steps = std::min(kSteps, g.k - p);
        for (int64_t half = j; half < j + kBlock; half += kTile, to += kTile * kSteps) {
          pack_b(b.shifted(p, std::min(half, n)), steps, std::clamp<int64_t>(n - half, 0, kTile), to);
        }
      }
    }
  }
  const gemm_detail::TileStore<BFloat16, BFloat16> put{c, g.alpha, g.beta};
  open_tiles();
  for (int64_t i = 0; i < m; i += kBlock) {
    const int64_t rows = std::min(kBlock, m - i);
    pack_rows(a.shifted(i, 0), rows, g.k, a_pack);
    for (int64_t k0 = 0; k0 < k; k0 += kDepth) {
      const int64_t depth = std::min(kDepth, k - k0);
      for (int64_t j = 0; j < cols; j += kBlock) {
        float* sum = sums + j * kBlock;
        multiply_tiles(depth / kSteps, a_pack + k0 * kBlock, b_pack + k0 * cols + j * depth, sum, k0 != 0);
        if (k0 + depth == k) put(sum, kBlock, kBlock, i, j, rows, std::min(kBlock, n - j));
      }
    }
  }
  close_tiles();
}

/// Whether the processor has the tiles, and the system lets this process use them.
bool has_amx() {
  static const bool found = [] {
    constexpr unsigned kBfloat16 = 1u << 22, kTiles = 1u << 24;
    constexpr long kRequestPermission = 0x1023, kTileData = 18;
    unsigned a, b, c, d;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & kBfloat16) != 0 && (d & kTiles) != 0 &&
        syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
  }();
  return found;
}

} // namespace amx
} // namespace

bool amx_takes(const Gemm<c10::BFloat16>& g) {
  using namespace amx;
  return std::min({g.m, g.n, g.k}) >= kLeastSize && g.k <= kMaxSteps && g.m * g.n * g.k >= kLeastWork && has_amx();
}

void gemm_amx(const Gemm<c10::BFloat16>& problem) {
  using namespace amx;
  const Gemm<BFloat16> g = problem.c.col_stride != 1 && problem.c.row_stride == 1 ? problem.transposed() : problem;
  const int64_t most_cols = std::clamp(kMaxPacked / g.k / kBlock * kBlock, kBlock, kMaxCols);
  const int64_t col_blocks = ceil_div(g.n, most_cols);
  const int64_t cols = ceil_div(ceil_div(g.n, col_blocks), kBlock) * kBlock;
  // Rows are cut only for the sake of threads: each part packs B anew.
  const int64_t row_blocks = std::min(ceil_div(at::get_num_threads(), g.batch * col_blocks), ceil_div(g.m, 2 * kBlock));
  const int64_t rows = ceil_div(ceil_div(g.m, row_blocks), kBlock) * kBlock;
  const int64_t blocks = col_blocks * row_blocks;
  const int64_t grain = std::max<int64_t>(1, kTaskWork / (g.m * g.n * g.k / blocks));
  at::parallel_for(0, g.batch * blocks, grain, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t s = task / blocks, i = task % blocks / col_blocks * rows, j = task % col_blocks * cols;
      if (i >= g.m || j >= g.n) continue;
      const Matrix<const BFloat16> a{g.a.data + s * g.a_batch, g.a.row_stride, g.a.col_stride};
      const Matrix<const BFloat16> b{g.b.data + s * g.b_batch, g.b.row_stride, g.b.col_stride};
      const Matrix<BFloat16> c{g.c.data + s * g.c_batch, g.c.row_stride, g.c.col_stride};
      multiply_block(g, a.shifted(i, 0), b.shifted(0, j), std::min(rows, g.m - i), std::min(cols, g.n - j), c.shifted(i, j));
    }
  });
}

} // namespace CPU_CAPABILITY
} // namespace at::native

#else

namespace at::native {
inline namespace CPU_CAPABILITY {

bool amx_takes(const Gemm<c10::BFloat16>&) {
  return false;
}
void gemm_amx(const Gemm<c10::BFloat16>&) {}

} // namespace CPU_CAPABILITY
} // namespace at::native

#endif
