// randperm on CUDA devices: the order of random keys.
#include <aten/Functions.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/cuda/copy.h>
#include <aten/native/cuda/sort_rows.h>
#include <aten/native/support/OutArgument.h>
#include <c10/cuda/CUDAStream.h>

#include <cmath>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

namespace at::native {

Tensor& randperm_out_cuda(int64_t n, std::optional<Generator> generator, Tensor& out) {
  TORCH_CHECK(n >= 0, "Trying to create tensor with negative dimension ", n, ": [", n, "] (in randperm)");
  dispatch("randperm", out.scalar_type(), at::kIntegral | at::kFloating, [&]<class T> {
    const double most = std::is_integral_v<T> ? static_cast<double>(std::numeric_limits<T>::max())
                                              : std::ldexp(1.0, std::numeric_limits<T>::digits);
    TORCH_CHECK(
        static_cast<double>(n - 1) <= most || n == 0, "n is too large for result tensor type: '", out.toString(), "'");
  });
  resize_output(out, {n});
  if (n == 0) {
    return out;
  }
  // Equal keys among 64 bits are so rare that they do not matter.
  const auto options = out.options().dtype(kLong);
  const Tensor keys =
      at::empty({n}, options).random_(std::numeric_limits<int64_t>::lowest(), std::nullopt, std::move(generator));
  if (n > cuda::kMostSorted) {
    cuda::copy_on_device(out, std::get<1>(keys.sort()));
    return out;
  }
  const Tensor order = at::empty({n}, options);
  cuda::launch_order_of_keys(
      static_cast<std::uint64_t*>(keys.mutable_data_ptr()), n, order.mutable_data_ptr<int64_t>(),
      c10::cuda::getCurrentCUDAStream());
  cuda::copy_on_device(out, order);
  return out;
}

} // namespace at::native
