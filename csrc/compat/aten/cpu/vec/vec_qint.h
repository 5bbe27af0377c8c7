// at::vec::Vectorized of the integers of quantized tensors: their lanes are plain integers, and go to lanes of float,
// or of qint32, of as many vectors as it takes.
#pragma once

#include <c10/core/ScalarType.h>
#include <csrc/compat/aten/cpu/vec/vec_base.h>
#include <csrc/compat/aten/native/quantized/AffineQuantizerBase.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace at::vec {
inline namespace CPU_CAPABILITY {
inline namespace AT_VEC_ISA {

namespace lanes {

template <class T>
class Quantized {
 public:
  using value_type = typename T::underlying;
  using size_type = int;
  static constexpr size_type kSize = Vectorized<value_type>::size();
  static constexpr size_type size() {
    return kSize;
  }
  static constexpr int kFloatNumVecs = kSize / Vectorized<float>::size();
  static constexpr int float_num_vecs() {
    return kFloatNumVecs;
  }
  static constexpr int kIntNumVecs = kSize / Vectorized<int32_t>::size();
  static constexpr int int_num_vecs() {
    return kIntNumVecs;
  }
  using float_vec_return_type = std::array<Vectorized<float>, kFloatNumVecs>;
  using int_vec_return_type = std::array<Vectorized<c10::qint32>, kIntNumVecs>;

  Quantized() = default;
  Quantized(const T& value) : values_(value.val_) {}
  Quantized(const Vectorized<value_type>& values) : values_(values) {}
  Quantized(typename register_for<value_type>::type bits) : values_(bits) {}
  operator typename register_for<value_type>::type() const {
    return values_;
  }
  value_type operator[](int lane) const {
    return values_[lane];
  }

  static Vectorized<T> loadu(const void* from) {
    return Vectorized<value_type>::loadu(from);
  }
  static Vectorized<T> loadu(const void* from, int64_t count) {
    return Vectorized<value_type>::loadu(from, count);
  }
  void store(void* to, int count = kSize) const {
    values_.store(to, count);
  }
  template <class F>
  static Vectorized<T> make(F f) {
    return Vectorized<value_type>::make(f);
  }

  /// round(value / scale) + zero_point, within the range of T.
  static Vectorized<T> quantize(
      const float_vec_return_type& values, float scale, int32_t zero_point, float /*inverse_scale*/) {
    return make(
        [&](int i) { return native::quantize_val<T>(scale, zero_point, values[i / kFloats][i % kFloats]).val_; });
  }
  /// (value - zero_point) * scale.
  float_vec_return_type dequantize(Vectorized<float> scale, Vectorized<float> zero_point) const {
    float_vec_return_type result;
    for (int part = 0; part < kFloatNumVecs; ++part) {
      result[part] = Vectorized<float>::make([&](int i) { return static_cast<float>((*this)[part * kFloats + i]); });
      result[part] = (result[part] - zero_point) * scale;
    }
    return result;
  }
  float_vec_return_type dequantize(
      Vectorized<float> scale, Vectorized<float> zero_point, Vectorized<float> /*minus_scale_times_zero_point*/) const {
    return dequantize(scale, zero_point);
  }

  /// round(value * multiplier) + zero_point, within the range of T.
  static Vectorized<T> requantize_from_int(const int_vec_return_type& values, float multiplier, int32_t zero_point) {
    return make([&](int i) {
      return native::requantize_from_int<T>(multiplier, zero_point, values[i / kFloats][i % kFloats]).val_;
    });
  }
  /// The differences, which only qint32 may be too narrow for.
  int_vec_return_type widening_subtract(const Vectorized<T>& other) const {
    int_vec_return_type result;
    for (int part = 0; part < kIntNumVecs; ++part) {
      result[part] = Vectorized<int32_t>::make([&](int i) {
        const int lane = part * kFloats + i;
        return wrapping<int32_t>((*this)[lane], other[lane], [](auto a, auto b) { return a - b; });
      });
    }
    return result;
  }

  Vectorized<T> maximum(const Vectorized<T>& other) const {
    return make([&](int i) { return std::max((*this)[i], other[i]); });
  }
  Vectorized<T> minimum(const Vectorized<T>& other) const {
    return make([&](int i) { return std::min((*this)[i], other[i]); });
  }
  /// Numbers below the zero point become it; relu6 also brings those above the number that stands for 6 down to it.
  Vectorized<T> relu(const Vectorized<T>& zero_point) const {
    return maximum(zero_point);
  }
  Vectorized<T> relu6(const Vectorized<T>& zero_point, const Vectorized<T>& six) const {
    return maximum(zero_point).minimum(six);
  }

 private:
  static constexpr int kFloats = Vectorized<float>::size();
  Vectorized<value_type> values_;
};

} // namespace lanes

template <>
struct Vectorized<c10::qint8> : lanes::Quantized<c10::qint8> {
  using Quantized::Quantized;
};
template <>
struct Vectorized<c10::quint8> : lanes::Quantized<c10::quint8> {
  using Quantized::Quantized;
};
template <>
struct Vectorized<c10::qint32> : lanes::Quantized<c10::qint32> {
  using Quantized::Quantized;
};

} // namespace AT_VEC_ISA
} // namespace CPU_CAPABILITY
} // namespace at::vec
