// The kernel of Note [Convolution as a product], for any arithmetic.
//
// A block makes a tile of the result. Tiles of a and b, 64 bytes of depth at a time, go through shared memory: while one is
// multiplied, the next are on their way.
#pragma once

#include <aten/native/cuda/implicit_gemm.h>
#include <aten/native/cuda/memory_access.cuh>
#include <aten/native/cuda/tensor_core.cuh>
#include <c10/cuda/CUDAException.h>

#include <cstdint>
#include <type_traits>

namespace at::native::cuda::implicit_gemm {

// ---- places ------------------------------------------------------------------------------------------------------------------

/// A coordinate that is outside of each image, whatever is added: coordinates are between -2^30 and 2^30.
inline constexpr int kNowhere = -(1 << 30);

/// A part of a place in the windowed tensor: rows and depth give one each, whose sum it is.
struct Place {
  std::int64_t offset;
  int at[3];
};

/// A number written with several digits: pixels are (image, 3 coordinates), taps (3 coordinates, channel) or (channel, 3
/// coordinates).
struct Digits {
  int x[4];
};

/// How many values each digit has.
struct Radix {
  int of[4];

  __device__ Digits digits(std::int64_t i) const {
    Digits d;
#pragma unroll
    for (int k = 3; k > 0; --k) {
      const std::int64_t q =
          i <= INT32_MAX ? static_cast<std::uint32_t>(i) / static_cast<std::uint32_t>(of[k]) : i / of[k]; // 64 bits are slow
      d.x[k] = static_cast<int>(i - q * of[k]);
      i = q;
    }
    d.x[0] = static_cast<int>(i);
    return d;
  }
  /// d += by
  __device__ void advance(Digits& d, const Digits& by) const {
    int carry = 0;
#pragma unroll
    for (int k = 3; k > 0; --k) {
      const int sum = d.x[k] + by.x[k] + carry;
      carry = sum >= of[k] ? 1 : 0;
      d.x[k] = carry != 0 ? sum - of[k] : sum;
    }
    d.x[0] += by.x[0] + carry;
  }
  __device__ bool contains(const Digits& d) const {
    return d.x[0] < of[0];
  }
};

/// A dimension, in one phase.
struct PhaseDim {
  int taps, first_tap;
  int start, step; // in the windowed tensor: of pixel 0, to the next pixel
  int first_pixel, pixel_step; // in the tensor that has the pixels
};

__device__ inline PhaseDim phase_of(const GemmDim& d, bool to_image, int phase) {
  if (!to_image) {
    return {d.kernel, 0, -d.padding, d.stride, 0, 1};
  }
  const int candidates = d.tap_step < d.kernel ? d.tap_step : d.kernel;
  for (int first = 0; first < candidates; ++first) {
    const int place = phase + d.padding - first * d.dilation;
    if (place % d.stride == 0) {
      return {(d.kernel - first - 1) / d.tap_step + 1, first, place / d.stride, 1, phase, d.stride};
    }
  }
  return {0, 0, 0, 1, phase, d.stride};
}

/// Where things lie for a tile of the result.
template <bool kToWeight>
struct Places {
  const ImplicitGemm& p;
  PhaseDim dim[3];
  Radix pixels, taps;

  __device__ Places(const ImplicitGemm& p, std::uint32_t phase) : p(p) {
    pixels.of[0] = p.batch;
    const int first = p.taps_fastest ? 1 : 0;
#pragma unroll
    for (int i = 2; i >= 0; --i) {
      const auto phases = static_cast<std::uint32_t>(p.dim[i].phases);
      dim[i] = phase_of(p.dim[i], !kToWeight && p.to_image, static_cast<int>(phase % phases));
      phase /= phases;
      pixels.of[i + 1] = p.dim[i].pixels;
    }
    taps.of[0] = first != 0 ? p.channels : dim[0].taps;
    taps.of[1] = first != 0 ? dim[0].taps : dim[1].taps;
    taps.of[2] = first != 0 ? dim[1].taps : dim[2].taps;
    taps.of[3] = first != 0 ? dim[2].taps : p.channels;
  }

  __device__ int channel(const Digits& tap) const {
    return p.taps_fastest ? tap.x[0] : tap.x[3];
  }
  __device__ int tap(const Digits& tap, int i) const {
    return p.taps_fastest ? tap.x[i + 1] : tap.x[i];
  }
  __device__ std::int64_t tap_numbers() const {
    return std::int64_t{p.channels} * dim[0].taps * dim[1].taps * dim[2].taps;
  }
  __device__ std::int64_t pixel_numbers() const {
    return std::int64_t{p.batch} * p.dim[0].pixels * p.dim[1].pixels * p.dim[2].pixels;
  }

