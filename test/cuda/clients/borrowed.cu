// Kernels that extensions borrow from ATen, called as such extensions do.
#include "borrowed.h"

#include <ATen/ATen.h>
#include <ATen/cuda/CUDAApplyUtils.cuh>
#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <ATen/native/cuda/DeviceSqrt.cuh>
#include <ATen/native/cuda/DistributionTemplates.h>
#include <ATen/native/cuda/PersistentSoftmax.cuh>
#include <ATen/native/cuda/Reduce.cuh>
#include <ATen/native/cuda/im2col.cuh>

#include <array>

namespace {

template <bool IsLog, bool IsMasked>
void run_softmax(const at::Tensor& rows, const at::Tensor& mask, int chunk, const at::Tensor& out) {
  const int n = static_cast<int>(rows.size(1));
  dispatch_softmax_forward<float, float, float, IsLog, IsMasked>(
      out.mutable_data_ptr<float>(), rows.const_data_ptr<float>(), n, n, static_cast<int>(rows.size(0)),
      IsMasked ? mask.const_data_ptr<bool>() : nullptr, chunk, chunk > 0);
}

template <bool IsLog, bool IsMasked>
void run_softmax_backward(
    const at::Tensor& grad, const at::Tensor& output, const at::Tensor& mask, const at::Tensor& out) {
  const int n = static_cast<int>(grad.size(1));
  dispatch_softmax_backward<float, float, float, IsLog, IsMasked>(
      out.mutable_data_ptr<float>(), grad.const_data_ptr<float>(), output.const_data_ptr<float>(), n, n,
      static_cast<int>(grad.size(0)), IsMasked ? mask.const_data_ptr<bool>() : nullptr);
}

// The emulator's tensors are on the CPU, which CUDA_tensor_applyN refuses: there what it calls is called.
template <int Step, class... T, class Op, class... Tensors>
bool apply_to(const Op& op, const Tensors&... tensors) {
  using at::cuda::TensorArgType;
  std::array<TensorArgType, sizeof...(T)> types;
  types.fill(TensorArgType::ReadOnly);
  types[0] = TensorArgType::ReadWrite;
  return at::cuda::apply::run<Step, 512, 4, T...>(op, {tensors...}, types, std::index_sequence_for<T...>());
}

struct AddOne {
  __device__ void operator()(float& x) const {
    x += 1;
  }
};
struct Sum {
  __device__ void operator()(float& x, const float& y, const float& z) const {
    x = y + z;
  }
};
struct AddProduct {
  __device__ void operator()(float& x, const float& y, const float& z, const double& w) const {
    x += y * z * static_cast<float>(w);
  }
};
struct CopyFour {
  __device__ void operator()(
      int n,
      float& a0,
      float& a1,
      float& a2,
      float& a3,
      const float& b0,
      const float& b1,
      const float& b2,
      const float& b3) const {
    float* const to[] = {&a0, &a1, &a2, &a3};
    const float from[] = {b0, b1, b2, b3};
    for (int i = 0; i < n; ++i) {
      *to[i] = from[i];
    }
  }
};

struct Place {
  float value;
  int64_t index;
};
struct Greatest {
  __device__ Place reduce(Place best, float value, int64_t index) const {
    return combine(best, {value, index});
  }
  __device__ Place combine(Place a, Place b) const {
    return b.value > a.value || (b.value == a.value && b.index < a.index) ? b : a;
  }
  __device__ std::pair<float, int64_t> project(Place best) const {
    return {best.value, best.index};
  }
  __device__ Place translate_idx(Place best, int64_t offset) const {
    return {best.value, best.index + offset};
  }
};

struct Add {
  __device__ double operator()(double a, double b) const {
    return a + b;
  }
};

using Generator = at::CUDAGeneratorImpl*;
Generator generator() {
  static const at::Generator own = at::cuda::detail::createCUDAGenerator(0);
  own.unsafeGetGeneratorImpl()->set_current_seed(11);
  return static_cast<Generator>(own.unsafeGetGeneratorImpl());
}

__global__ void root_kernel(float* x, int n) {
  const int i = static_cast<int>(threadIdx.x);
  CUDA_KERNEL_ASSERT_PRINTF(n <= 64, "%d elements", n);
  CUDA_KERNEL_ASSERT_VERBOSE(n <= 64, "%d elements", n);
  if (i < n) {
    x[i] = static_cast<float>(at::native::device_sqrt(x[i]));
  }
}

} // namespace

at::Tensor row_softmax(const at::Tensor& rows, const at::Tensor& mask, bool log, int chunk) {
  at::Tensor out = at::empty_like(rows);
  const bool masked = mask.defined();
  (log          ? masked ? run_softmax<true, true> : run_softmax<true, false>
                : masked ? run_softmax<false, true>
                : run_softmax<false, false>)(rows, mask, chunk, out);
  return out;
}

at::Tensor row_softmax_backward(const at::Tensor& grad, const at::Tensor& output, const at::Tensor& mask, bool log) {
  at::Tensor out = at::empty_like(grad);
  const bool masked = mask.defined();
  (log          ? masked ? run_softmax_backward<true, true> : run_softmax_backward<true, false>
                : masked ? run_softmax_backward<false, true>
                : run_softmax_backward<false, false>)(log ? grad : grad * output, output, mask, out);
  return out;
}

