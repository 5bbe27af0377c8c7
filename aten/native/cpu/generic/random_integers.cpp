// Samplers of whole numbers and permutations. Each draws the numbers that PyTorch draws, in the same order.
#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/iterator/MemoryOverlap.h>
#include <aten/native/cpu/generic/random_draws.h>
#include <aten/native/cpu/generic/random_fill.h>
#include <aten/native/random/integer_range.h>
#include <aten/native/support/OutArgument.h>
#include <aten/ops/copy__ops.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

namespace at::native {
namespace {

constexpr auto kRandomDtypes = at::kIntegral | at::kUnsigned | at::kFloating | at::kBooleans;

/// Bounds that a dtype holds exactly, for random_ without an upper limit.
template <class T>
constexpr uint64_t full_range() {
  if constexpr (std::is_same_v<T, bool>) {
    return 1;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<uint64_t>(std::numeric_limits<T>::max());
  } else {
    return uint64_t{1} << kDigits<T>;
  }
}

/// Draws of 32 bits serve ranges below 2^32 in PyTorch 1.x; 2.x takes 64 bits from 2^28 on, where the bias of the
/// remainder would show.
constexpr uint64_t kWideRange = uint64_t{1} << 28;

/// x % range without a division. The reciprocal is rounded down: the quotient is right or one too small.
struct Remainder {
  uint64_t range;
  uint64_t reciprocal = std::numeric_limits<uint64_t>::max() / range;

  uint64_t operator()(uint64_t x) const {
    __extension__ using Wide = unsigned __int128;
    const uint64_t rest = x - static_cast<uint64_t>(Wide{x} * reciprocal >> 64) * range;
    return std::min(rest, rest - range);
  }
};

} // namespace

Tensor& random_cpu(Tensor& self, OptGenerator generator) {
  at::assert_no_internal_overlap(self);
  LockedGenerator draw(generator);
  dispatch("random_", self.scalar_type(), kRandomDtypes, [&]<class T> {
    constexpr bool is_wide = std::is_same_v<T, double> || std::is_same_v<T, int64_t> || std::is_same_v<T, uint64_t>;
    using Word = std::conditional_t<is_wide, uint64_t, uint32_t>;
    // Of uint64 the largest value is left out.
    constexpr uint64_t range = std::is_same_v<T, uint64_t> ? full_range<T>() : full_range<T>() + 1;
    fill_from_words<T, Word>(self, *draw, [](Word bits) { return static_cast<T>(bits % range); });
  });
  return self;
}

Tensor& random_from_cpu(Tensor& self, int64_t from, std::optional<int64_t> to, OptGenerator generator) {
  at::assert_no_internal_overlap(self);
  const auto [first, range] = random_integer_range(self.scalar_type(), from, to);
  LockedGenerator draw(generator);
  dispatch("random_", self.scalar_type(), kRandomDtypes, [&, first = first, range = range]<class T> {
    const auto shifted = [first](uint64_t x) {
      return static_cast<T>(static_cast<int64_t>(x + static_cast<uint64_t>(first)));
    };
    if (range == 0) {
      fill_from_words<T, uint64_t>(
          self, *draw, [](uint64_t bits) { return static_cast<T>(static_cast<int64_t>(bits)); });
    } else if (range >= kWideRange) {
      fill_from_words<T, uint64_t>(
          self, *draw, [shifted, rest = Remainder{range}](uint64_t bits) { return shifted(rest(bits)); });
    } else {
      auto* below = by_isa(v2::draw_below, v3::draw_below, v4::draw_below);
      const auto narrow = static_cast<uint32_t>(range);
      fill_mapped<T, uint32_t>(
          self, [&](uint32_t* drawn, int64_t n) { below(*draw, drawn, n, narrow); }, shifted);
    }
  });
  return self;
}

Tensor& random_to_cpu(Tensor& self, int64_t to, OptGenerator generator) {
  return random_from_cpu(self, 0, to, std::move(generator));
}

namespace {

/// Swaps each element with one that is drawn from itself and those behind it (Fisher and Yates).
template <class T>
void shuffle(T* r, int64_t n, CPUGeneratorImpl& generator) {
  int64_t i = 0;
  for (; n - i >= (int64_t{1} << 32); ++i) {
    std::swap(r[i], r[i + static_cast<int64_t>(generator.random64() % static_cast<uint64_t>(n - i))]);
  }
  // The indices of a run are drawn before any of it moves, so that their memory is on its way by then.
  uint32_t ahead[kRun];
  while (i < n - 1) {
    const int64_t count = std::min(kRun, n - 1 - i);
    draw_words(generator, ahead, count);
    for (int64_t k = 0; k < count; ++k) {
      ahead[k] %= static_cast<uint32_t>(n - i - k);
      __builtin_prefetch(r + i + k + ahead[k], 1);
    }
    for (int64_t k = 0; k < count; ++k) {
      std::swap(r[i + k], r[i + k + ahead[k]]);
    }
    i += count;
  }
}

} // namespace

Tensor& randperm_out_cpu(int64_t n, OptGenerator generator, Tensor& out) {
  TORCH_CHECK(n >= 0, "n must be non-negative, got", n);
  TORCH_CHECK(
      !generator || !generator->defined() || generator->device().is_cpu(),
      "Expected a 'cpu' generator device but found '", generator->device(), "'");
  dispatch("randperm", out.scalar_type(), at::kIntegral | at::kFloating, [&]<class T> {
    const bool fits = std::is_integral_v<T>
        ? n - 1 <= static_cast<int64_t>(std::min<uint64_t>(full_range<T>(), INT64_MAX))
        : n <= static_cast<int64_t>(full_range<T>()) + 1;
    if constexpr (std::is_integral_v<T>) {
      if (!fits) {
        static_cast<void>(Scalar(n).to<T>()); // says which type is too small
      }
    } else {
      constexpr auto dtype = c10::CppTypeToScalarType<T>::value;
      const char* most = dtype == kHalf ? "2049" : dtype == kFloat ? "2^24+1" : dtype == kDouble ? "2^53+1" : "257";
      TORCH_CHECK(fits || n == 0, "n cannot be greater than ", most, " for ", dtype, " type.");
    }
    resize_output(out, {n});
    Tensor dense = out.is_contiguous() ? out : empty_contiguous({n}, out.scalar_type(), kCPU);
    T* r = dense.mutable_data_ptr<T>();
    for (int64_t i = 0; i < n; ++i) {
      r[i] = static_cast<T>(i);
    }
    LockedGenerator draw(generator);
    shuffle(r, n, *draw);
    if (!dense.is_same(out)) {
      at::_ops::copy_::call(out, dense, false);
    }
  });
  return out;
}

} // namespace at::native