  /// In the windowed tensor.
  __device__ Place of_pixel(const Digits& d) const {
    Place place;
    place.offset = d.x[0] * p.windowed.batch;
#pragma unroll
    for (int i = 0; i < 3; ++i) {
      place.at[i] = d.x[i + 1] * dim[i].step + dim[i].start;
      place.offset += place.at[i] * p.windowed.of[i];
    }
    return place;
  }
  __device__ Place of_tap(const Digits& d) const {
    Place place;
    place.offset = channel(d) * p.windowed.channel;
#pragma unroll
    for (int i = 0; i < 3; ++i) {
      place.at[i] = tap(d, i) * p.dim[i].tap_move;
      place.offset += place.at[i] * p.windowed.of[i];
    }
    return place;
  }
  __device__ bool inside(const int (&one)[3], const int (&other)[3]) const {
    // Without branches.
    return (static_cast<unsigned>(one[0] + other[0]) < static_cast<unsigned>(p.dim[0].windowed)) &
        (static_cast<unsigned>(one[1] + other[1]) < static_cast<unsigned>(p.dim[1].windowed)) &
        (static_cast<unsigned>(one[2] + other[2]) < static_cast<unsigned>(p.dim[2].windowed));
  }
  /// Of a row.
  __device__ Place of_row(std::int64_t row) const {
    Place place = kToWeight ? of_tap(taps.digits(row)) : of_pixel(pixels.digits(row));
    place.at[0] = row < p.rows ? place.at[0] : kNowhere;
    return place;
  }

  // Of a place of the depth.
  __device__ const Radix& depth() const {
    return kToWeight ? pixels : taps;
  }
  __device__ Place of_depth(const Digits& d) const {
    return kToWeight ? of_pixel(d) : of_tap(d);
  }
  /// In the other operand.
  __device__ std::int64_t depth_offset(const Digits& d) const {
    return kToWeight ? pixel_offset(d) : weight_offset(d);
  }
  /// A column, in the other operand.
  __device__ std::int64_t column_offset(int column) const {
    return column * (kToWeight ? p.pixels.channel : p.weight.column);
  }

  /// In the tensor that has the pixels.
  __device__ std::int64_t pixel_offset(const Digits& d) const {
    std::int64_t offset = d.x[0] * p.pixels.batch;
#pragma unroll
    for (int i = 0; i < 3; ++i) {
      offset += pixel_at(d, i) * p.pixels.of[i];
    }
    return offset;
  }
  __device__ int pixel_at(const Digits& d, int i) const {
    return kToWeight ? d.x[i + 1] : dim[i].first_pixel + d.x[i + 1] * dim[i].pixel_step;
  }
  /// The last pixels of a phase may be beyond the tensor.
  __device__ bool has_pixel(const Digits& d) const {
    return pixels.contains(d) && pixel_at(d, 0) < p.dim[0].size && pixel_at(d, 1) < p.dim[1].size && pixel_at(d, 2) < p.dim[2].size;
  }
  /// In the weight, from the first tap of this phase on.
  __device__ std::int64_t weight_offset(const Digits& d) const {
    std::int64_t offset = channel(d) * p.weight.channel;
#pragma unroll
    for (int i = 0; i < 3; ++i) {
      offset += tap(d, i) * p.dim[i].tap_step * p.weight.of[i];
    }
    return offset;
  }
  /// In the weight, where the taps of this phase begin.
  __device__ std::int64_t first_tap_offset() const {
    return dim[0].first_tap * p.weight.of[0] + dim[1].first_tap * p.weight.of[1] + dim[2].first_tap * p.weight.of[2];
  }

  /// Where a row and a column of the result are written: the sum, if neither is -1.
  __device__ std::int64_t out_row(std::int64_t row) const {
    if (row >= p.rows) {
      return -1;
    }
    if constexpr (kToWeight) {
      return weight_offset(taps.digits(row));
    } else {
      const Digits d = pixels.digits(row);
      return has_pixel(d) ? pixel_offset(d) : -1;
    }
  }
  __device__ std::int64_t out_column(int column) const {
    return column < p.columns ? column * (kToWeight ? p.weight.column : p.pixels.channel) : -1;
  }
};

/// The number of this block, read anew: what has been computed of it before the main loop is not kept in registers until after it.
__device__ inline std::uint32_t block_number() {
#if defined(__CUDA_ARCH__)
  std::uint32_t number;
  asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(number));
  return number;
#else
  return blockIdx.x;
#endif
}

/// The tile that a block makes.
struct TileNumber {
  std::uint32_t column, row, phase, group, split;

  __device__ TileNumber(const ImplicitGemm& p, std::uint32_t i) {
    column = take(i, p.column_tiles);
    row = take(i, p.row_tiles);
    phase = take(i, p.phases);
    group = take(i, p.groups);
    split = i;
  }

 private:
  static __device__ std::uint32_t take(std::uint32_t& i, int size) {
    const std::uint32_t quotient = i / static_cast<std::uint32_t>(size), rest = i - quotient * static_cast<std::uint32_t>(size);
    i = quotient;
    return rest;
  }
};

template <bool kToWeight>
__device__ inline std::int64_t out_group(const ImplicitGemm& p, std::uint32_t group) {
  return group * (kToWeight ? p.weight.group : p.columns * p.pixels.channel);
}

// ---- tiles in shared memory --------------------------------------------------------------------------------------------------

