#include <aten/native/cpu/gemm_amx.h>

#ifdef __AVX512F__

#include <aten/native/cpu/gemm_kernels.h>
#include <aten/native/support/transposed_copy.h>
#include <aten/native/vec/Vec.h>
#include <aten/parallel/Parallel.h>

#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace at::native {
inline namespace CPU_CAPABILITY {
namespace {
namespace amx {

using c10::BFloat16;
using gemm_detail::ceil_div;
using gemm_detail::Scratch;

// A tile register holds 16 rows of 64 bytes: 16 x 16 floats, 16 rows of A with 32 steps, or 32 steps of B for 16
// columns, which lie as pairs (b[2p][j], b[2p + 1][j]). The kernel computes 2 x 2 tiles of C. A is read where it lies
// if its rows allow that; B is packed, which for rows takes two loads and two shuffles for 64 numbers.
constexpr int64_t kTile = 16;
constexpr int64_t kBlock = 2 * kTile; // rows and columns of C at a time
constexpr int64_t kSteps = 32;
constexpr int64_t kBlockElements = kBlock * kSteps; // of a packed operand
// Steps after which sums are put aside: as many of both operands stay in the first-level cache.
constexpr int64_t kDepth = 8 * kSteps;
// Rows up to which so many steps of B are packed at a time, and used while they are near (more rows would put aside too
// many sums), and columns up to which rows of A may fall on a few sets of the first cache.
constexpr int64_t kFew = 256;
// Columns that a task packs of B, at most, and elements: half of a second-level cache.
constexpr int64_t kMaxCols = 512, kMaxPacked = 1 << 19;
// Multiply-adds and sizes from which it beats oneDNN (measured with version 2.6), and steps up to which a task packs
// all of them.
constexpr int64_t kLeastWork = 40 * 40 * 40, kLeastSize = 32, kMaxSteps = kMaxPacked / kBlock;
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

/// 32 rows of A for the tiles: the distances between rows and between blocks of steps, in elements.
struct Rows {
  const BFloat16* data;
  int64_t row, block;
};

/// sums (32 x 32 floats) = or += A B, over `blocks` blocks of steps; B is packed.
__attribute__((target("amx-tile,amx-bf16"), noinline)) void multiply_tiles(
    int64_t blocks, const Rows& a, const BFloat16* b, float* sums, bool add) {
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
  const int64_t a_row = a.row * int64_t(sizeof(BFloat16));
  const BFloat16 *above = a.data, *below = a.data + kTile * a.row;
  for (int64_t i = 0; i < blocks; ++i, above += a.block, below += a.block, b += kBlockElements) {
    _tile_loadd(6, b, kRow);
    _tile_loadd(4, above, a_row);
    _tile_dpbf16ps(0, 4, 6);
    _tile_loadd(7, b + kBlockElements / 2, kRow);
    _tile_dpbf16ps(1, 4, 7);
    _tile_loadd(5, below, a_row);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_stored(0, c00, kStride);
  _tile_stored(1, c01, kStride);
  _tile_stored(2, c10, kStride);
  _tile_stored(3, c11, kStride);
}

/// `rows` x `cols` of a block of sums, with `old` added unless it is null, become C; both row-major.
__attribute__((target("avx512bf16,avx512bw"), noinline)) void store_block(
    const float* sums, int64_t rows, int64_t cols, const Matrix<const BFloat16>& old, const Matrix<BFloat16>& c) {
  const auto mask = static_cast<__mmask32>((uint64_t(1) << cols) - 1);
  const auto wide = [](__m256i x) { return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(x), 16)); };
  for (int64_t i = 0; i < rows; ++i, sums += kBlock) {
    BFloat16* to = c.data + i * c.row_stride;
    __m512 low = _mm512_load_ps(sums), high = _mm512_load_ps(sums + kTile);
    if (old.data != nullptr) {
      const __m512i more = _mm512_maskz_loadu_epi16(mask, old.data + i * old.row_stride);
      low = _mm512_add_ps(low, wide(_mm512_castsi512_si256(more)));
      high = _mm512_add_ps(high, wide(_mm512_extracti64x4_epi64(more, 1)));
    }
    _mm512_mask_storeu_epi16(to, mask, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low)));
  }
}

