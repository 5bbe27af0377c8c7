// What sum, nansum, mean and prod share: the choice of accumulator and the way out to the result's dtype.
// Included by kernel sources only, beside reduce_fold.h.
#pragma once

#include <aten/core/TensorBase.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/cpu/reduce_fold.h>

#include <c10/util/complex.h>

#include <type_traits>

namespace at::native {
inline namespace CPU_CAPABILITY {
namespace {

// Integers accumulate in int64, half and bfloat16 in float, everything else in its own type (see Note [Order of a
// reduction] for why float is enough).
template <class T>
using ArithmeticAcc = std::conditional_t<
    std::is_integral_v<T>,
    int64_t,
    std::conditional_t<std::is_same_v<T, c10::Half> || std::is_same_v<T, c10::BFloat16>, float, T>>;

/// Stores accumulators as elements of a result whose dtype is known at run time only.
template <class Acc>
class Store {
 public:
  /// Values are divided by `divisor` on their way out.
  explicit Store(const TensorBase& out, int64_t divisor = 1)
      : data_(out.mutable_data_ptr()),
        dtype_(out.scalar_type()),
        divisor_(static_cast<Acc>(divisor)),
        divides_(divisor != 1) {}

  void operator()(int64_t offset, Acc value) const {
    using c10::ScalarType;
    if (divides_) {
      value = value / divisor_;
    }
    if constexpr (std::is_same_v<Acc, int64_t>) {
      switch (dtype_) {
        case ScalarType::Long:
        case ScalarType::UInt64:
          return put<int64_t>(offset, value);
        case ScalarType::Int:
        case ScalarType::UInt32:
          return put<int32_t>(offset, value);
        case ScalarType::Short:
        case ScalarType::UInt16:
          return put<int16_t>(offset, value);
        case ScalarType::Bool:
          return put<bool>(offset, value);
        default:
          return put<int8_t>(offset, value);
      }
    } else if constexpr (std::is_same_v<Acc, float>) {
      switch (dtype_) {
        case ScalarType::Half:
          return put<c10::Half>(offset, value);
        case ScalarType::BFloat16:
          return put<c10::BFloat16>(offset, value);
        default:
          return put<float>(offset, value);
      }
    } else {
      put<Acc>(offset, value);
    }
  }

 private:
  template <class T>
  void put(int64_t offset, Acc value) const {
    static_cast<T*>(data_)[offset] = static_cast<T>(value);
  }

  void* data_;
  c10::ScalarType dtype_;
  Acc divisor_;
  bool divides_;
};

/// Folds `input` with Op<T> into `out`.
template <template <class> class Op, uint64_t Dtypes>
void arithmetic_reduction(
    const char* name, DtypeSet<Dtypes> dtypes, const TensorBase& input, const DimMask& mask, const TensorBase& out) {
  const ReducePlan plan = plan_reduction(input, mask, out);
  dispatch(name, input.scalar_type(), dtypes, [&]<class T> {
    fold(Op<T>{}, plan, input.const_data_ptr<T>(), Store<typename Op<T>::Acc>(out));
  });
}

} // namespace
} // namespace CPU_CAPABILITY
} // namespace at::native
