// An extension as programs write them: kernels in a .cu, the headers that such files include, functions called by C++.
#include <ATen/ATen.h>
#include <ATen/AccumulateType.h>
#include <ATen/CUDAGeneratorImpl.h>
#include <ATen/Dispatch.h>
#include <ATen/TensorUtils.h>
#include <ATen/ceil_div.h>
#include <ATen/cuda/ATenCUDAGeneral.h>
#include <ATen/cuda/AsmUtils.cuh>
#include <ATen/cuda/Atomic.cuh>
#include <ATen/cuda/CUDAApplyUtils.cuh>
#include <ATen/cuda/CUDABlas.h>
#include <ATen/cuda/CUDAConfig.h>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDADataType.h>
#include <ATen/cuda/CUDAEvent.h>
#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <ATen/cuda/CUDAGraph.h>
#include <ATen/cuda/CUDAGraphsUtils.cuh>
#include <ATen/cuda/CUDASparse.h>
#include <ATen/cuda/CUDAUtils.h>
#include <ATen/cuda/CachingHostAllocator.h>
#include <ATen/cuda/DeviceUtils.cuh>
#include <ATen/cuda/EmptyTensor.h>
#include <ATen/cuda/Exceptions.h>
#include <ATen/cuda/MemPool.h>
#include <ATen/cuda/NumericLimits.cuh>
#include <ATen/cuda/PeerToPeerAccess.h>
#include <ATen/cuda/PhiloxUtils.cuh>
#include <ATen/cuda/PinnedMemoryAllocator.h>
#include <ATen/cuda/Sleep.h>
#include <ATen/cuda/ThrustAllocator.h>
#include <ATen/cuda/cub.cuh>
#include <ATen/cuda/cub.h>
#include <ATen/cuda/cub_definitions.cuh>
#include <ATen/cuda/detail/IndexUtils.cuh>
#include <ATen/cuda/detail/IntegerDivider.cuh>
#include <ATen/cuda/detail/KernelUtils.h>
#include <ATen/cuda/detail/TensorInfo.cuh>
#include <ATen/cuda/detail/UnpackRaw.cuh>
#include <ATen/native/cuda/KernelUtils.cuh>
#include <ATen/native/cuda/Loops.cuh>
#include <ATen/native/cuda/UpSample.cuh>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAMathCompat.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/extension.h>
#if AT_CUDNN_ENABLED()
#include <ATen/cudnn/Descriptors.h>
#include <ATen/cudnn/Handle.h>
#include <ATen/cudnn/Types.h>
#include <ATen/cudnn/Utils.h>
#endif

#include <curand_kernel.h>
#include <thrust/execution_policy.h>
#include <thrust/sort.h>

#include "extension.h"

#if CUDART_VERSION >= 13000
static_assert(CUB_V3_PLUS() || CUB_V3_4_PLUS(), "CUDA 13 brings CUB 3");
#endif

namespace {

template <typename scalar_t>
__global__ void swish_kernel(
    const torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits> in,
    torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits> out) {
  using acc_t = at::acc_type<scalar_t, true>;
  CUDA_KERNEL_LOOP(i, in.size(0) * in.size(1)) {
    const int row = i / in.size(1), col = i % in.size(1);
    const acc_t x = static_cast<acc_t>(in[row][col]);
    out[row][col] = static_cast<scalar_t>(x / (acc_t(1) + c10::cuda::compat::exp(-x)));
  }
}

template <typename scalar_t>
__global__ void histogram_kernel(const int64_t* bins, int n, scalar_t* counts, int64_t numel) {
  CUDA_KERNEL_LOOP(i, n) {
    at::native::fastAtomicAdd(counts, bins[i], numel, static_cast<scalar_t>(1), true);
  }
}

__global__ void row_sum_kernel(
    at::cuda::detail::IntDivider<unsigned int> columns, const float* in, unsigned int n, float* sums) {
  const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  float value = i < n ? in[i] : 0.f;
  const auto place = columns.divmod(i);
  static_cast<void>(at::cuda::getLaneId() + __popc(at::cuda::getLaneMaskLt()));
  if (i < n) {
    gpuAtomicAdd(sums + place.div, value);
  }
}

__global__ void dropout_kernel(at::PhiloxCudaState philox, float p, const float* in, float* out, int n) {
  const auto seeds = at::cuda::philox::unpack(philox);
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  curandStatePhilox4_32_10_t state;
  curand_init(std::get<0>(seeds), i, std::get<1>(seeds), &state);
  if (i < n) {
    out[i] = curand_uniform(&state) > p ? in[i] / (1 - p) : 0.f;
  }
}

__global__ void row_of_image(
    at::PackedTensorAccessor64<const float, 4> image,
    at::PackedTensorAccessor64<float, 4> out,
    float scale,
    int height,
    int width) {
  const int x = threadIdx.x;
  if (x < out.size(3)) {
    const float from = at::native::area_pixel_compute_source_index<float>(scale, x, false, true);
    const int left = static_cast<int>(floorf(from));
    float values[4];
    for (int k = 0; k < 4; ++k) {
      values[k] = at::native::upsample_get_value_bounded<float>(image, 0, 0, height, width, 0, left - 1 + k);
    }
    out[0][0][0][x] = at::native::cubic_interp1d<float, float>(values[0], values[1], values[2], values[3], from - left);
  }
}

void check_input(const at::Tensor& x) {
  TORCH_CHECK(x.is_cuda(), "x must be a CUDA tensor");
  TORCH_CHECK(x.is_contiguous(), "x must be contiguous");
}

} // namespace