/// Rows of 64 bytes of depth, side by side by depth or by rows. Pieces of 16 bytes are exchanged so that what a warp reads or writes
/// at once lies in different banks.
///
/// Rows, depth and their products with sizes are put together by exclusive or: the offset of (row ^ r, k ^ s) is that of (row, k)
/// ^ that of (r, s). So a thread that has some elements computes one offset, and the others by constants.
template <class T, int kRows>
struct Tile {
  static constexpr int kSize = static_cast<int>(sizeof(T)), kPiece = 16 / kSize, kDepth = 64 / kSize;
  static constexpr int kBytes = kRows * 64;
  std::uint8_t* memory; // the offsets of a tile begin at a multiple of its size
  int start;

  /// Elements `number` * kPiece and following of the depth of a row.
  static constexpr HOST_DEVICE int along_depth(int row, int number) {
    return row * 64 + ((number ^ (row / 2 & 3)) * 16);
  }
  /// Rows `number` * kPiece and following at a place k of the depth.
  static constexpr HOST_DEVICE int along_rows(int k, int number) {
    return k * (kRows * kSize) + ((number ^ ((k & 3) * 2 + (k / 4 & 1))) * 16);
  }
  static constexpr HOST_DEVICE int element(bool by_depth, int row, int k) {
    return by_depth ? along_depth(row, k / kPiece) + k % kPiece * kSize : along_rows(k, row / kPiece) + row % kPiece * kSize;
  }
  __device__ std::uint8_t* at(int offset) const {
    return memory + (start ^ offset);
  }
};

/// Loads tiles of a and b 16 bytes at a time, along depth: channels are fastest, and the weight lies in that order.
template <class Math>
class WideTapLoader {
  using T = typename Math::Element;
  using MathTile = Tile<T, Math::kSize>;
  static constexpr int kPieces = 4; // of a row
  static constexpr int kStep = Math::kThreads / kPieces; // rows that the threads load at once
  static constexpr int kSlots = Math::kSize / kStep; // rows of a thread

 public:
  static constexpr int kStages = 3;
  static constexpr int kTableBytes = 0;

  __device__ WideTapLoader(
      const Places<false>& places, std::int64_t row, int column, std::int64_t depth, const T* a, const T* b, std::uint8_t*)
      : places_(places) {
#pragma unroll
    for (int i = 0; i < kSlots; ++i) {
      const int own = line() + i * kStep;
      const Place place = places.of_row(row + own);
      rows_[i] = a + place.offset;
      at_[i][0] = place.at[0];
      at_[i][1] = place.at[1];
      at_[i][2] = place.at[2];
      columns_[i] = b + places.column_offset(column + own);
      there_ |= column + own < places.p.columns ? 1U << (2 * kSlots + i) : 0U;
    }
    const Digits digits = places.taps.digits(depth + piece() * MathTile::kPiece);
    tap_[0] = digits.x[0];
    tap_[1] = digits.x[1];
    tap_[2] = digits.x[2];
    channel_ = digits.x[3];
    find_tap();
  }

  __device__ void begin() {}

  /// Begins to load the next tiles.
  __device__ void fetch(const MathTile& tile_a, const MathTile& tile_b) {
#pragma unroll
    for (int i = 0; i < kSlots; ++i) {
      const int to = MathTile::along_depth(line() + i * kStep, piece());
      copy_16_bytes(tile_a.at(to), rows_[i] + (offset_ + channel_), (there_ >> i & 1) != 0);
      copy_16_bytes(tile_b.at(to), columns_[i] + (weight_offset_ + channel_), (there_ >> (kSlots + i) & 1) != 0);
    }
    channel_ += MathTile::kDepth;
    if (channel_ >= places_.p.channels) {
      next_tap();
    }
  }
  __device__ void put(const MathTile&, const MathTile&) {}

  __device__ bool a_by_depth() const {
    return true;
  }
  __device__ bool b_by_depth() const {
    return true;
  }

 private:
  static __device__ int piece() {
    return static_cast<int>(threadIdx.x) % kPieces;
  }
  static __device__ int line() {
    return static_cast<int>(threadIdx.x) / kPieces;
  }

  __device__ void next_tap() {
    const Radix& taps = places_.taps;
    do { // once, if a tap has no fewer channels than a tile depth
      channel_ -= places_.p.channels;
      if (++tap_[2] == taps.of[2]) {
        tap_[2] = 0;
        if (++tap_[1] == taps.of[1]) {
          tap_[1] = 0;
          ++tap_[0];
        }
      }
    } while (channel_ >= places_.p.channels);
    find_tap();
  }

  /// What changes with the tap.
  __device__ void find_tap() {
    const ImplicitGemm& p = places_.p;
    offset_ = 0;
    weight_offset_ = 0;
    int at[3];
#pragma unroll
    for (int i = 0; i < 3; ++i) {
      at[i] = tap_[i] * p.dim[i].tap_move;
      offset_ += at[i] * p.windowed.of[i];
      weight_offset_ += tap_[i] * p.dim[i].tap_step * static_cast<int>(p.weight.of[i]); // inside of a column: 31 bits
    }
    const unsigned columns = there_ >> (2 * kSlots);
    there_ = columns << (2 * kSlots);
    if (tap_[0] < places_.taps.of[0]) {
      there_ |= columns << kSlots;
#pragma unroll
      for (int i = 0; i < kSlots; ++i) {
        there_ |= places_.inside(at_[i], at) ? 1U << i : 0U;
      }
    }
  }

