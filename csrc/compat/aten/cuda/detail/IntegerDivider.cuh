// Division by a number that a whole kernel shares.
#pragma once

#include <aten/native/cuda/fast_division.h>

#include <cstdint>

namespace at::cuda::detail {

template <class Value>
struct DivMod {
  HOST_DEVICE DivMod(Value div, Value mod) : div(div), mod(mod) {}
  Value div, mod;
};

template <class Value>
struct IntDivider {
  IntDivider() = default;
  IntDivider(Value d) : divisor(d) {}

  HOST_DEVICE Value div(Value n) const {
    return n / divisor;
  }
  HOST_DEVICE Value mod(Value n) const {
    return n % divisor;
  }
  HOST_DEVICE DivMod<Value> divmod(Value n) const {
    return DivMod<Value>(n / divisor, n % divisor);
  }

  Value divisor;
};

/// By a multiplication and a shift, for numbers below 2^31.
template <>
struct IntDivider<unsigned int> {
  IntDivider() = default;
  IntDivider(unsigned int d) : divisor(d), divider_(d) {}

  HOST_DEVICE unsigned int div(unsigned int n) const {
    return divider_.divide(n);
  }
  HOST_DEVICE unsigned int mod(unsigned int n) const {
    return n - div(n) * divisor;
  }
  HOST_DEVICE DivMod<unsigned int> divmod(unsigned int n) const {
    const unsigned int quotient = div(n);
    return DivMod<unsigned int>(quotient, n - quotient * divisor);
  }

  unsigned int divisor;

 private:
  at::native::cuda::FastDivider divider_;
};

} // namespace at::cuda::detail
