#include <aten/native/cuda/where.h>

#include <aten/native/cuda/pointwise_loop.cuh>
#include <c10/util/complex.h>

#include <cstdint>
#include <cstring>

namespace at::native::cuda {

namespace {

struct alignas(16) Word16 {
  std::uint64_t parts[2];
};

// Masks are bytes: uint8 conditions hold other values than 0 and 1.
struct Choose {
  static constexpr bool kMoves = true;
  template <class W>
  HOST_DEVICE W operator()(std::uint8_t condition, W a, W b) const {
    return condition != 0 ? a : b;
  }
};

template <class T>
bool where_if(const PointwisePlan& plan) {
  if (plan.dtype != c10::CppTypeToScalarType<T>::value) {
    return false;
  }
  launch_pointwise_mixed<T, std::uint8_t, T, T>(plan, Choose{});
  return true;
}
template <class... Ts>
void where_one_of(const PointwisePlan& plan) {
  static_cast<void>((where_if<Ts>(plan) || ...));
}

template <class W>
struct FillMasked {
  static constexpr bool kMoves = true;
  HOST_DEVICE W operator()(std::uint8_t mask, W x) const {
    return mask != 0 ? value : x;
  }
  W value;
};

template <class W>
void launch_fill(const PointwisePlan& plan, const void* value) {
  FillMasked<W> fill;
  std::memcpy(&fill.value, value, sizeof(W));
  launch_pointwise<W, std::uint8_t, W>(plan, fill);
}

} // namespace

void launch_where(const PointwisePlan& plan, std::size_t size) {
  switch (size) {
    case 1:
      return launch_pointwise<std::uint8_t, std::uint8_t, std::uint8_t, std::uint8_t>(plan, Choose{});
    case 2:
      return launch_pointwise<std::uint16_t, std::uint8_t, std::uint16_t, std::uint16_t>(plan, Choose{});
    case 4:
      return launch_pointwise<std::uint32_t, std::uint8_t, std::uint32_t, std::uint32_t>(plan, Choose{});
    case 8:
      return launch_pointwise<std::uint64_t, std::uint8_t, std::uint64_t, std::uint64_t>(plan, Choose{});
    default:
      return launch_pointwise<Word16, std::uint8_t, Word16, Word16>(plan, Choose{});
  }
}

void launch_where_mixed(const PointwisePlan& plan) {
  where_one_of<
      bool, std::uint8_t, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint16_t, std::uint32_t,
      std::uint64_t, c10::Half, c10::BFloat16, float, double, c10::complex<c10::Half>, c10::complex<float>,
      c10::complex<double>>(plan);
}

void launch_masked_fill(const PointwisePlan& plan, std::size_t size, const void* value) {
  switch (size) {
    case 1:
      return launch_fill<std::uint8_t>(plan, value);
    case 2:
      return launch_fill<std::uint16_t>(plan, value);
    case 4:
      return launch_fill<std::uint32_t>(plan, value);
    case 8:
      return launch_fill<std::uint64_t>(plan, value);
    default:
      return launch_fill<Word16>(plan, value);
  }
}

} // namespace at::native::cuda
