// See toolbox.h. The emulator runs these kernels, too: launches name their stream, and tensors may be on the CPU.
#include <ATen/ATen.h>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/ScanUtils.cuh>
#include <ATen/cuda/detail/KernelUtils.h>
#include <ATen/cuda/detail/OffsetCalculator.cuh>
#include <ATen/native/cuda/GridSampler.cuh>
#include <ATen/native/cuda/LaunchUtils.h>
#include <ATen/native/cuda/Loops.cuh>
#include <ATen/native/cuda/MemoryAccess.cuh>
#include <ATen/native/cuda/MiscUtils.h>
#include <ATen/native/cuda/block_reduce.cuh>
#include <c10/cuda/CUDADeviceAssertion.h>
#include <torch/python.h>

#include <tuple>

#include "toolbox.h"

namespace {

using at::native::GridSamplerPadding;

struct Image {
  const float* data;
  int batch, channels, height, width;
};

/// Threads are places of the grid; `grad_image` and `grad_grid` are null on the way there.
__global__ void sample_kernel(
    Image image,
    const float* grid,
    int rows,
    int columns,
    bool cubic,
    GridSamplerPadding padding,
    bool align_corners,
    float* out,
    const float* grad,
    float* grad_image,
    float* grad_grid) {
  const int count = image.batch * rows * columns, plane = image.height * image.width;
  const int H = image.height, W = image.width;
  CUDA_KERNEL_LOOP(i, count) {
    const int n = i / (rows * columns), place = i % (rows * columns);
    float slope_x = 0, slope_y = 0, sum_x = 0, sum_y = 0;
    float x, y;
    if (cubic) {
      x = at::native::grid_sampler_unnormalize_set_grad(grid[2 * i], W, align_corners, &slope_x);
      y = at::native::grid_sampler_unnormalize_set_grad(grid[2 * i + 1], H, align_corners, &slope_y);
    } else {
      x = at::native::grid_sampler_compute_source_index_set_grad(grid[2 * i], W, padding, align_corners, &slope_x);
      y = at::native::grid_sampler_compute_source_index_set_grad(grid[2 * i + 1], H, padding, align_corners, &slope_y);
    }
    const float left = ::floorf(x), top = ::floorf(y), dx = x - left, dy = y - top;
    float weight_x[4], weight_y[4], change_x[4], change_y[4];
    at::native::get_cubic_upsampling_coefficients(weight_x, dx);
    at::native::get_cubic_upsampling_coefficients(weight_y, dy);
    at::native::get_cubic_coefficients_grad(change_x, dx);
    at::native::get_cubic_coefficients_grad(change_y, dy);
    for (int c = 0; c < image.channels; ++c) {
      const int channel = (n * image.channels + c) * plane, element = (n * image.channels + c) * rows * columns + place;
      const float* data = image.data + channel;
      float value = 0;
      if (cubic) {
        for (int a = 0; a < 4; ++a) {
          for (int b = 0; b < 4; ++b) {
            const float pixel =
                at::native::get_value_bounded(data, left - 1 + b, top - 1 + a, W, H, 1, W, padding, align_corners);
            value += pixel * weight_y[a] * weight_x[b];
            if (grad != nullptr) {
              at::native::add_value_bounded(
                  grad_image, left - 1 + b, top - 1 + a, W, H, 1, W, grad[element] * weight_y[a] * weight_x[b], padding,
                  align_corners, channel, image.batch * image.channels * plane);
              sum_x -= grad[element] * pixel * weight_y[a] * change_x[b];
              sum_y -= grad[element] * pixel * change_y[a] * weight_x[b];
            }
          }
        }
      } else {
        for (int a = 0; a < 2; ++a) {
          for (int b = 0; b < 2; ++b) {
            const int row = static_cast<int>(top) + a, column = static_cast<int>(left) + b;
            const float along_x = b == 0 ? 1 - dx : dx, along_y = a == 0 ? 1 - dy : dy;
            const bool inside = at::native::within_bounds_2d(row, column, H, W);
            const float pixel = inside ? data[row * W + column] : 0.f;
            value += pixel * along_y * along_x;
            if (grad != nullptr) {
              at::native::safe_add_2d(
                  grad_image, row, column, W, 1, H, W, grad[element] * along_y * along_x, channel,
                  image.batch * image.channels * plane);
              sum_x += grad[element] * pixel * along_y * (b == 0 ? -1.f : 1.f);
              sum_y += grad[element] * pixel * along_x * (a == 0 ? -1.f : 1.f);
            }
          }
        }
      }
      if (out != nullptr) {
        out[element] = value;
      }
    }
    if (grad_grid != nullptr) {
      grad_grid[2 * i] = slope_x * sum_x;
      grad_grid[2 * i + 1] = slope_y * sum_y;
    }
  }
}

void run_sample(
    const at::Tensor& image,
    const at::Tensor& grid,
    bool cubic,
    int64_t padding,
    bool align_corners,
    float* out,
    const float* grad,
    float* grad_image,
    float* grad_grid) {
  at::native::check_grid_sampler_common(image, grid);
  at::native::check_grid_sampler_2d(image, grid);
  const Image dense{
      image.const_data_ptr<float>(), static_cast<int>(image.size(0)), static_cast<int>(image.size(1)),
      static_cast<int>(image.size(2)), static_cast<int>(image.size(3))};
  const int rows = static_cast<int>(grid.size(1)), columns = static_cast<int>(grid.size(2));
  const int blocks = at::cuda::detail::GET_BLOCKS(grid.numel() / 2, 128);
  const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  sample_kernel<<<blocks, 128, 0, stream>>>(
      dense, grid.const_data_ptr<float>(), rows, columns, cubic, static_cast<GridSamplerPadding>(padding),
      align_corners, out, grad, grad_image, grad_grid);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

__global__ void row_kernel(const float* rows, int columns, float* sums, float* maxima) {
  namespace reduce = at::native::cuda_utils;
  __shared__ float shared[32];
  const int i = threadIdx.x;
  const float* row = rows + blockIdx.x * columns;
  const float sum = reduce::BlockReduceSum(i < columns ? row[i] : 0.f, shared);
  const float most = reduce::BlockReduceMax(i < columns ? row[i] : -INFINITY, shared);
  if (i == 0) {
    sums[blockIdx.x] = sum;
    maxima[blockIdx.x] = most;
  }
}

__global__ void scale_kernel(
    int count,
    float factor,
    char* out,
    char* in,
    OffsetCalculator<2> offsets,
    at::native::memory::LoadWithCast<1> loader,
    at::native::memory::StoreWithCast<1> storer) {
  const int i = static_cast<int>(blockIdx.x * num_threads() + threadIdx.x);
  if (i < count) {
    const auto place = offsets.get(i);
    storer.store(factor * loader.load<float>(in, place[1], 0), out, place[0]);
  }
}

template <int size>
__global__ void vector_kernel(int vectors, float factor, float* out, const float* in) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < vectors) {
    auto values = at::native::memory::load_vector<size>(in, i);
    for (int k = 0; k < size; ++k) {
      values.val[k] *= factor;
    }
    reinterpret_cast<at::native::memory::aligned_vector<float, size>*>(out)[i] = values;
  }
}

