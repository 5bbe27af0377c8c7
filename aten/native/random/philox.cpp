// Random numbers that are functions of a key: key i of a batch says seed and offset of a Philox 4x32-10 stream (Salmon et al.,
// Parallel random numbers: as easy as 1, 2, 3, 2011), whose block n are the four words of counter offset + n.
#include <aten/MemoryOverlap.h>
#include <aten/OpMathType.h>
#include <aten/core/PhiloxRNGEngine.h>
#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>
#include <aten/core/dtype_dispatch.h>
#include <c10/util/DimVector.h>
#include <c10/util/accumulate.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace at::native {
namespace {

struct PhiloxBlock {
  uint32_t words[4];
  uint32_t operator[](size_t i) const { return words[i]; }
};

/// The words of block number `place`.
PhiloxBlock philox_block(uint64_t seed, uint64_t place) {
  const uint32_t count[4] = {static_cast<uint32_t>(place), static_cast<uint32_t>(place >> 32), 0, 0};
  PhiloxBlock block;
  at::detail::philox_block(seed, count, block.words);
  return block;
}

void check_philox_key(const char* op, const char* shape, const Tensor& key) {
  TORCH_CHECK(key.scalar_type() == kUInt64, op, ": key must have dtype uint64, got ", key.scalar_type());
  TORCH_CHECK(key.dim() >= 1 && key.size(-1) == 2, op, ": key must have shape ", shape, ", got shape ", key.sizes());
}

void check_philox_fill(const char* op, const Tensor& self, const Tensor& key) {
  check_philox_key(op, "(2,) or (*batch, 2)", key);
  if (key.dim() > 1) {
    TORCH_CHECK(
        key.dim() == self.dim() + 1, op, ": batched key must have ndim == output ndim + 1, got key shape ", key.sizes(),
        " with output shape ", self.sizes());
    for (int64_t d = 0; d < self.dim(); ++d) {
      TORCH_CHECK(
          key.size(d) == 1 || key.size(d) == self.size(d), op, ": key batch shape ", key.sizes().slice(0, self.dim()),
          " is not broadcastable with output shape ", self.sizes());
    }
  }
  at::assert_no_internal_overlap(self);
}

/// The key of 128 bits that stands `number` blocks after another.
void derive_key(const uint64_t* key, uint64_t number, uint64_t* to) {
  const PhiloxBlock block = philox_block(key[0], key[1] + number);
  to[0] = uint64_t{block[1]} << 32 | block[0];
  to[1] = uint64_t{block[3]} << 32 | block[2];
}

/// Fills self, seen as rows that have a key each: those dimensions after the last in which keys differ are within a row.
/// `map(block, out, n)` makes n elements, at most kElements, of a block.
template <class T, int64_t kElements, class Map>
void fill_by_keys(Tensor& self, const Tensor& key, const Map& map) {
  int64_t outer = key.dim() - 1;
  while (outer > 0 && key.size(outer - 1) == 1) --outer;
  c10::DimVector shape(self.sizes().begin(), self.sizes().begin() + outer);
  const int64_t rows = c10::multiply_integers(shape);
  shape.insert(shape.end(), key.dim() - 1 - outer, 1);
  shape.push_back(2);
  const Tensor keys = key.expand(shape).contiguous();
  Tensor filled = empty_contiguous(self.sizes(), self.scalar_type(), kCPU);
  const int64_t width = rows == 0 ? 0 : self.numel() / rows;
  const uint64_t* from = keys.const_data_ptr<uint64_t>();
  T* to = filled.mutable_data_ptr<T>();
  for (int64_t row = 0; row < rows; ++row, from += 2) {
    for (int64_t i = 0; i < width; i += kElements) {
      const int64_t n = std::min(kElements, width - i);
      map(philox_block(from[0], from[1] + static_cast<uint64_t>(i / kElements)), to, n);
      to += n;
    }
  }
  self.copy_(filled);
}

/// 64-bit types take two words of a block for an element, all others one.
template <class T>
constexpr int64_t kPhiloxElements = sizeof(T) == 8 ? 2 : 4;

template <class T>
auto philox_word(const PhiloxBlock& block, int64_t i) {
  if constexpr (sizeof(T) == 8) return uint64_t{block[2 * i]} << 32 | block[2 * i + 1];
  else return block[i];
}

} // namespace

Tensor philox_key_split_cpu(const Tensor& key, int64_t num_splits) {
  check_philox_key("_philox_key_split", "(*batch, 2)", key);
  TORCH_CHECK(num_splits > 0, "_philox_key_split: num_splits must be positive, got ", num_splits);
  c10::DimVector shape(key.sizes().begin(), key.sizes().end());
  shape.insert(shape.begin(), num_splits);
  const Tensor keys = key.contiguous();
  Tensor result = empty_contiguous(shape, kUInt64, kCPU);
  const uint64_t* from = keys.const_data_ptr<uint64_t>();
  uint64_t* to = result.mutable_data_ptr<uint64_t>();
  for (int64_t split = 0; split < num_splits; ++split) {
    for (int64_t i = 0; i < keys.numel(); i += 2, to += 2) derive_key(from + i, static_cast<uint64_t>(split), to);
  }
  return result;
}