  const Places<false>& places_;
  const T *rows_[kSlots], *columns_[kSlots]; // where nothing is to be added for depth
  int at_[kSlots][3];
  int tap_[3], channel_;
  std::int64_t offset_; // of the tap
  int weight_offset_;
  unsigned there_ = 0; // bits: rows and columns at this tap, and columns at all
};

/// Loads tiles of pass weight 16 bytes at a time, along rows and columns, which are channels.
template <class Math>
class WidePixelLoader {
  using T = typename Math::Element;
  using MathTile = Tile<T, Math::kSize>;
  static constexpr int kPieces = Math::kSize / MathTile::kPiece; // of a place of the depth
  static constexpr int kStep = Math::kThreads / kPieces; // places of the depth that the threads load at once
  static constexpr int kSlots = MathTile::kDepth / kStep; // places of a thread

 public:
  static constexpr int kStages = 3;
  static constexpr int kTableBytes = 0;

  __device__ WidePixelLoader(
      const Places<true>& places, std::int64_t row, int column, std::int64_t depth, const T* a, const T* b, std::uint8_t*)
      : places_(places) {
    const int own = piece() * MathTile::kPiece;
    const Place place = places.of_row(row + own);
    row_ = a + place.offset;
    at_[0] = place.at[0];
    at_[1] = place.at[1];
    at_[2] = place.at[2];
    column_ = b + places.column_offset(column + own);
    column_there_ = column + own < places.p.columns;
#pragma unroll
    for (int j = 0; j < kSlots; ++j) {
      digits_[j] = places.pixels.digits(depth + line() + j * kStep);
    }
  }

  __device__ void begin() {}

  /// Begins to load the next tiles.
  __device__ void fetch(const MathTile& tile_a, const MathTile& tile_b) {
    const std::int32_t(&step)[4] = places_.p.depth_step;
#pragma unroll
    for (int j = 0; j < kSlots; ++j) {
      const bool in_depth = places_.pixels.contains(digits_[j]);
      const Place place = places_.of_pixel(digits_[j]);
      const int to = MathTile::along_rows(line() + j * kStep, piece());
      copy_16_bytes(tile_a.at(to), row_ + place.offset, in_depth && places_.inside(at_, place.at));
      copy_16_bytes(tile_b.at(to), column_ + places_.pixel_offset(digits_[j]), in_depth && column_there_);
      places_.pixels.advance(digits_[j], {step[0], step[1], step[2], step[3]});
    }
  }
  __device__ void put(const MathTile&, const MathTile&) {}

  __device__ bool a_by_depth() const {
    return false;
  }
  __device__ bool b_by_depth() const {
    return false;
  }

 private:
  static __device__ int piece() {
    return static_cast<int>(threadIdx.x) % kPieces;
  }
  static __device__ int line() {
    return static_cast<int>(threadIdx.x) / kPieces;
  }

  const Places<true>& places_;
  const T *row_, *column_; // where nothing is to be added for depth
  int at_[3];
  bool column_there_;
  Digits digits_[kSlots];
};

/// An element of 16 bits, or zero, without a branch.
template <class T>
__device__ inline T load_or_zero(const T* from, bool there) {
#if defined(__CUDA_ARCH__)
  std::uint16_t bits = 0;
  asm volatile("{\n.reg .pred there;\nsetp.ne.s32 there, %2, 0;\n@there ld.global.u16 %0, [%1];\n}" : "+h"(bits) : "l"(from), "r"(there ? 1 : 0));
  return T(bits, T::from_bits());
#else
  return there ? *from : T(0);
#endif
}

/// Loads tiles element by element, from any strides. Where rows, columns and depth lie stands in tables in shared memory.
template <class Math, bool kToWeight>
class ElementLoader {
  using T = typename Math::Element;
  using MathTile = Tile<T, Math::kSize>;
  static constexpr int kDepth = MathTile::kDepth;
  static constexpr int kOwn = Math::kSize * kDepth / Math::kThreads; // elements of a tile for each thread
  static constexpr bool kHeld = sizeof(T) < 4; // too small for copies behind the thread's back: they go through registers

  struct alignas(16) RowPlace {
    std::int64_t offset;
    int at[3];
  };
  struct alignas(16) DepthPlace {
    std::int64_t offset, other; // in the windowed tensor; in the other operand, or -1
    int at[3];
  };
  struct Tables {
    RowPlace rows[Math::kSize];
    DepthPlace depths[2][kDepth]; // of the tiles that are loaded now, and of the next
    Digits digits[kDepth], step;
    std::int64_t columns[Math::kSize]; // offsets, or -1
  };

 public:
  static constexpr int kStages = 2;
  static constexpr int kTableBytes = static_cast<int>(sizeof(Tables));

  __device__ ElementLoader(
      const Places<kToWeight>& places, std::int64_t row, int column, std::int64_t depth, const T* a, const T* b, std::uint8_t* memory)
      : places_(places), a_(a), b_(b), tables_(*reinterpret_cast<Tables*>(memory)) {
    const int own = static_cast<int>(threadIdx.x);
    if (own < Math::kSize) {
      const Place place = places.of_row(row + own);
      tables_.rows[own] = {place.offset, {place.at[0], place.at[1], place.at[2]}};
      tables_.columns[own] = column + own < places.p.columns ? places.column_offset(column + own) : -1;
    }
    if (own < kDepth) {
      tables_.digits[own] = places.depth().digits(depth + own);
    }
    if (own == 0) {
      tables_.step = places.depth().digits(kDepth);
    }
  }