__global__ void place_kernel(const bool* x, int64_t* places, int64_t* count) {
  __shared__ int counts[32];
  int before = 0, all = 0;
  const bool here = x[threadIdx.x];
  at::cuda::exclusiveBinaryPrefixScan<int, true>(counts, here, &before, &all, [](int a, int b) { return a + b; });
  if (here) {
    places[before] = threadIdx.x;
  }
  if (threadIdx.x == 0) {
    *count = all;
  }
}

/// gpu_kernel takes CUDA tensors alone; the emulator's are passed to what is below it.
template <class F>
void loop(at::TensorIteratorBase& iter, const F& f) {
  namespace gpu_loop = at::native::gpu_loop;
  using Result = typename gpu_loop::Signature<F>::Result;
  if (iter.common_device().is_cuda()) {
    at::native::gpu_kernel(iter, f);
  } else {
    const c10::ScalarType dtype = c10::CppTypeToScalarType<Result>::value;
    gpu_loop::with_dtypes(iter, {dtype, dtype, dtype}, [&](at::TensorIteratorBase& same) {
      gpu_loop::launch<gpu_loop::Outputs<Result>>(same, f);
    });
    iter.cast_outputs();
  }
}

struct ProductAndQuotient {
  __host__ __device__ std::tuple<float, float> operator()(float a, float b) const {
    return {a * b, a / b};
  }
};

struct Difference {
  __host__ __device__ float operator()(float a, float b) const {
    return a - b;
  }
};

} // namespace

at::Tensor sample(const at::Tensor& image, const at::Tensor& grid, bool cubic, int64_t padding, bool align_corners) {
  at::Tensor out = at::empty({image.size(0), image.size(1), grid.size(1), grid.size(2)}, image.options());
  run_sample(image, grid, cubic, padding, align_corners, out.mutable_data_ptr<float>(), nullptr, nullptr, nullptr);
  return out;
}

std::tuple<at::Tensor, at::Tensor> sample_backward(
    const at::Tensor& grad,
    const at::Tensor& image,
    const at::Tensor& grid,
    bool cubic,
    int64_t padding,
    bool align_corners) {
  at::Tensor grad_image = at::zeros_like(image), grad_grid = at::empty_like(grid);
  run_sample(
      image, grid, cubic, padding, align_corners, nullptr, grad.const_data_ptr<float>(),
      grad_image.mutable_data_ptr<float>(), grad_grid.mutable_data_ptr<float>());
  return {grad_image, grad_grid};
}