/// The first `count` of 32 elements from `from` on, then zeros.
VEC_INLINE __m512i load_some(const BFloat16* from, int64_t count) {
  return _mm512_maskz_loadu_epi16(static_cast<__mmask32>((uint64_t(1) << count) - 1), from);
}

/// 32 rows by 32 steps of A; `rows` and `steps` of them exist, the others are 0.
void pack_a(const Matrix<const BFloat16>& a, int64_t rows, int64_t steps, BFloat16* to) {
  if (rows == kBlock && steps == kSteps && a.row_stride == 1) {
    turn_tile(sizeof(BFloat16), a.data, a.col_stride * int64_t(sizeof(BFloat16)), kSteps, kBlock, to);
    return;
  }
  if (a.col_stride == 1) {
    for (int64_t i = 0; i < kBlock; ++i) {
      _mm512_store_si512(
          to + i * kSteps, i < rows ? load_some(a.data + i * a.row_stride, steps) : _mm512_setzero_si512());
    }
    return;
  }
  if (rows < kBlock || steps < kSteps) {
    std::memset(static_cast<void*>(to), 0, kBlockElements * sizeof(BFloat16));
  }
  for (int64_t i = 0; i < rows; ++i) {
    const BFloat16* from = a.data + i * a.row_stride;
    for (int64_t p = 0; p < steps; ++p) {
      to[i * kSteps + p] = from[p * a.col_stride];
    }
  }
}

