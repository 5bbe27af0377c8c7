// where and masked_fill: pointwise operators whose operands are of different dtypes. They move elements and know only
// their size.
#include <aten/core/dtype_dispatch.h>
#include <aten/iterator/TensorIterator.h>
#include <aten/iterator/pointwise_run.h>
#include <aten/parallel/Parallel.h>

#include <c10/core/Scalar.h>

#include <cstdint>
#include <cstring>

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

struct Bytes16 {
  std::uint64_t parts[2];
};

// Masks are read as bytes: uint8 conditions hold other values than 0 and 1.
template <class W>
void choose(const BlockContext&, char* out, const char* const* in, std::int64_t n) {
  W* to = reinterpret_cast<W*>(out);
  const auto* condition = reinterpret_cast<const std::uint8_t*>(in[0]);
  const W* a = reinterpret_cast<const W*>(in[1]);
  const W* b = reinterpret_cast<const W*>(in[2]);
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) {
    to[i] = condition[i] != 0 ? a[i] : b[i];
  }
}

template <class W>
void fill_masked(const BlockContext& context, char* out, const char* const* in, std::int64_t n) {
  W value;
  std::memcpy(&value, context.functor, sizeof(W));
  W* to = reinterpret_cast<W*>(out);
  const auto* mask = reinterpret_cast<const std::uint8_t*>(in[0]);
  const W* from = reinterpret_cast<const W*>(in[1]);
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) {
    to[i] = mask[i] != 0 ? value : from[i];
  }
}

template <template <class> class Pick>
BlockKernel by_size(std::size_t size) {
  switch (size) {
    case 1:
      return Pick<std::uint8_t>::kernel;
    case 2:
      return Pick<std::uint16_t>::kernel;
    case 4:
      return Pick<std::uint32_t>::kernel;
    case 8:
      return Pick<std::uint64_t>::kernel;
    default:
      return Pick<Bytes16>::kernel;
  }
}

template <class W>
struct Choose {
  static constexpr BlockKernel kernel = choose<W>;
};
template <class W>
struct FillMasked {
  static constexpr BlockKernel kernel = fill_masked<W>;
};

} // namespace

void where_kernel(TensorIteratorBase& iter) {
  run_pointwise(iter, by_size<Choose>(c10::elementSize(iter.dtype(0))), {});
  iter.cast_outputs();
}

void masked_fill_kernel(TensorIteratorBase& iter, const c10::Scalar& value) {
  alignas(16) char bytes[16];
  dispatch("masked_fill", iter.dtype(0), kAll | kComplexHalves | kUnsigned, [&]<class T> {
    const T converted = value.to<T>();
    std::memcpy(bytes, &converted, sizeof(T));
  });
  run_pointwise(iter, by_size<FillMasked>(c10::elementSize(iter.dtype(0))), {bytes, sizeof(bytes)});
  iter.cast_outputs();
}

} // namespace CPU_CAPABILITY
} // namespace at::native