std::tuple<at::Tensor, at::Tensor> sums_and_maxima(const at::Tensor& rows) {
  const int columns = at::native::cuda_int_cast(rows.size(1), "columns");
  const int threads = std::max(32, 2 * at::native::lastPow2(static_cast<unsigned>(columns - 1)));
  TORCH_CHECK(threads <= at::native::cuda_utils::kCUDABlockReduceMaxThreads(), "rows of up to 1024 elements");
  at::Tensor sums = at::empty({rows.size(0)}, rows.options()), maxima = at::empty_like(sums);
  const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  row_kernel<<<static_cast<unsigned>(rows.size(0)), threads, 0, stream>>>(
      rows.const_data_ptr<float>(), columns, sums.mutable_data_ptr<float>(), maxima.mutable_data_ptr<float>());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return {sums, maxima};
}

void scale_into(const at::Tensor& x, float factor, const at::Tensor& out) {
  const auto iter =
      at::TensorIteratorConfig().check_all_same_dtype(false).resize_outputs(false).add_output(out).add_input(x).build();
  const int count = static_cast<int>(iter.numel());
  const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  scale_kernel<<<at::ceil_div(count, static_cast<int>(num_threads())), num_threads(), 0, stream>>>(
      count, factor, static_cast<char*>(iter.data_ptr(0)), static_cast<char*>(iter.data_ptr(1)),
      make_element_offset_calculator<2>(iter), at::native::memory::LoadWithCast<1>(iter),
      at::native::memory::StoreWithCast<1>(iter));
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

at::Tensor scale_by_vectors(const at::Tensor& x, float factor) {
  namespace memory = at::native::memory;
  at::Tensor out = at::empty_like(x);
  const float* in = x.const_data_ptr<float>();
  float* to = out.mutable_data_ptr<float>();
  const int count = static_cast<int>(x.numel());
  const bool by_four = count % 4 == 0 && memory::can_vectorize_up_to<float>(reinterpret_cast<const char*>(in)) >= 4 &&
      memory::can_vectorize_up_to<float>(reinterpret_cast<char*>(to)) >= 4;
  const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  if (by_four) {
    vector_kernel<4><<<at::ceil_div(count / 4, 64), 64, 0, stream>>>(count / 4, factor, to, in);
  } else {
    vector_kernel<1><<<at::ceil_div(count, 64), 64, 0, stream>>>(count, factor, to, in);
  }
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return out;
}

at::Tensor places(const at::Tensor& x) {
  TORCH_CHECK(x.numel() == 256, "256 elements");
  at::Tensor all = at::empty({256}, x.options().dtype(at::kLong)), count = at::empty({1}, all.options());
  const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  place_kernel<<<1, 256, 0, stream>>>(
      x.const_data_ptr<bool>(), all.mutable_data_ptr<int64_t>(), count.mutable_data_ptr<int64_t>());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return all.narrow(0, 0, count.item<int64_t>());
}

at::Tensor add_scaled(const at::Tensor& x, const at::Tensor& y, double scale, at::ScalarType result) {
  at::Tensor out = at::empty({0}, x.options().dtype(result));
  auto iter = at::TensorIteratorConfig().check_all_same_dtype(false).add_output(out).add_input(x).add_input(y).build();
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "add_scaled", [&] {
    const auto factor = static_cast<scalar_t>(scale);
    loop(iter, [factor] GPU_LAMBDA(scalar_t a, scalar_t b) -> scalar_t { return a + b * factor; });
  });
  return out;
}

std::tuple<at::Tensor, at::Tensor> product_and_quotient(const at::Tensor& x, const at::Tensor& y) {
  at::Tensor product = at::empty_like(x), quotient = at::empty_like(x);
  auto iter = at::TensorIteratorConfig().add_output(product).add_output(quotient).add_input(x).add_input(y).build();
  namespace gpu_loop = at::native::gpu_loop;
  if (iter.common_device().is_cuda()) {
    at::native::gpu_kernel_multiple_outputs(iter, ProductAndQuotient());
  } else {
    gpu_loop::launch<gpu_loop::MultipleOutputs<std::tuple<float, float>>>(iter, ProductAndQuotient());
  }
  return {product, quotient};
}

at::Tensor difference(const at::Tensor& x, const at::Tensor& y) {
  at::Tensor out;
  auto iter = at::TensorIterator::borrowing_binary_op(out, x, y);
  at::native::gpu_kernel_with_scalars(iter, Difference());
  return iter.output();
}
