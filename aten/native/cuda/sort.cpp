// sort, topk, randperm and nonzero on CUDA devices: the host side of sort.cu.
#include <aten/Functions.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/OutArgument.h>
#include <aten/native/cuda/copy.h>
#include <aten/native/cuda/sort.h>
#include <c10/core/WrapDimMinimal.h>
#include <c10/cuda/CUDAStream.h>

#include <cmath>
#include <limits>

namespace at::native {

namespace cuda {

namespace {

constexpr auto kSortable = kBooleans | kIntegral | kUnsigned | kFloating;

struct Sorted {
  Tensor values, indices; // with the dimension in question last
};

Sorted sorted(const char* op, const TensorBase& self, int64_t dim, bool descending) {
  if (!kSortable.contains(self.scalar_type())) {
    at::detail::dtype_not_supported(op, self.scalar_type(), kSortable.bits);
  }
  TORCH_CHECK(
      self.numel() <= INT32_MAX, op, ": on CUDA up to 2^31 - 1 elements are supported, got ", self.numel());
  const Tensor input = Tensor(self).movedim(dim, -1).contiguous();
  const Sorted result{at::empty_like(input), at::empty(input.sizes(), input.options().dtype(kLong))};
  const int64_t size = input.size(-1);
  launch_sort(
      {input.numel() / size, size, input.scalar_type(), descending, input.const_data_ptr(), result.values.mutable_data_ptr(),
       result.indices.mutable_data_ptr<int64_t>(), c10::cuda::getCurrentCUDAStream()});
  return result;
}

/// The first k of each sorted row.
void first_sorted(
    const char* op, const TensorBase& self, int64_t dim, bool descending, int64_t k, const TensorBase& values,
    const TensorBase& indices) {
  if (values.numel() == 0) {
    return;
  }
  if (self.dim() == 0) {
    copy_on_device(values, self);
    indices.fill_(0);
    return;
  }
  dim = c10::maybe_wrap_dim(dim, self.dim());
  const Sorted all = sorted(op, self, dim, descending);
  copy_on_device(Tensor(values).movedim(dim, -1), all.values.narrow(-1, 0, k));
  copy_on_device(Tensor(indices).movedim(dim, -1), all.indices.narrow(-1, 0, k));
}

} // namespace

void sort_stable_kernel(const TensorBase& self, std::optional<bool>, int64_t dim, bool descending, const TensorBase& values, const TensorBase& indices) {
  const int64_t size = self.dim() == 0 ? 1 : self.size(dim);
  first_sorted("sort", self, dim, descending, size, values, indices);
}

void topk_kernel(const TensorBase& self, int64_t k, int64_t dim, bool largest, bool, const TensorBase& values, const TensorBase& indices) {
  first_sorted("topk", self, dim, largest, k, values, indices);
}

} // namespace cuda

Tensor& randperm_out_cuda(int64_t n, std::optional<Generator> generator, Tensor& out) {
  TORCH_CHECK(n >= 0, "Trying to create tensor with negative dimension ", n, ": [", n, "] (in randperm)");
  TORCH_CHECK(n <= INT32_MAX, "randperm: on CUDA up to 2^31 - 1 elements are supported, got ", n);
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
  const Tensor keys = at::empty({n}, options).random_(std::numeric_limits<int64_t>::lowest(), std::nullopt, std::move(generator));
  const Tensor order = at::empty({n}, options);
  cuda::launch_order_of_keys(
      static_cast<std::uint64_t*>(keys.mutable_data_ptr()), n, order.mutable_data_ptr<int64_t>(),
      c10::cuda::getCurrentCUDAStream());
  cuda::copy_on_device(out, order);
  return out;
}

Tensor nonzero_cuda(const Tensor& self) {
  const Tensor flags = (self.scalar_type() == kBool ? self : self.ne(0)).contiguous();
  const int64_t n = flags.numel(), ndim = self.dim();
  const auto options = self.options().dtype(kLong);
  if (n == 0) {
    return at::empty({0, ndim}, options);
  }
  const Tensor places = at::empty({n}, options), found = at::empty({}, options);
  cuda::launch_find_true(
      static_cast<const std::uint8_t*>(flags.const_data_ptr()), n, places.mutable_data_ptr<int64_t>(),
      found.mutable_data_ptr<int64_t>(), c10::cuda::getCurrentCUDAStream());
  const int64_t count = found.item<int64_t>(); // waits for the device: the result's size depends on it
  // Column by column, as PyTorch lays it out.
  const Tensor result = at::empty({ndim, count}, options);
  Tensor rest = places.narrow(0, 0, count);
  for (int64_t d = ndim - 1; d >= 0; --d) {
    result.select(0, d).copy_(d == 0 ? rest : rest.remainder(self.size(d)));
    rest = d == 0 ? rest : rest.floor_divide(self.size(d));
  }
  return result.t();
}

} // namespace at::native