/// All steps of 32 rows of A, `rows` of which exist.
void pack_rows(const Matrix<const BFloat16>& a, int64_t rows, int64_t steps, BFloat16* to) {
  int64_t done = 0;
  if (a.col_stride == 1 && rows == kBlock) {
    // Some lines of each row at a time: they are adjacent where they are read, and few of them fall together where they
    // are written.
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

/// Two tiles of B by rows: 32 steps of 32 columns, `steps` and `cols` of which exist, the others are 0.
void pack_b_rows(const Matrix<const BFloat16>& b, int64_t steps, int64_t cols, BFloat16* to) {
  // Numbers of both rows in turns: those of the first 16 columns, and of the others.
  struct Order {
    alignas(64) uint16_t low[kBlock], high[kBlock];
  };
  static constexpr Order order = [] {
    Order o{};
    for (uint16_t i = 0; i < kTile; ++i) {
      o.low[2 * i] = i;
      o.low[2 * i + 1] = kBlock + i;
      o.high[2 * i] = kTile + i;
      o.high[2 * i + 1] = kBlock + kTile + i;
    }
    return o;
  }();
  const __m512i low = _mm512_load_si512(order.low), high = _mm512_load_si512(order.high);
  const BFloat16* from = b.data;
  for (int64_t p = 0; p < kSteps; p += 2, from += 2 * b.row_stride, to += kBlock) {
    const __m512i even = p < steps ? load_some(from, cols) : _mm512_setzero_si512();
    const __m512i odd = p + 1 < steps ? load_some(from + b.row_stride, cols) : _mm512_setzero_si512();
    _mm512_store_si512(to, _mm512_permutex2var_epi16(even, low, odd));
    _mm512_store_si512(to + kTile * kSteps, _mm512_permutex2var_epi16(even, high, odd));
  }
}

/// A tile of B, not by rows: 32 steps of 16 columns, `steps` and `cols` of which exist, the others are 0.
void pack_b_columns(const Matrix<const BFloat16>& b, int64_t steps, int64_t cols, BFloat16* to) {
  if (steps == kSteps && cols == kTile && b.row_stride == 1) {
    // Pairs as one number.
    turn_tile(sizeof(uint32_t), b.data, b.col_stride * int64_t(sizeof(BFloat16)), kTile, kSteps / 2, to);
    return;
  }
  std::memset(static_cast<void*>(to), 0, kTile * kSteps * sizeof(BFloat16));
  for (int64_t p = 0; p < steps; ++p) {
    for (int64_t j = 0; j < cols; ++j) {
      to[p / 2 * kBlock + 2 * j + p % 2] = b.data[p * b.row_stride + j * b.col_stride];
    }
  }
}

/// Steps [first, end) of `n` columns of B, for each part of kDepth steps blocks of 32 columns.
void pack_steps(const Matrix<const BFloat16>& b, int64_t first, int64_t end, int64_t last, int64_t n, BFloat16* to) {
  for (int64_t k0 = first; k0 < end; k0 += kDepth) {
    const int64_t depth = std::min(kDepth, end - k0);
    const int64_t cols = ceil_div(n, kBlock) * kBlock;
    for (int64_t p = k0; p < k0 + depth; p += kSteps) {
      const int64_t steps = std::min(kSteps, last - p);
      for (int64_t j = 0; j < cols; j += kBlock) {
        BFloat16* block = to + j * depth + (p - k0) * kBlock;
        if (b.col_stride == 1) {
          pack_b_rows(b.shifted(p, j), steps, std::min(kBlock, n - j), block);
          continue;
        }
        for (int64_t half = 0; half < kBlock; half += kTile) {
          pack_b_columns(
              b.shifted(p, std::min(j + half, n)), steps, std::clamp<int64_t>(n - j - half, 0, kTile),
              block + half * kSteps);
        }
      }
    }
    to += cols * depth;
  }
}

/// Whether tiles of A are loaded from its rows as they lie; not for many columns from rows that fall on a few sets of
/// the first cache.
bool is_row_major(const Matrix<const BFloat16>& a, int64_t k, int64_t n) {
  constexpr int64_t kCollision = 1024;
  return a.col_stride == 1 && k % kSteps == 0 && (a.row_stride % kCollision != 0 || n <= kFew);
}

/// Puts blocks of sums into C.
struct BlockStore {
  const Gemm<BFloat16>& g;
  Matrix<BFloat16> c;
  const BFloat16* bias; // added along the adjacent elements of C instead of an old C, or null

  void operator()(const float* sums, int64_t i, int64_t j, int64_t rows, int64_t cols) const {
    if (g.alpha != 1 || (g.beta != 0 && g.beta != 1) || (c.col_stride != 1 && c.row_stride != 1)) {
      gemm_detail::TileStore<BFloat16, BFloat16>{c, g.alpha, g.beta}(sums, kBlock, kBlock, i, j, rows, cols);
      return;
    }
    Matrix<BFloat16> to = c.shifted(i, j);
    alignas(64) float turned[kBlock * kBlock + kTile];
    if (c.col_stride != 1) {
      turn_tile(sizeof(float), sums, kBlock * sizeof(float), kBlock, kBlock, turned);
      sums = turned;
      to = to.transposed();
      std::swap(rows, cols);
    }
    const Matrix<const BFloat16> old{to.data, to.row_stride, 1},
        along{bias == nullptr ? nullptr : bias + (c.col_stride == 1 ? j : i), 0, 1};
    store_block(sums, rows, cols, bias != nullptr ? along : g.beta != 0 ? old : Matrix<const BFloat16>{}, to);
  }
};

/// One block of C, on this thread.
void multiply_block(
    const Gemm<BFloat16>& g,
    const Matrix<const BFloat16>& a,
    const Matrix<const BFloat16>& b,
    int64_t m,
    int64_t n,
    const BlockStore& store) {
  const int64_t k = ceil_div(g.k, kSteps) * kSteps, cols = ceil_div(n, kBlock) * kBlock;
  const int64_t chunk = m <= kFew ? std::min(k, kDepth) : k; // steps of B that are packed at a time
  const int64_t sum_rows = chunk < k ? ceil_div(m, kBlock) * kBlock : kBlock;
  const bool in_rows = is_row_major(a, g.k, n);
  Scratch scratch((cols + kBlock) * chunk * int64_t(sizeof(BFloat16)) + cols * sum_rows * int64_t(sizeof(float)));
  float* sums = scratch.as<float>();
  BFloat16* b_pack = reinterpret_cast<BFloat16*>(sums + cols * sum_rows);
  BFloat16* a_pack = b_pack + cols * chunk;
  open_tiles();
  for (int64_t first = 0; first < k; first += chunk) {
    const int64_t end = std::min(k, first + chunk);
    pack_steps(b, first, end, g.k, n, b_pack);
    for (int64_t i = 0; i < m; i += kBlock) {
      const int64_t rows = std::min(kBlock, m - i);
      const bool packed = !in_rows || rows < kBlock;
      if (packed) {
        pack_rows(a.shifted(i, first), rows, std::min(end, g.k) - first, a_pack);
      }
      for (int64_t k0 = first; k0 < end; k0 += kDepth) {
        const int64_t depth = std::min(kDepth, end - k0);
        const Rows left = packed ? Rows{a_pack + (k0 - first) * kBlock, kSteps, kBlockElements}
                                 : Rows{a.data + i * a.row_stride + k0, a.row_stride, kSteps};
        for (int64_t j = 0; j < cols; j += kBlock) {
          float* sum = k <= kDepth ? sums : sums + (chunk < k ? i * cols : 0) + j * kBlock;
          multiply_tiles(depth / kSteps, left, b_pack + (k0 - first) * cols + j * depth, sum, k0 != 0);
          if (k0 + depth == k) {
            store(sum, i, j, rows, std::min(kBlock, n - j));
          }
        }
      }
    }
  }
  close_tiles();
}

/// Whether the processor has the tiles, and the system lets this process use them.
bool has_amx() {
  static const bool found = [] {
    constexpr unsigned kBfloat16 = 1u << 22, kTiles = 1u << 24, kConversions = 1u << 5;
    constexpr long kRequestPermission = 0x1023, kTileData = 18;
    unsigned a, b, c, d;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & kBfloat16) != 0 && (d & kTiles) != 0 &&
        __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && (a & kConversions) != 0 &&
        syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
  }();
  return found;
}

} // namespace amx
} // namespace

