// What brings tiles from memory to shared memory: 16 bytes at a time where operands are channels-last, else element by
// element. Of a loader, fetch() begins to load the next tiles and put() ends that. It says how many tiles are in shared
// memory (kStages), how many bytes it needs besides (kTableBytes), and how its tiles lie.
#pragma once

#include <aten/native/cuda/implicit_gemm_places.cuh>
#include <aten/native/cuda/implicit_gemm_tile.cuh>
#include <aten/native/cuda/tensor_core.cuh>

#include <cstdint>
#include <type_traits>

namespace at::native::cuda::implicit_gemm {

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
      const Places<false>& places,
      std::int64_t row,
      int column,
      std::int64_t depth,
      const T* a,
      const T* b,
      std::uint8_t*)
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
  static constexpr int kPieces = Math::kSize / MathTile::kPiece; // of a position of the depth
  static constexpr int kStep = Math::kThreads / kPieces; // positions of the depth that the threads load at once
  static constexpr int kSlots = MathTile::kDepth / kStep; // positions of a thread

 public:
  static constexpr int kStages = 3;
  static constexpr int kTableBytes = 0;

  __device__ WidePixelLoader(
      const Places<true>& places,
      std::int64_t row,
      int column,
      std::int64_t depth,
      const T* a,
      const T* b,
      std::uint8_t*)
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
  asm volatile("{\n.reg .pred there;\nsetp.ne.s32 there, %2, 0;\n@there ld.global.u16 %0, [%1];\n}"
               : "+h"(bits)
               : "l"(from), "r"(there ? 1 : 0));
  return T(bits, T::from_bits());
#else
  return there ? *from : T(0);
#endif
}

/// Loads tiles element by element, from any strides. Where rows, columns and depth lie stands in tables in shared
/// memory.
template <class Math, bool kToWeight>
class ElementLoader {
  using T = typename Math::Element;
  using MathTile = Tile<T, Math::kSize>;
  static constexpr int kDepth = MathTile::kDepth;
  static constexpr int kOwn = Math::kSize * kDepth / Math::kThreads; // elements of a tile for each thread
  static constexpr bool kHeld =
      sizeof(T) < 4; // too small for copies behind the thread's back: they go through registers

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
      const Places<kToWeight>& places,
      std::int64_t row,
      int column,
      std::int64_t depth,
      const T* a,
      const T* b,
      std::uint8_t* memory)
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
    each(
        places_.p.a_by_depth, a_by_depth(), tables_.rows, depths,
        [&](int i, int to, const RowPlace& place, const DepthPlace& d) {
          const bool there = places_.inside(place.at, d.at);
          const T* const from = a_ + (place.offset + d.offset);
          if constexpr (kHeld) {
            held_a_[i] = load_or_zero(from, there);
          } else {
            copy_bytes<sizeof(T)>(tile_a.at(to), from, there);
          }
        });
    each(
        places_.p.b_by_depth, b_by_depth(), tables_.columns, depths,
        [&](int i, int to, std::int64_t place, const DepthPlace& d) {
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
      each(places_.p.a_by_depth, a_by_depth(), [&](int i, int to) {
        *reinterpret_cast<T*>(tile_a.at(to)) = held_a_[i];
      });
      each(places_.p.b_by_depth, b_by_depth(), [&](int i, int to) {
        *reinterpret_cast<T*>(tile_b.at(to)) = held_b_[i];
      });
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
  /// Where the next positions of depth lie.
  __device__ void tabulate(int table) {
    const int own = static_cast<int>(threadIdx.x);
    if (own >= kDepth) {
      return;
    }
    Digits digits = tables_.digits[own];
    const Place place = places_.of_depth(digits);
    const bool there = places_.depth().contains(digits);
    tables_.depths[table][own] = {
        place.offset,
        there ? places_.depth_offset(digits) : -1,
        {there ? place.at[0] : kNowhere, place.at[1], place.at[2]}};
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
  /// The same, with what stands in the tables: f(which, offset in the tile, position of the row, position of the depth)
  template <class RowPlace, class F>
  __device__ static void each(bool by_depth, bool tile_by_depth, const RowPlace* rows, const DepthPlace* depths, F f) {
    rows += first_row(by_depth);
    depths += first_depth(by_depth);
    if (by_depth) {
      const DepthPlace depth = *depths;
      each(true, tile_by_depth, [&](int i, int to) { f(i, to, rows[i * kRowStep], depth); });
    } else {
      const RowPlace row = *rows;
      each(false, Math::kDepthOrRows ? false : tile_by_depth, [&](int i, int to) {
        f(i, to, row, depths[i * kDepthStep]);
      });
    }
  }

  const Places<kToWeight>& places_;
  const T *a_, *b_;
  Tables& tables_;
  int step_ = 0;
  T held_a_[kHeld ? kOwn : 1], held_b_[kHeld ? kOwn : 1];
};

template <class Math, bool kToWeight, bool kWide>
using Loader = std::conditional_t<
    kWide,
    std::conditional_t<kToWeight, WidePixelLoader<Math>, WideTapLoader<Math>>,
    ElementLoader<Math, kToWeight>>;

} // namespace at::native::cuda::implicit_gemm