at::Tensor swish_cuda(const at::Tensor& x) {
  check_input(x);
  const at::cuda::OptionalCUDAGuard guard(at::device_of(x));
  at::Tensor out = at::empty_like(x);
  const auto stream = at::cuda::getCurrentCUDAStream();
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "swish", [&] {
    swish_kernel<scalar_t><<<at::cuda::detail::GET_BLOCKS(x.numel()), at::cuda::detail::CUDA_NUM_THREADS, 0, stream>>>(
        x.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>(),
        out.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
  return out;
}

at::Tensor histogram_cuda(const at::Tensor& bins, int64_t count) {
  check_input(bins);
  const c10::cuda::CUDAGuard guard(bins.device());
  at::Tensor counts = at::zeros({count}, bins.options().dtype(at::kFloat));
  histogram_kernel<float><<<at::ceil_div(bins.numel(), int64_t{256}), 256, 0, at::cuda::getCurrentCUDAStream()>>>(
      bins.data_ptr<int64_t>(), static_cast<int>(bins.numel()), counts.data_ptr<float>(), count);
  AT_CUDA_CHECK(cudaGetLastError());
  return counts;
}

at::Tensor row_sums_cuda(const at::Tensor& x) {
  check_input(x);
  const c10::cuda::CUDAGuard guard(x.device());
  at::Tensor sums = at::zeros({x.size(0)}, x.options());
  row_sum_kernel<<<at::cuda::ATenCeilDiv(x.numel(), int64_t{256}), 256, 0, at::cuda::getCurrentCUDAStream()>>>(
      at::cuda::detail::IntDivider<unsigned int>(static_cast<unsigned>(x.size(1))), x.const_data_ptr<float>(),
      static_cast<unsigned>(x.numel()), sums.mutable_data_ptr<float>());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return sums;
}

at::Tensor dropout_cuda(const at::Tensor& x, double p) {
  check_input(x);
  const c10::cuda::CUDAGuard guard(x.device());
  at::Tensor out = at::empty_like(x);
  auto* gen =
      at::get_generator_or_default<at::CUDAGeneratorImpl>(std::nullopt, at::cuda::detail::getDefaultCUDAGenerator());
  at::PhiloxCudaState philox;
  {
    std::lock_guard<std::mutex> lock(gen->mutex_);
    philox = gen->philox_cuda_state(4);
  }
  dropout_kernel<<<at::cuda::ATenCeilDiv(x.numel(), int64_t{256}), 256, 0, at::cuda::getCurrentCUDAStream()>>>(
      philox, static_cast<float>(p), x.const_data_ptr<float>(), out.mutable_data_ptr<float>(),
      static_cast<int>(x.numel()));
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return out;
}

at::Tensor wider_row_cuda(const at::Tensor& image, int64_t width) {
  check_input(image);
  at::Tensor out = at::detail::empty_cuda({1, 1, 1, width}, image.options());
  const auto scale = at::native::area_pixel_compute_scale<float>(
      static_cast<int>(image.size(3)), static_cast<int>(width), false, std::nullopt);
  row_of_image<<<1, 256, 0, at::cuda::getCurrentCUDAStream()>>>(
      image.packed_accessor64<const float, 4>(), out.packed_accessor64<float, 4>(), scale,
      static_cast<int>(image.size(2)), static_cast<int>(image.size(3)));
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return out;
}

at::Tensor product_cuda(const at::Tensor& a, const at::Tensor& b) {
  check_input(a);
  check_input(b);
  at::Tensor out = at::empty({a.size(0), b.size(1)}, a.options());
  AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND2(at::kHalf, at::kBFloat16, a.scalar_type(), "product", [&] {
    at::cuda::blas::gemm<scalar_t>(
        'n', 'n', b.size(1), a.size(0), a.size(1), 1, b.const_data_ptr<scalar_t>(), b.size(1),
        a.const_data_ptr<scalar_t>(), a.size(1), 0, out.mutable_data_ptr<scalar_t>(), b.size(1));
  });
  return out;
}

std::tuple<at::Tensor, at::Tensor> sorted_runs_cuda(const at::Tensor& keys) {
  check_input(keys);
  const int64_t n = keys.numel();
  at::Tensor sorted = at::empty_like(keys), order = at::empty_like(keys), numbers = at::arange(n, keys.options());
  at::cuda::cub::radix_sort_pairs<int64_t, int64_t>(
      keys.const_data_ptr<int64_t>(), sorted.mutable_data_ptr<int64_t>(), numbers.const_data_ptr<int64_t>(),
      order.mutable_data_ptr<int64_t>(), n, false, 0, at::cuda::cub::get_num_bits(n));
  at::Tensor unique = at::empty_like(keys), counts = at::empty_like(keys), length = at::empty({1}, keys.options());
  at::cuda::cub::run_length_encode(
      sorted.const_data_ptr<int64_t>(), unique.mutable_data_ptr<int64_t>(), counts.mutable_data_ptr<int64_t>(),
      length.mutable_data_ptr<int64_t>(), n);
  at::Tensor sums = at::empty_like(counts);
  at::cuda::cub::inclusive_scan(
      counts.const_data_ptr<int64_t>(), sums.mutable_data_ptr<int64_t>(), ::cuda::std::plus<int64_t>(), n);
  at::cuda::cub::exclusive_sum(counts.const_data_ptr<int64_t>(), sums.mutable_data_ptr<int64_t>(), n);
  size_t bytes = 0;
  cub::DeviceReduce::Sum(nullptr, bytes, sorted.const_data_ptr<int64_t>(), length.mutable_data_ptr<int64_t>(), n);
  return {sorted, order};
}

void sort_in_place_cuda(at::Tensor& x) {
  at::cuda::ThrustAllocator allocator;
  const auto policy = thrust::cuda::par(allocator).on(at::cuda::getCurrentCUDAStream());
  thrust::sort(policy, x.mutable_data_ptr<float>(), x.mutable_data_ptr<float>() + x.numel());
}

bool library_handles_cuda() {
  static_cast<void>(&at::cuda::check_device);
  const bool sparse = at::cuda::getCurrentCUDASparseHandle() != nullptr;
  const bool solver = at::cuda::getCurrentCUDASolverDnHandle() != nullptr;
#if AT_CUDNN_ENABLED()
  static_cast<void>(&at::native::getCudnnHandle);
  static_cast<void>(&at::native::getCudnnDataType);
#endif
  return sparse && solver && at::cuda::getCudaDataType<float>() == CUDA_R_32F;
}

#define CHECK_CUDA(x) TORCH_CHECK(x.is_cuda(), #x " must be a CUDA tensor")

/// sum over i < 4 of lerp(x, y) by the iterator's loop.
at::Tensor lerp_cuda(const at::Tensor& x, const at::Tensor& y, float weight) {
  CHECK_CUDA(x);
  at::Tensor out = at::empty_like(x);
  auto iter = at::TensorIteratorConfig().add_output(out).add_input(x).add_input(y).build();
  at::native::gpu_kernel(iter, [weight] GPU_LAMBDA(float a, float b) -> float { return a + weight * (b - a); });
  return out;
}

struct Settings {
  int steps = 1;
};

/// What nvcc hands to the host's compiler of a template must be C++, too.
template <class Options>
void check_steps(const Options& options) {
  TORCH_CHECK(options.steps > 0, "steps must be above 0, got ", options.steps);
  TORCH_CHECK_VALUE(options.steps < 100, "steps must be below 100, got ", options.steps);
  TORCH_INTERNAL_ASSERT(options.steps != 13, "unlucky: ", options.steps);
  if (options.steps > 50) {
    TORCH_WARN("many steps: ", options.steps);
  }
}
template void check_steps(const Settings&);

// Parsed, and no module made: there is no Python.
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  py::class_<Settings>(m, "Settings").def(py::init<>()).def_readwrite("steps", &Settings::steps);
  py::enum_<at::ScalarType>(m, "Dtype").value("half", at::kHalf).export_values();
  m.def("swish", &swish_cuda, "x * sigmoid(x)", py::arg("x"), py::call_guard<py::gil_scoped_release>());
  m.def("dropout", &dropout_cuda, py::arg("x"), py::arg("p") = 0.5);
}