  /// Before the first tiles.
  __device__ void begin() {
    __syncthreads();
    tabulate(0);
    __syncthreads();
  }

  /// Begins to load the next tiles. Between a call and the next, the threads wait for each other.
  __device__ void fetch(const MathTile& tile_a, const MathTile& tile_b) {
    const DepthPlace* const depths = tables_.depths[step_];
    each(places_.p.a_by_depth, a_by_depth(), tables_.rows, depths, [&](int i, int to, const RowPlace& place, const DepthPlace& d) {
      const bool there = places_.inside(place.at, d.at);
      const T* const from = a_ + (place.offset + d.offset);
      if constexpr (kHeld) {
        held_a_[i] = load_or_zero(from, there);
      } else {
        copy_bytes<sizeof(T)>(tile_a.at(to), from, there);
      }
    });
    each(places_.p.b_by_depth, b_by_depth(), tables_.columns, depths, [&](int i, int to, std::int64_t place, const DepthPlace& d) {
      const bool there = (place | d.other) >= 0;
      const T* const from = b_ + (place + d.other);
      if constexpr (kHeld) {
        held_b_[i] = load_or_zero(from, there);
      } else {
        copy_bytes<sizeof(T)>(tile_b.at(to), from, there);
      }
    });
    step_ ^= 1;
    tabulate(step_);
  }
  /// Ends what fetch() has begun, if copies are not behind the thread's back.
  __device__ void put(const MathTile& tile_a, const MathTile& tile_b) {
    if constexpr (kHeld) {
      each(places_.p.a_by_depth, a_by_depth(), [&](int i, int to) { *reinterpret_cast<T*>(tile_a.at(to)) = held_a_[i]; });
      each(places_.p.b_by_depth, b_by_depth(), [&](int i, int to) { *reinterpret_cast<T*>(tile_b.at(to)) = held_b_[i]; });
    }
  }

  // How the tiles lie.
  __device__ bool a_by_depth() const {
    return Math::kDepthOrRows && places_.p.a_by_depth;
  }
  __device__ bool b_by_depth() const {
    return Math::kDepthOrRows && places_.p.b_by_depth;
  }

 private:
  /// Where the next places of depth lie.
  __device__ void tabulate(int table) {
    const int own = static_cast<int>(threadIdx.x);
    if (own >= kDepth) {
      return;
    }
    Digits digits = tables_.digits[own];
    const Place place = places_.of_depth(digits);
    const bool there = places_.depth().contains(digits);
    tables_.depths[table][own] = {
        place.offset, there ? places_.depth_offset(digits) : -1, {there ? place.at[0] : kNowhere, place.at[1], place.at[2]}};
    places_.depth().advance(digits, tables_.step);
    tables_.digits[own] = digits;
  }

  // The elements of a tile that a thread loads: from the first on, in such steps.
  static constexpr int kRowStep = Math::kThreads / kDepth, kDepthStep = Math::kThreads / Math::kSize;
  static __device__ int first_row(bool by_depth) {
    return static_cast<int>(threadIdx.x) / (by_depth ? kDepth : 1) % Math::kSize;
  }
  static __device__ int first_depth(bool by_depth) {
    return static_cast<int>(threadIdx.x) / (by_depth ? 1 : Math::kSize) % kDepth;
  }

  /// f(which, offset in the tile)
  template <class F>
  __device__ static void each(bool by_depth, bool tile_by_depth, F f) {
    const int first = MathTile::element(tile_by_depth, first_row(by_depth), first_depth(by_depth));
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
      f(i, first ^ MathTile::element(tile_by_depth, by_depth ? i * kRowStep : 0, by_depth ? 0 : i * kDepthStep));
    }
  }
  /// The same, with what stands in the tables: f(which, offset in the tile, place of the row, place of the depth)
  template <class RowPlace, class F>
  __device__ static void each(bool by_depth, bool tile_by_depth, const RowPlace* rows, const DepthPlace* depths, F f) {
    rows += first_row(by_depth);
    depths += first_depth(by_depth);
    if (by_depth) {
      const DepthPlace depth = *depths;
      each(true, tile_by_depth, [&](int i, int to) { f(i, to, rows[i * kRowStep], depth); });
    } else {
      const RowPlace row = *rows;
      each(false, Math::kDepthOrRows ? false : tile_by_depth, [&](int i, int to) { f(i, to, row, depths[i * kDepthStep]); });
    }
  }

  const Places<kToWeight>& places_;
  const T *a_, *b_;
  Tables& tables_;
  int step_ = 0;
  T held_a_[kHeld ? kOwn : 1], held_b_[kHeld ? kOwn : 1];
};

// ---- the kernel --------------------------------------------------------------------------------------------------------------