void add_one(const at::Tensor& x) {
  if (x.is_cuda()) {
    at::cuda::CUDA_tensor_apply1<float>(x, AddOne());
  } else {
    apply_to<1, float>(AddOne(), x);
  }
}
void add_into(const at::Tensor& x, const at::Tensor& y, const at::Tensor& z) {
  if (x.is_cuda()) {
    at::cuda::CUDA_tensor_apply3<float, const float, const float>(x, y, z, Sum());
  } else {
    apply_to<1, float, const float, const float>(Sum(), x, y, z);
  }
}
void add_product_into(const at::Tensor& x, const at::Tensor& y, const at::Tensor& z, const at::Tensor& w) {
  if (x.is_cuda()) {
    at::cuda::CUDA_tensor_apply4<float, float, float, double>(x, y, z, w, AddProduct());
  } else {
    apply_to<1, float, float, float, double>(AddProduct(), x, y, z, w);
  }
}
bool copy_by_four(const at::Tensor& x, const at::Tensor& y) {
  if (x.is_cuda()) {
    return at::cuda::CUDA_tensor_apply2<float, const float, 4>(x, y, CopyFour());
  }
  return apply_to<4, float, const float>(CopyFour(), x, y);
}

std::tuple<at::Tensor, at::Tensor> greatest(const at::Tensor& x, int64_t dim) {
  auto sizes = x.sizes().vec();
  sizes[dim] = 1;
  at::Tensor values = at::empty(sizes, x.options()), places = at::empty(sizes, x.options().dtype(at::kLong));
  auto iter = at::TensorIteratorConfig()
                  .set_check_mem_overlap(false)
                  .resize_outputs(false)
                  .is_reduction(true)
                  .check_all_same_dtype(false)
                  .add_owned_output(values.expand(x.sizes()))
                  .add_owned_output(places.expand(x.sizes()))
                  .add_input(x)
                  .build();
  at::native::gpu_reduce_kernel<float, float>(iter, Greatest(), Place{-INFINITY, 0});
  return {values, places};
}

at::Tensor square_sum(const at::Tensor& x, at::OptionalIntArrayRef dims) {
  at::Tensor squares = x * x;
  auto sizes = x.sizes().vec();
  for (int64_t d = 0; d < x.dim(); ++d) {
    if (!dims.has_value() || std::find(dims->begin(), dims->end(), d) != dims->end()) {
      sizes[d] = 1;
    }
  }
  at::Tensor out = at::empty(sizes, x.options());
  auto iter = at::TensorIterator::reduce_op(out, squares);
  at::native::gpu_reduce_kernel<float, float>(iter, at::native::func_wrapper<float>(Add()), 0.);
  return out;
}

void sample_law(const at::Tensor& x, Law law, double a, double b) {
  namespace templates = at::native::templates::cuda;
  auto iter = at::TensorIterator::borrowing_nullary_op(x);
  switch (law) {
    case Law::Normal:
      templates::normal_kernel(x, a, b, generator());
      return;
    case Law::Uniform:
      templates::uniform_kernel(iter, a, b, generator());
      return;
    case Law::Exponential:
      templates::exponential_kernel(iter, a, generator());
      return;
    case Law::Geometric:
      templates::geometric_kernel(iter, a, generator());
      return;
    case Law::Bernoulli:
      templates::bernoulli_kernel(iter, a, generator());
      return;
    case Law::Integers:
      templates::random_from_to_kernel(iter, static_cast<uint64_t>(b - a), static_cast<int64_t>(a), generator());
      return;
    case Law::AllIntegers:
      templates::random_kernel(iter, generator());
      return;
  }
}

void sample_each(const at::Tensor& x, const at::Tensor& chances) {
  at::native::templates::cuda::bernoulli_kernel(x, chances, generator());
}

at::Tensor image_to_columns(
    const at::Tensor& image, int64_t kernel, int64_t dilation, int64_t padding, int64_t stride) {
  const auto windows = [&](int64_t size) { return (size + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1; };
  const int64_t rows = windows(image.size(1)), columns = windows(image.size(2));
  at::Tensor out = at::empty({image.size(0) * kernel * kernel, rows * columns}, image.options());
  at::native::im2col<float>(
      at::cuda::getCurrentCUDAStream(), image.const_data_ptr<float>(), image.size(0), image.size(1), image.size(2),
      rows, columns, kernel, kernel, padding, padding, stride, stride, dilation, dilation,
      out.mutable_data_ptr<float>());
  return out;
}

at::Tensor columns_to_image(
    const at::Tensor& columns,
    int64_t height,
    int64_t width,
    int64_t kernel,
    int64_t dilation,
    int64_t padding,
    int64_t stride) {
  const auto windows = [&](int64_t size) { return (size + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1; };
  const int64_t channels = columns.size(0) / (kernel * kernel);
  at::Tensor out = at::empty({channels, height, width}, columns.options());
  at::native::col2im<float, double>(
      at::cuda::getCurrentCUDAStream(), columns.const_data_ptr<float>(), channels, height, width, windows(height),
      windows(width), kernel, kernel, padding, padding, stride, stride, dilation, dilation,
      out.mutable_data_ptr<float>());
  return out;
}

at::Tensor roots(const at::Tensor& x) {
  at::Tensor out = x.clone();
  const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  root_kernel<<<1, 64, 0, stream>>>(out.mutable_data_ptr<float>(), static_cast<int>(out.numel()));
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return out;
}