Tensor philox_key_fold_in_cpu(const Tensor& key, int64_t data) {
  check_philox_key("_philox_key_fold_in", "(*batch, 2)", key);
  const Tensor keys = key.contiguous();
  Tensor result = empty_contiguous(key.sizes(), kUInt64, kCPU);
  const uint64_t* from = keys.const_data_ptr<uint64_t>();
  uint64_t* to = result.mutable_data_ptr<uint64_t>();
  for (int64_t i = 0; i < keys.numel(); i += 2) derive_key(from + i, static_cast<uint64_t>(data), to + i);
  return result;
}

Tensor philox_key_fold_in_tensor_cpu(const Tensor& key, const Tensor& data) {
  TORCH_CHECK(data.scalar_type() == kUInt64, "_philox_key_fold_in: data must have dtype uint64, got ", data.scalar_type());
  TORCH_CHECK(data.numel() == 1, "_philox_key_fold_in: data must be a single value, got ", data.numel(), " elements");
  const Tensor value = data.contiguous();
  return philox_key_fold_in_cpu(key, static_cast<int64_t>(*value.const_data_ptr<uint64_t>()));
}

Tensor& philox_uniform_cpu(Tensor& self, const Tensor& key, double low, double high) {
  dispatch("_philox_uniform_", self.scalar_type(), at::kFloating, [&]<class T> {
    check_philox_fill("_philox_uniform_", self, key);
    using W = at::opmath_type<T>;
    constexpr int kDigits = std::numeric_limits<T>::digits;
    const W from = static_cast<W>(low), width = static_cast<W>(high) - from;
    fill_by_keys<T, kPhiloxElements<T>>(self, key, [&](const PhiloxBlock& block, T* to, int64_t n) {
      for (int64_t i = 0; i < n; ++i) {
        const auto word = philox_word<T>(block, i);
        const W unit = static_cast<W>(word & ((decltype(word){1} << kDigits) - 1)) / static_cast<W>(uint64_t{1} << kDigits);
        to[i] = static_cast<T>(unit * width + from);
      }
    });
  });
  return self;
}

/// By Box and Muller's method; pairs of words give pairs of numbers.
Tensor& philox_normal_cpu(Tensor& self, const Tensor& key, double mean, double std) {
  dispatch("_philox_normal_", self.scalar_type(), at::kFloating, [&]<class T> {
    check_philox_fill("_philox_normal_", self, key);
    using W = at::opmath_type<T>;
    const W center = static_cast<W>(mean), width = static_cast<W>(std);
    fill_by_keys<T, kPhiloxElements<T>>(self, key, [&](const PhiloxBlock& block, T* to, int64_t n) {
      constexpr W kWord = sizeof(T) == 8 ? static_cast<W>(0x1p-64) : static_cast<W>(0x1p-32);
      for (int64_t i = 0; i < n; i += 2) {
        // Above 0, so that it has a logarithm.
        const W first = (static_cast<W>(philox_word<T>(block, i)) + 1) * kWord;
        const W angle = static_cast<W>(philox_word<T>(block, i + 1)) * kWord * static_cast<W>(6.28318530717958647693);
        const W radius = std::sqrt(-2 * std::log(first));
        to[i] = static_cast<T>(radius * std::cos(angle) * width + center);
        if (i + 1 < n) to[i + 1] = static_cast<T>(radius * std::sin(angle) * width + center);
      }
    });
  });
  return self;
}

Tensor& philox_randint_cpu(Tensor& self, const Tensor& key, std::optional<int64_t> low, std::optional<int64_t> high) {
  constexpr const char* kOp = "_philox_randint_";
  const auto kinds = at::kIntegral | at::kUnsigned;
  TORCH_CHECK(kinds.contains(self.scalar_type()), kOp, ": self must have an integer dtype, got ", self.scalar_type());
  dispatch(kOp, self.scalar_type(), kinds, [&]<class T> {
    using Word = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
    // Both modulo 2^64. Without an upper end a range from the lowest number is the whole one: the word's bits as they are.
    const uint64_t lowest = static_cast<uint64_t>(std::numeric_limits<T>::min());
    const uint64_t from = low ? static_cast<uint64_t>(*low) : lowest;
    const uint64_t limit = high ? static_cast<uint64_t>(*high) : static_cast<uint64_t>(std::numeric_limits<T>::max()) + 1;
    const bool whole = !high && from == lowest;
    const Word range = static_cast<Word>(limit - from);
    TORCH_CHECK(whole || range != 0, kOp, ": [low, high) must be non-empty; pass high=None for the dtype's full range");
    TORCH_CHECK(
        sizeof(T) != 4 || whole || (range & (range - 1)) == 0 || range < (Word{1} << 28), kOp, ": range (high - low = ", range,
        ") does not divide 2^32 evenly and is too large for the output dtype ", self.scalar_type(),
        ". Each element draws only 32 random bits, so a non-dividing range >= 2^28 gives a significantly biased distribution. "
        "Use a range that divides 2^32 (a power of two), or a 64-bit dtype (torch.int64 or torch.uint64).");
    check_philox_fill(kOp, self, key);
    fill_by_keys<T, kPhiloxElements<T>>(self, key, [&](const PhiloxBlock& block, T* to, int64_t n) {
      for (int64_t i = 0; i < n; ++i) {
        const Word word = philox_word<T>(block, i);
        to[i] = static_cast<T>(whole ? word : static_cast<Word>(word % range + static_cast<Word>(from)));
      }
    });
  });
  return self;
}

} // namespace at::native