template <class Math, bool kToWeight, bool kWide>
using Loader = std::conditional_t<
    kWide, std::conditional_t<kToWeight, WidePixelLoader<Math>, WideTapLoader<Math>>, ElementLoader<Math, kToWeight>>;

/// Half of a tile of sums in shared memory, on its way to the result: by columns or by rows.
template <class Math>
struct OutTile {
  using Sum = typename Math::Sum;
  static constexpr int kRows = Math::kSize / 2;
  static constexpr int kBytes = Math::kSize * (kRows + 8) * static_cast<int>(sizeof(Sum));
  Sum* memory;
  bool columns_fastest;

  __device__ Sum& operator()(int row, int column) const {
    return memory[columns_fastest ? row * (Math::kSize + 8) + column : column * (kRows + 4) + row];
  }
};

constexpr int greatest(int a, int b) {
  return a > b ? a : b;
}

template <class Math, bool kToWeight, bool kWide>
__global__ void __launch_bounds__(Math::kThreads, kWide ? Math::kWideBlocks : Math::kBlocks) multiply(const ImplicitGemm p) {
  using T = typename Math::Element;
  using Sum = typename Math::Sum;
  using TileLoader = Loader<Math, kToWeight, kWide>;
  using MathTile = Tile<T, Math::kSize>;
  constexpr int kSize = Math::kSize, kStages = TileLoader::kStages;
  constexpr int kStageBytes = 2 * MathTile::kBytes;
  constexpr int kOutBytes = OutTile<Math>::kBytes + 2 * kSize * static_cast<int>(sizeof(std::int64_t));
  constexpr int kBytes = greatest(kStages * kStageBytes + TileLoader::kTableBytes, kOutBytes);
  static_assert(kBytes <= 48 * 1024);
  __shared__ alignas(16) std::uint8_t memory[kBytes];

  Math math;
  {
    const TileNumber tile(p, block_number());
    const Places<kToWeight> places(p, tile.phase);
    const std::int64_t row0 = static_cast<std::int64_t>(tile.row) * kSize;
    const int column0 = static_cast<int>(tile.column) * kSize;
    const std::int64_t depth = kToWeight ? places.pixel_numbers() : places.tap_numbers();
    const std::int64_t steps = (depth + MathTile::kDepth - 1) / MathTile::kDepth;
    const std::int64_t first = steps * tile.split / p.splits, last = steps * (tile.split + 1) / p.splits;
    const int count = static_cast<int>(last - first);
    if (count > 0) {
      const std::int64_t group = tile.group;
      const T* const a = static_cast<const T*>(p.a) + group * p.channels * p.windowed.channel;
      const T* const b = static_cast<const T*>(p.b) +
          (kToWeight ? group * p.columns * p.pixels.channel : group * p.weight.group + places.first_tap_offset());
      TileLoader loader(places, row0, column0, first * MathTile::kDepth, a, b, memory + kStages * kStageBytes);
      loader.begin();
      const auto tile_a = [&](int s) { return MathTile{memory, s * kStageBytes}; };
      const auto tile_b = [&](int s) { return MathTile{memory, s * kStageBytes + MathTile::kBytes}; };
#pragma unroll
      for (int s = 0; s < kStages - 1; ++s) {
        if (s < count) {
          loader.fetch(tile_a(s), tile_b(s));
          loader.put(tile_a(s), tile_b(s));
        }
        end_copy_group();
      }
      int stage = 0;
      for (int left = count; left > 0; --left) {
        copies_done_but<kStages - 2>();
        __syncthreads(); // the tiles are there, and all are done with those before
        const bool more = left > kStages - 1;
        const int next = stage == 0 ? kStages - 1 : stage - 1;
        if (more) {
          loader.fetch(tile_a(next), tile_b(next));
        }
        end_copy_group();
        math.multiply(tile_a(stage), tile_b(stage), loader.a_by_depth(), loader.b_by_depth());
        if (more) {
          loader.put(tile_a(next), tile_b(next));
        }
        stage = stage + 1 == kStages ? 0 : stage + 1;
      }
      copies_done();
    }
  }

  // Results go through shared memory, so that neighbouring threads write neighbours.
  const OutTile<Math> sums{reinterpret_cast<Sum*>(memory), p.columns_fastest};
  auto* const out_rows = reinterpret_cast<std::int64_t*>(memory + OutTile<Math>::kBytes);
  std::int64_t* const out_columns = out_rows + kSize;
  const std::uint32_t block = block_number();
  const TileNumber tile(p, block);
  const int column0 = static_cast<int>(tile.column) * kSize, own = static_cast<int>(threadIdx.x);
  __syncthreads(); // all have read the last tiles
  if (own < kSize) {
    const Places<kToWeight> places(p, tile.phase);
    out_rows[own] = places.out_row(static_cast<std::int64_t>(tile.row) * kSize + own);
    out_columns[own] = places.out_column(column0 + own);
  }
  T* const out = static_cast<T*>(p.out) + out_group<kToWeight>(p, tile.group);
  const T* const bias = p.bias == nullptr ? nullptr : static_cast<const T*>(p.bias) + tile.group * p.columns + column0;
  constexpr int kRows = OutTile<Math>::kRows, kElements = kRows * kSize;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    __syncthreads();
    math.each([&](int row, int column, const Sum& sum) {
      if (row / kRows == half) {
        sums(row % kRows, column) = sum;
      }
    });
    __syncthreads();
    if (p.parts != nullptr) {
      Sum* const part = static_cast<Sum*>(p.parts) + static_cast<std::int64_t>(block) * (2 * kElements) + half * kElements;
      for (int i = own; i < kElements; i += Math::kThreads) {
        part[i] = p.columns_fastest ? sums(i / kSize, i % kSize) : sums(i % kRows, i / kRows);
      }
    } else if (p.wide_out) {
      constexpr int kPiece = MathTile::kPiece, kPieces = kSize / kPiece;
      for (int i = own; i < kRows * kPieces; i += Math::kThreads) {
        const int row = i / kPieces, column = i % kPieces * kPiece;
        const std::int64_t to_row = out_rows[half * kRows + row], to_column = out_columns[column];
        if (to_row >= 0 && to_column >= 0) {
          Aligned<T, kPiece> piece;
#pragma unroll
          for (int k = 0; k < kPiece; ++k) {
            const Sum sum = sums(row, column + k);
            piece.values[k] = narrow<T>(bias == nullptr ? sum : sum + widen(bias[column + k]));
          }
          *reinterpret_cast<Aligned<T, kPiece>*>(out + to_row + to_column) = piece;
        }
      }
    } else {
      for (int i = own; i < kElements; i += Math::kThreads) {
        const int row = p.columns_fastest ? i / kSize : i % kRows, column = p.columns_fastest ? i % kSize : i / kRows;
        const std::int64_t to_row = out_rows[half * kRows + row], to_column = out_columns[column];
        if (to_row >= 0 && to_column >= 0) {
          const Sum sum = sums(row, column);
          out[to_row + to_column] = narrow<T>(bias == nullptr ? sum : sum + widen(bias[column]));
        }
      }
    }
  }
}

