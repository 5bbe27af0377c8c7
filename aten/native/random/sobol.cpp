// Sobol sequences: points whose next one is the last with one direction number more, by Gray code (Antonov and Saleev
// 1979).
#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/iterator/MemoryOverlap.h>
#include <aten/native/random/sobol_directions.h>

#include <array>
#include <bit>
#include <cstring>

namespace at::native {
namespace {

/// Direction numbers are fractions of 2^kSobolBits.
constexpr int64_t kSobolBits = 30;
constexpr int64_t kSobolPoints = int64_t{1} << kSobolBits;

/// Reads the table from its beginning.
class DirectionReader {
 public:
  uint64_t bits(int64_t count) {
    uint64_t value = 0;
    for (; count > 0; --count, ++at_) {
      value = value << 1 | (tensor_sobol_directions[at_ / 8] >> (7 - at_ % 8) & 1);
    }
    return value;
  }

 private:
  int64_t at_ = 0;
};

using Directions = std::array<int64_t, kSobolBits>;

/// m_1 .. m_30 of the table's next dimension: the first as they stand there, the others by the polynomial's recurrence.
Directions next_directions(DirectionReader& reader, int64_t degree) {
  Directions m{};
  const uint64_t inner = reader.bits(degree - 1);
  for (int64_t i = 0; i < degree; ++i) {
    m[i] = static_cast<int64_t>(reader.bits(i) << 1 | 1);
  }
  for (int64_t i = degree; i < kSobolBits; ++i) {
    m[i] = m[i - degree] ^ m[i - degree] << degree;
    for (int64_t k = 1; k < degree; ++k) {
      if (inner >> (degree - 1 - k) & 1) {
        m[i] ^= m[i - k] << k;
      }
    }
  }
  return m;
}

void check_sobol_dimension(int64_t dimension) {
  TORCH_CHECK_VALUE(
      dimension >= 1 && dimension <= kSobolDimensions, "dimension must be between 1 and ", kSobolDimensions,
      ", but got ", dimension);
}

void check_sobol_long(const char* name, const Tensor& t) {
  TORCH_CHECK(t.scalar_type() == kLong, name, " needs to be of type Long, got ", t.scalar_type());
}

void check_sobol_state(const Tensor& state, int64_t dimension) {
  check_sobol_long("sobolstate", state);
  check_sobol_dimension(dimension);
  TORCH_CHECK_VALUE(
      state.sizes() == IntArrayRef({dimension, kSobolBits}), "sobolstate must have sizes [", dimension, ", ",
      kSobolBits, "] (dimension and bits), got ", state.sizes());
}

void check_sobol_steps(const Tensor& quasi, int64_t n, const Tensor& state, int64_t dimension, int64_t num_generated) {
  TORCH_CHECK_VALUE(n >= 0, "n must be non-negative, but got ", n);
  check_sobol_long("quasi", quasi);
  check_sobol_state(state, dimension);
  TORCH_CHECK_VALUE(
      quasi.sizes() == IntArrayRef({dimension}), "quasi must have sizes [", dimension, "] (dimension), got ",
      quasi.sizes());
  TORCH_CHECK_VALUE(
      num_generated >= 0 && num_generated < kSobolPoints && n < kSobolPoints - num_generated, "a Sobol sequence has ",
      kSobolPoints, " points, got num_generated ", num_generated, " and n ", n);
}

/// Moves `quasi` from point `number` to the next; the state is row-major.
void next_point(int64_t* quasi, const int64_t* state, int64_t dimension, int64_t number) {
  const int64_t column = std::countr_one(static_cast<uint64_t>(number));
  for (int64_t d = 0; d < dimension; ++d) {
    quasi[d] ^= state[d * kSobolBits + column];
  }
}

} // namespace

Tensor& sobol_engine_initialize_state_cpu(Tensor& self, int64_t dimension) {
  check_sobol_state(self, dimension);
  at::assert_no_internal_overlap(self);
  Tensor state = empty_contiguous(self.sizes(), kLong, kCPU);
  int64_t* to = state.mutable_data_ptr<int64_t>();
  const auto store = [&to](const Directions& m) {
    for (int64_t i = 0; i < kSobolBits; ++i) {
      *to++ = m[i] << (kSobolBits - 1 - i);
    }
  };
  Directions first;
  first.fill(1);
  store(first);
  DirectionReader reader;
  int64_t degree = 1, left = kSobolPolynomials[0];
  for (int64_t d = 1; d < dimension; ++d, --left) {
    if (left == 0) {
      left = kSobolPolynomials[degree++];
    }
    store(next_directions(reader, degree));
  }
  self.copy_(state);
  return self;
}

Tensor& sobol_engine_ff_cpu(
    Tensor& self, int64_t n, const Tensor& sobolstate, int64_t dimension, int64_t num_generated) {
  check_sobol_steps(self, n, sobolstate, dimension, num_generated);
  at::assert_no_internal_overlap(self);
  const Tensor state = sobolstate.contiguous(), quasi = self.clone(MemoryFormat::Contiguous);
  for (int64_t i = 0; i < n; ++i) {
    next_point(quasi.mutable_data_ptr<int64_t>(), state.const_data_ptr<int64_t>(), dimension, num_generated + i);
  }
  self.copy_(quasi);
  return self;
}

std::tuple<Tensor, Tensor> sobol_engine_draw_cpu(
    const Tensor& quasi,
    int64_t n,
    const Tensor& sobolstate,
    int64_t dimension,
    int64_t num_generated,
    std::optional<ScalarType> dtype) {
  check_sobol_steps(quasi, n, sobolstate, dimension, num_generated);
  const Tensor state = sobolstate.contiguous();
  Tensor last = quasi.clone(MemoryFormat::Contiguous);
  const ScalarType kind = dtype.value_or(kFloat);
  Tensor result;
  dispatch("_sobol_engine_draw", kind, at::kFloatDouble, [&]<class T> {
    result = empty_contiguous({n, dimension}, kind, kCPU);
    T* to = result.mutable_data_ptr<T>();
    int64_t* point = last.mutable_data_ptr<int64_t>();
    for (int64_t i = 0; i < n; ++i) {
      next_point(point, state.const_data_ptr<int64_t>(), dimension, num_generated + i);
      for (int64_t d = 0; d < dimension; ++d) {
        *to++ = static_cast<T>(point[d]) * static_cast<T>(1.0 / kSobolPoints);
      }
    }
  });
  return {std::move(result), std::move(last)};
}

/// Each direction number, as a vector of bits, times a lower triangular matrix of its dimension (Matousek's
/// scrambling); the matrix's diagonal counts as ones.
Tensor& sobol_engine_scramble_cpu(Tensor& self, const Tensor& ltm, int64_t dimension) {
  check_sobol_state(self, dimension);
  TORCH_CHECK_VALUE(
      ltm.sizes() == IntArrayRef({dimension, kSobolBits, kSobolBits}), "ltm must have sizes [", dimension, ", ",
      kSobolBits, ", ", kSobolBits, "] (dimension and two times bits), got ", ltm.sizes());
  TORCH_CHECK(
      !at::isFloatingType(ltm.scalar_type()) && !ltm.is_complex(), "ltm needs to hold whole numbers, got ",
      ltm.scalar_type());
  at::assert_no_internal_overlap(self);
  const Tensor matrices = ltm.to(kLong).contiguous(), state = self.clone(MemoryFormat::Contiguous);
  for (int64_t d = 0; d < dimension; ++d) {
    const int64_t* matrix = matrices.const_data_ptr<int64_t>() + d * kSobolBits * kSobolBits;
    std::array<uint64_t, kSobolBits> rows{};
    for (int64_t r = 0; r < kSobolBits; ++r) {
      for (int64_t c = 0; c < kSobolBits; ++c) {
        rows[r] += (r == c ? 1 : static_cast<uint64_t>(matrix[r * kSobolBits + c])) << (kSobolBits - 1 - c);
      }
    }
    int64_t* numbers = state.mutable_data_ptr<int64_t>() + d * kSobolBits;
    for (int64_t i = 0; i < kSobolBits; ++i) {
      const uint64_t number = static_cast<uint64_t>(numbers[i]) & (kSobolPoints - 1);
      uint64_t scrambled = 0;
      for (const uint64_t row : rows) {
        scrambled = scrambled << 1 | (std::popcount(row & number) & 1);
      }
      numbers[i] = static_cast<int64_t>(scrambled);
    }
  }
  self.copy_(state);
  return self;
}

} // namespace at::native