bool amx_supports(const Gemm<c10::BFloat16>& g) {
  using namespace amx;
  return std::min({g.m, g.n, g.k}) >= kLeastSize && g.k <= kMaxSteps && g.m * g.n * g.k >= kLeastWork && has_amx();
}

void gemm_amx(const Gemm<c10::BFloat16>& problem, const c10::BFloat16* bias) {
  using namespace amx;
  // The right factor by columns, as weights lie, meets few rows: as the left one of the transposed product it needs no
  // packing.
  const bool has_weights = problem.m <= kFew && problem.m < problem.n && problem.b.col_stride != 1 &&
      is_row_major(problem.b.transposed(), problem.k, problem.m);
  const Gemm<BFloat16> g =
      has_weights || (problem.c.col_stride != 1 && problem.c.row_stride == 1) ? problem.transposed() : problem;
  const int64_t most_cols = std::clamp(kMaxPacked / g.k / kBlock * kBlock, kBlock, kMaxCols);
  const int64_t col_blocks = ceil_div(g.n, most_cols);
  const int64_t cols = ceil_div(ceil_div(g.n, col_blocks), kBlock) * kBlock;
  // Rows are cut only for the sake of threads: each part packs B anew.
  const int64_t tasks = std::clamp<int64_t>(g.batch * g.m * g.n * g.k / kTaskWork, 1, at::get_num_threads());
  const int64_t row_blocks = std::min(ceil_div(tasks, g.batch * col_blocks), ceil_div(g.m, 2 * kBlock));
  const int64_t rows = ceil_div(ceil_div(g.m, row_blocks), kBlock) * kBlock;
  const int64_t blocks = col_blocks * row_blocks;
  const int64_t grain = std::max<int64_t>(1, kTaskWork / std::max<int64_t>(1, g.m * g.n * g.k / blocks));
  at::parallel_for(0, g.batch * blocks, grain, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t s = task / blocks, i = task % blocks / col_blocks * rows, j = task % col_blocks * cols;
      if (i >= g.m || j >= g.n) {
        continue;
      }
      const Matrix<const BFloat16> a{g.a.data + s * g.a_batch, g.a.row_stride, g.a.col_stride};
      const Matrix<const BFloat16> b{g.b.data + s * g.b_batch, g.b.row_stride, g.b.col_stride};
      const Matrix<BFloat16> c{g.c.data + s * g.c_batch, g.c.row_stride, g.c.col_stride};
      multiply_block(
          g, a.shifted(i, 0), b.shifted(0, j), std::min(rows, g.m - i), std::min(cols, g.n - j),
          {g, c.shifted(i, j), bias == nullptr ? nullptr : bias + (g.c.col_stride == 1 ? j : i)});
    }
  });
}

} // namespace CPU_CAPABILITY
} // namespace at::native

#else

namespace at::native {
inline namespace CPU_CAPABILITY {

bool amx_supports(const Gemm<c10::BFloat16>&) {
  return false;
}
void gemm_amx(const Gemm<c10::BFloat16>&, const c10::BFloat16*) {}

} // namespace CPU_CAPABILITY
} // namespace at::native

#endif
