// Reductions of the same elements of several ranks: a block of each at a time, so that sums stay in the first cache.
#include <csrc/distributed/engine/reduce.h>

#include <c10/util/BFloat16.h>
#include <c10/util/Exception.h>
#include <c10/util/Half.h>

#include <algorithm>
#include <cstring>

namespace c10d::detail {

namespace {

constexpr size_t kBlock = 1024;

template <class T>
struct Accumulator {
  using type = T;
};
template <>
struct Accumulator<c10::Half> {
  using type = float;
};
template <>
struct Accumulator<c10::BFloat16> {
  using type = float;
};

struct Sum {
  template <class A>
  static A apply(A a, A b) {
    return static_cast<A>(a + b);
  }
  static bool apply(bool a, bool b) {
    return a || b;
  }
};
struct Product {
  template <class A>
  static A apply(A a, A b) {
    return static_cast<A>(a * b);
  }
  static bool apply(bool a, bool b) {
    return a && b;
  }
};
// NaN wins, as in all minima and maxima here.
struct Min {
  template <class A>
  static A apply(A a, A b) {
    return a < b || a != a ? a : b;
  }
};
struct Max {
  template <class A>
  static A apply(A a, A b) {
    return a > b || a != a ? a : b;
  }
};
struct And {
  template <class A>
  static A apply(A a, A b) {
    return static_cast<A>(a & b);
  }
};
struct Or {
  template <class A>
  static A apply(A a, A b) {
    return static_cast<A>(a | b);
  }
};
struct Xor {
  template <class A>
  static A apply(A a, A b) {
    return static_cast<A>(a ^ b);
  }
};

// Calls f(i) for each element, 32 at a time: of loops whose length it knows, the compiler makes vectors without
// looking at what the rest would cost.
template <class F>
void for_each_element(size_t count, F f) {
  constexpr size_t step = 32;
  size_t begin = 0;
  for (; begin + step <= count; begin += step) {
    for (size_t i = 0; i < step; ++i) {
      f(begin + i);
    }
  }
  for (; begin < count; ++begin) {
    f(begin);
  }
}

// sums[i] = F(sums[i], source[i]), where `first` stands for the sums before the first addition.
template <class F, class A, class T>
void add_block(const T* first, const T* source, A* sums, size_t count) {
  if (first != nullptr) {
    for_each_element(count, [=](size_t i) { sums[i] = F::apply(static_cast<A>(first[i]), static_cast<A>(source[i])); });
  } else {
    for_each_element(count, [=](size_t i) { sums[i] = F::apply(sums[i], static_cast<A>(source[i])); });
  }
}

template <class A>
void divide_block(A* sums, size_t count, A ranks) {
  for_each_element(count, [=](size_t i) { sums[i] = static_cast<A>(sums[i] / ranks); });
}

// Sums lie in memory of their own, which the compiler knows to be no source, so its loops are vectors.
template <class T, class F>
void reduce_blocks(
    const std::vector<const char*>& sources, const std::vector<char*>& destinations, size_t n, bool average) {
  using A = typename Accumulator<T>::type;
  A sums[kBlock];
  T results[kBlock];
  for (size_t begin = 0; begin < n; begin += kBlock) {
    const size_t count = std::min(kBlock, n - begin);
    const auto block_of = [&](size_t s) { return reinterpret_cast<const T*>(sources[s]) + begin; };
    if (sources.size() == 1) {
      std::copy(block_of(0), block_of(0) + count, sums);
    }
    for (size_t s = 1; s < sources.size(); ++s) {
      add_block<F>(s == 1 ? block_of(0) : nullptr, block_of(s), sums, count);
    }
    if (average) {
      divide_block(sums, count, static_cast<A>(sources.size()));
    }
    const char* written = reinterpret_cast<const char*>(sums);
    if constexpr (!std::is_same_v<T, A>) {
      for_each_element(count, [&](size_t i) { results[i] = static_cast<T>(sums[i]); });
      written = reinterpret_cast<const char*>(results);
    }
    for (char* destination : destinations) {
      std::memcpy(destination + begin * sizeof(T), written, count * sizeof(T));
    }
  }
}

using Blocks = void (*)(const std::vector<const char*>&, const std::vector<char*>&, size_t, bool);

template <class T>
Blocks blocks_for(ReduceOp::RedOpType op) {
  switch (op) {
    case ReduceOp::SUM:
    case ReduceOp::AVG:
      return &reduce_blocks<T, Sum>;
    case ReduceOp::PRODUCT:
      return &reduce_blocks<T, Product>;
    case ReduceOp::MIN:
      return &reduce_blocks<T, Min>;
    case ReduceOp::MAX:
      return &reduce_blocks<T, Max>;
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    switch (op) {
      case ReduceOp::BAND:
        return &reduce_blocks<T, And>;
      case ReduceOp::BOR:
        return &reduce_blocks<T, Or>;
      case ReduceOp::BXOR:
        return &reduce_blocks<T, Xor>;
      default:
        break;
    }
  }
  return nullptr;
}

bool is_sum(ReduceOp::RedOpType op) {
  return op == ReduceOp::SUM || op == ReduceOp::AVG;
}

Blocks blocks_for(c10::ScalarType dtype, ReduceOp::RedOpType op) {
  switch (dtype) {
    case c10::kFloat:
      return blocks_for<float>(op);
    case c10::kDouble:
      return blocks_for<double>(op);
    case c10::kHalf:
      return blocks_for<c10::Half>(op);
    case c10::kBFloat16:
      return blocks_for<c10::BFloat16>(op);
    case c10::kByte:
      return blocks_for<uint8_t>(op);
    case c10::kChar:
      return blocks_for<int8_t>(op);
    case c10::kShort:
      return blocks_for<int16_t>(op);
    case c10::kInt:
      return blocks_for<int32_t>(op);
    case c10::kLong:
      return blocks_for<int64_t>(op);
    case c10::kBool:
      return op == ReduceOp::AVG ? nullptr : blocks_for<bool>(op);
    case c10::kComplexFloat:
      return is_sum(op) ? blocks_for<float>(op) : nullptr;
    case c10::kComplexDouble:
      return is_sum(op) ? blocks_for<double>(op) : nullptr;
    default:
      return nullptr;
  }
}

} // namespace

void check_reducible(const char* what, c10::ScalarType dtype, ReduceOp::RedOpType op) {
  static constexpr const char* names[] = {"SUM", "AVG", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR", "PREMUL_SUM"};
  TORCH_CHECK_VALUE(op < ReduceOp::PREMUL_SUM, what, ": invalid reduce operation ", static_cast<int>(op));
  TORCH_CHECK_VALUE(
      blocks_for(dtype, op) != nullptr, what, ": cannot use ReduceOp.", names[op], " with dtype ", dtype,
      "; bitwise reductions are for integers and bool, complex numbers have SUM and AVG alone");
}

void reduce_elements(
    c10::ScalarType dtype,
    ReduceOp::RedOpType op,
    const std::vector<const char*>& sources,
    const std::vector<char*>& destinations,
    size_t n) {
  const size_t parts = c10::isComplexType(dtype) ? 2 : 1;
  blocks_for(dtype, op)(sources, destinations, n * parts, op == ReduceOp::AVG);
}

} // namespace c10d::detail