template <class Math, bool kToWeight, bool kWide>
void launch_multiply(const ImplicitGemm& p) {
  const auto blocks = static_cast<unsigned>(p.tiles() * p.splits);
  multiply<Math, kToWeight, kWide><<<blocks, Math::kThreads, 0, p.stream>>>(p);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

// ---- arithmetic --------------------------------------------------------------------------------------------------------------

/// Products of half, bfloat16, or float in TF32, by tensor cores (Note [Fragments]).
template <class T, int kTile>
struct TensorCoreMath {
  using Element = T;
  using Sum = float;
  using MathTile = Tile<T, kTile>;
  static constexpr int kSize = kTile, kThreads = 2 * kTile;
  // Blocks that a multiprocessor is to have room for. 16 bits take registers on their way to shared memory.
  static constexpr int kWideBlocks = kTile == 128 ? 2 : 4, kBlocks = sizeof(T) == 4 ? kWideBlocks : kTile == 128 ? 1 : 3;
  static constexpr bool kDepthOrRows = true; // tiles may lie either way

  // Two rows of warps; each has half of the rows and 32 columns.
  static constexpr int kWarpRows = kTile / 2, kWarpColumns = 32, kDown = kWarpRows / 16, kAcross = kWarpColumns / 8;
  float sums[kDown][kAcross][4] = {};

  static __device__ int lane() {
    return static_cast<int>(threadIdx.x) % 32;
  }
  static __device__ int first_row() {
    return static_cast<int>(threadIdx.x) / 32 % 2 * kWarpRows;
  }
  static __device__ int first_column() {
    return static_cast<int>(threadIdx.x) / 64 * kWarpColumns;
  }

  __device__ void multiply(const MathTile& tile_a, const MathTile& tile_b, bool a_by_depth, bool b_by_depth) {
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      std::uint32_t b[kAcross / 2][4];
#pragma unroll
      for (int n = 0; n < kAcross / 2; ++n) {
        load_b(b[n], tile_b, b_by_depth, n, k);
      }
#pragma unroll
      for (int m = 0; m < kDown; ++m) {
        std::uint32_t a[4];
        load_a(a, tile_a, a_by_depth, m, k);
#pragma unroll
        for (int n = 0; n < kAcross; ++n) {
          const std::uint32_t(&words)[4] = b[n / 2];
          if constexpr (sizeof(T) == 4) {
            multiply_add_tf32(sums[m][n], a, words[n % 2 * 2], words[n % 2 * 2 + 1]);
          } else {
            multiply_add<T>(sums[m][n], a, words[n % 2 * 2], words[n % 2 * 2 + 1]);
          }
        }
      }
    }
  }

  template <class F>
  __device__ void each(F f) const {
#pragma unroll
    for (int m = 0; m < kDown; ++m) {
#pragma unroll
      for (int n = 0; n < kAcross; ++n) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          f(first_row() + 16 * m + lane() / 4 + i / 2 * 8, first_column() + 8 * n + lane() % 4 * 2 + i % 2, sums[m][n][i]);
        }
      }
    }
  }

 private:
  static __device__ void round(std::uint32_t (&words)[4]) {
    if constexpr (sizeof(T) == 4) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        words[i] = to_tf32(words[i]);
      }
    }
  }

  /// 16 rows and 32 bytes of depth: number m, and k.
  static __device__ void load_a(std::uint32_t (&a)[4], const MathTile& tile, bool by_depth, int m, int k) {
    if (by_depth) {
      load_matrices(a, tile.at(MathTile::along_depth(first_row() + 16 * m + lane() % 16, 2 * k + lane() / 16)));
    } else if constexpr (sizeof(T) == 2) {
      const int first = MathTile::along_rows(lane() / 16 * 8 + lane() % 8, first_row() / 8 + lane() / 8 % 2);
      load_matrices_transposed(a, tile.at(first ^ MathTile::along_rows(16 * k, 2 * m)));
    } else {
      const int first = MathTile::element(false, first_row() + lane() / 4, lane() % 4);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        a[i] = *reinterpret_cast<const std::uint32_t*>(tile.at(first ^ MathTile::element(false, 16 * m + i % 2 * 8, 8 * k + i / 2 * 4)));
      }
    }
    round(a);
  }
  /// 16 columns, number n: {b0, b1} of eight and of the next eight.
  static __device__ void load_b(std::uint32_t (&b)[4], const MathTile& tile, bool by_depth, int n, int k) {
    if (by_depth) {
      load_matrices(b, tile.at(MathTile::along_depth(first_column() + 16 * n + lane() / 16 * 8 + lane() % 8, 2 * k + lane() / 8 % 2)));
    } else if constexpr (sizeof(T) == 2) {
      const int first = MathTile::along_rows(lane() / 8 % 2 * 8 + lane() % 8, first_column() / 8 + lane() / 16);
      load_matrices_transposed(b, tile.at(first ^ MathTile::along_rows(16 * k, 2 * n)));
    } else {
      const int first = MathTile::element(false, first_column() + lane() / 4, lane() % 4);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        b[i] = *reinterpret_cast<const std::uint32_t*>(tile.at(first ^ MathTile::element(false, 16 * n + i / 2 * 8, 8 * k + i % 2 * 4)));
      }
    }
    round(b);
  }
};

