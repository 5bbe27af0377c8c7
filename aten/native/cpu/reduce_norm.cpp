// linalg_vector_norm.
#include <aten/native/cpu/reduce_extremum_op.h>

#include <c10/core/Scalar.h>

#include <cmath>

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

template <class T>
struct RealOf {
  using type = CompareType<T>;
};
template <class T>
struct RealOf<c10::complex<T>> {
  using type = T;
};

template <class T>
auto magnitude(T x) {
  return std::abs(static_cast<CompareType<T>>(x));
}
template <class T>
T magnitude(c10::complex<T> x) {
  return std::abs(x);
}

// Squares without the detour over a root.
template <class T>
auto squared_magnitude(T x) {
  const auto value = static_cast<CompareType<T>>(x);
  return value * value;
}
template <class T>
T squared_magnitude(c10::complex<T> x) {
  return x.real() * x.real() + x.imag() * x.imag();
}

template <class T>
struct NormSum {
  using In = T;
  using Acc = typename RealOf<T>::type;
  Acc identity() const {
    return 0;
  }
  Acc combine(Acc a, Acc b) const {
    return a + b;
  }
};

template <class T>
struct NormOne : NormSum<T> {
  using Acc = typename RealOf<T>::type;
  Acc map(T x) const {
    return magnitude(x);
  }
  Acc finish(Acc a) const {
    return a;
  }
};

template <class T>
struct NormTwo : NormSum<T> {
  using Acc = typename RealOf<T>::type;
  Acc map(auto x) const {
    return squared_magnitude(x);
  }
  Acc finish(Acc a) const {
    return std::sqrt(a);
  }
};

template <class T>
struct NormMax {
  using In = T;
  using Acc = typename RealOf<T>::type;
  Acc identity() const {
    return Acc(0);
  }
  Acc map(T x) const {
    return magnitude(x);
  }
  Acc combine(Acc a, Acc b) const {
    return Largest<Acc>{}.combine(a, b);
  }
  Acc finish(Acc a) const {
    return a;
  }
};

// The rare orders: 0 counts, -inf takes the smallest magnitude, inf the largest, others sum powers. Its functions are
// called, not inlined: loops would be compiled for each of these ways.
template <class T>
struct NormOther {
  using In = T;
  using Acc = typename RealOf<T>::type;
  Acc order;

  explicit NormOther(double p) : order(static_cast<Acc>(p)) {}
  Acc identity() const {
    return order == -kInfinity ? kInfinity : Acc(0);
  }
  C10_NOINLINE Acc map(T x) const {
    if (order == 0) {
      return x == T(0) ? Acc(0) : Acc(1);
    }
    const Acc size = magnitude(x);
    return is_plain() ? size : std::pow(size, order);
  }
  C10_NOINLINE Acc combine(Acc a, Acc b) const {
    if (order == kInfinity) {
      return Largest<Acc>{}.combine(a, b);
    }
    return order == -kInfinity ? Smallest<Acc>{}.combine(a, b) : a + b;
  }
  Acc finish(Acc a) const {
    return is_plain() || order == 0 ? a : std::pow(a, Acc(1) / order);
  }

 private:
  static constexpr Acc kInfinity = std::numeric_limits<Acc>::infinity();
  bool is_plain() const {
    return order == 1 || std::abs(order) == kInfinity;
  }
};

} // namespace

void vector_norm_kernel(
    const TensorBase& self,
    const Scalar& ord,
    OptionalIntArrayRef dim,
    bool,
    std::optional<ScalarType> dtype,
    const TensorBase& out) {
  const double p = ord.toDouble();
  const ScalarType wanted = dtype.value_or(self.scalar_type());
  // Order 2, that of gradients, reads half and bfloat16 directly.
  const ScalarType read = wanted == ScalarType::ComplexHalf ? ScalarType::ComplexFloat
      : p != 2 && c10::isReducedFloatingType(wanted)        ? ScalarType::Float
                                                            : wanted;
  const TensorBase input = read == self.scalar_type() ? self : self.to(c10::TensorOptions().dtype(read));
  const ReducePlan plan = plan_reduction(input, reduced_dims(dim, input.dim()), out);
  const auto run = [&](const auto& op) {
    using Op = std::decay_t<decltype(op)>;
    const Store<typename Op::Acc> store(out);
    fold(op, plan, input.const_data_ptr<typename Op::In>(), [&](int64_t offset, typename Op::Acc value) {
      store(offset, op.finish(value));
    });
  };
  if (p == 2) {
    return dispatch("linalg_vector_norm_cpu", read, kFloating | kComplex, [&]<class T> { run(NormTwo<T>{}); });
  }
  dispatch("linalg_vector_norm_cpu", read, kFloatDouble | kComplex, [&]<class T> {
    // The magnitude of a complex number takes longer than the choice of what to do with it.
    if constexpr (!c10::is_complex<T>::value) {
      if (p == 1) {
        return run(NormOne<T>{});
      }
      if (p == std::numeric_limits<double>::infinity()) {
        return run(NormMax<T>{});
      }
    }
    run(NormOther<T>{p});
  });
}

} // namespace CPU_CAPABILITY
} // namespace at::native