/// Ordinary multiplications.
template <class T, int kTile>
struct PlainMath {
  using Element = T;
  using Sum = T;
  using MathTile = Tile<T, kTile>;
  static constexpr int kSize = kTile, kThreads = 2 * kTile, kBlocks = 2, kWideBlocks = 2;
  static constexpr bool kDepthOrRows = false; // tiles lie by rows

  // 16 threads across. A thread has pieces of rows and columns, so that it reads 16 bytes at a time.
  static constexpr int kPiece = MathTile::kPiece, kDown = 8, kAcross = kTile / 16;
  T sums[kDown][kAcross] = {};

  static __device__ int across() {
    return static_cast<int>(threadIdx.x) % 16;
  }
  static __device__ int down() {
    return static_cast<int>(threadIdx.x) / 16;
  }

  __device__ void multiply(const MathTile& tile_a, const MathTile& tile_b, bool, bool) {
#pragma unroll
    for (int k = 0; k < MathTile::kDepth; ++k) {
      T a[kDown], b[kAcross];
      read(a, tile_a, k, down(), kTile / 8);
      read(b, tile_b, k, across(), 16);
#pragma unroll
      for (int i = 0; i < kDown; ++i) {
#pragma unroll
        for (int j = 0; j < kAcross; ++j) {
          sums[i][j] += a[i] * b[j];
        }
      }
    }
  }

  template <class F>
  __device__ void each(F f) const {
#pragma unroll
    for (int i = 0; i < kDown; ++i) {
#pragma unroll
      for (int j = 0; j < kAcross; ++j) {
        f((i / kPiece * (kTile / 8) + down()) * kPiece + i % kPiece, (j / kPiece * 16 + across()) * kPiece + j % kPiece, sums[i][j]);
      }
    }
  }

 private:
  template <int N>
  static __device__ void read(T (&values)[N], const MathTile& tile, int k, int number, int threads) {
#pragma unroll
    for (int i = 0; i < N / kPiece; ++i) {
      const auto piece = *reinterpret_cast<const Aligned<T, kPiece>*>(tile.at(MathTile::along_rows(0, number) ^ MathTile::along_rows(k, i * threads)));
#pragma unroll
      for (int e = 0; e < kPiece; ++e) {
        values[i * kPiece + e] = piece.values[e];
      }
    }
  }
};

/// All kernels of a type for tensor cores.
template <class T>
void launch_tensor_core(const ImplicitGemm& p, GemmKind kind) {
  using Large = TensorCoreMath<T, 128>;
  using Small = TensorCoreMath<T, 64>;
  if (kind.to_weight) {
    if (kind.wide) {
      kind.large ? launch_multiply<Large, true, true>(p) : launch_multiply<Small, true, true>(p);
    } else {
      kind.large ? launch_multiply<Large, true, false>(p) : launch_multiply<Small, true, false>(p);
    }
  } else if (kind.wide) {
    kind.large ? launch_multiply<Large, false, true>(p) : launch_multiply<Small, false, true>(p);
  } else {
    kind.large ? launch_multiply<Large, false, false>(p) : launch_multiply<Small, false, false>(p);
  }
}

} // namespace at::native::cuda::implicit_gemm
