// Fourier transforms by cuFFT.
//
// One call of cuFFT transforms up to three dimensions of a batch. More dimensions go in turns, from the last to the
// first. What cuFFT cannot address is copied to memory of its own order; tensors that are row-major or column-major
// need no copy. The library is opened by the first transform.
#include <aten/Functions.h>
#include <aten/cuda/CUDAContextLight.h>
#include <aten/cuda/CUDADataType.h>
#include <aten/cuda/Libraries.h>
#include <aten/native/cuda/fft.h>
#include <aten/native/cuda/fft_plan.h>
#include <aten/native/cuda/workspace.h>
#include <c10/core/WrapDimMinimal.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <c10/cuda/CUDAStream.h>

#include <cufftXt.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace at::native::cuda {

namespace {

using at::cuda::Library;
template <class F>
using FftFunction = at::cuda::LibraryFunction<Library::cuFFT, F>;

const FftFunction<decltype(cufftCreate)> create{"cufftCreate"};
const FftFunction<decltype(cufftDestroy)> destroy{"cufftDestroy"};
const FftFunction<decltype(cufftSetAutoAllocation)> set_auto_allocation{"cufftSetAutoAllocation"};
const FftFunction<decltype(cufftSetStream)> set_stream{"cufftSetStream"};
const FftFunction<decltype(cufftSetWorkArea)> set_work_area{"cufftSetWorkArea"};
const FftFunction<decltype(cufftXtMakePlanMany)> make_plan_many{"cufftXtMakePlanMany"};
const FftFunction<decltype(cufftXtExec)> execute{"cufftXtExec"};

const char* name_of(cufftResult status) {
  switch (status) {
    case CUFFT_SUCCESS:
      return "CUFFT_SUCCESS";
    case CUFFT_INVALID_PLAN:
      return "CUFFT_INVALID_PLAN";
    case CUFFT_ALLOC_FAILED:
      return "CUFFT_ALLOC_FAILED";
    case CUFFT_INVALID_TYPE:
      return "CUFFT_INVALID_TYPE";
    case CUFFT_INVALID_VALUE:
      return "CUFFT_INVALID_VALUE";
    case CUFFT_INTERNAL_ERROR:
      return "CUFFT_INTERNAL_ERROR";
    case CUFFT_EXEC_FAILED:
      return "CUFFT_EXEC_FAILED";
    case CUFFT_SETUP_FAILED:
      return "CUFFT_SETUP_FAILED";
    case CUFFT_INVALID_SIZE:
      return "CUFFT_INVALID_SIZE";
    case CUFFT_UNALIGNED_DATA:
      return "CUFFT_UNALIGNED_DATA";
    case CUFFT_INVALID_DEVICE:
      return "CUFFT_INVALID_DEVICE";
    case CUFFT_NO_WORKSPACE:
      return "CUFFT_NO_WORKSPACE";
    case CUFFT_NOT_IMPLEMENTED:
      return "CUFFT_NOT_IMPLEMENTED";
    case CUFFT_NOT_SUPPORTED:
      return "CUFFT_NOT_SUPPORTED";
    default:
      return "an unknown status";
  }
}

void check(cufftResult status, const char* call) {
  TORCH_CHECK(
      status == CUFFT_SUCCESS, "cuFFT error: ", name_of(status), " (code ", static_cast<int>(status), ") when calling ",
      call);
}

// ---- plans
// -----------------------------------------------------------------------------------------------------------------

/// A plan and the bytes of workspace that it needs. The workspace comes from the caching allocator, call by call.
class Plan {
 public:
  explicit Plan(const FftKey& key) {
    // cuFFT allocates tables, which a capture would refuse.
    const c10::cuda::CUDAStreamCaptureModeGuard relaxed(cudaStreamCaptureModeRelaxed);
    check(create(&handle_), "cufftCreate");
    // The API takes the arrays without const.
    FftKey k = key;
    const cufftResult status = [&] {
      const cufftResult manual = set_auto_allocation(handle_, 0);
      return manual != CUFFT_SUCCESS
          ? manual
          : make_plan_many(
                handle_, static_cast<int>(k.rank), k.sizes.data(), k.in.embed.data(), k.in.stride, k.in.distance,
                static_cast<cudaDataType>(k.in_type), k.out.embed.data(), k.out.stride, k.out.distance,
                static_cast<cudaDataType>(k.out_type), k.batch, &workspace_, static_cast<cudaDataType>(k.compute_type));
    }();
    if (status != CUFFT_SUCCESS) {
      destroy(handle_);
      check(status, "cufftXtMakePlanMany");
    }
  }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  ~Plan() {
    destroy(handle_);
  }

  void run(const void* in, void* out, bool forward, cudaStream_t stream) const {
    const Workspace memory(std::max<std::size_t>(workspace_, 1), stream);
    check(set_stream(handle_, stream), "cufftSetStream");
    check(set_work_area(handle_, memory.data()), "cufftSetWorkArea");
    check(execute(handle_, const_cast<void*>(in), out, forward ? CUFFT_FORWARD : CUFFT_INVERSE), "cufftXtExec");
  }

 private:
  cufftHandle handle_ = 0;
  std::size_t workspace_ = 0;
};

FftPlanCache<Plan>& plans_of(c10::DeviceIndex device) {
  static auto* const all = new std::array<FftPlanCache<Plan>, C10_COMPILE_TIME_MAX_GPUS>();
  return (*all)[static_cast<std::size_t>(device)];
}

// ---- one call of cuFFT
// -----------------------------------------------------------------------------------------------------

cudaDataType data_type(c10::ScalarType dtype) {
  TORCH_CHECK(
      dtype != c10::ScalarType::BFloat16 && (c10::isFloatingType(dtype) || c10::isComplexType(dtype)), "fft: dtype ",
      dtype, " is not supported on cuda; supported: half, float, double and their complex types");
  return at::cuda::ScalarTypeToCudaDataType(dtype);
}

c10::ScalarType complex_of(const TensorBase& t) {
  return c10::toComplexType(c10::toRealValueType(t.scalar_type()));
}

/// A tensor as cuFFT can address it: itself or a copy, which is not filled yet.
struct Side {
  Tensor tensor;
  FftLayout layout;
  bool copied = false;

  Side(const Tensor& t, const FftDims& dims) : tensor(t) {
    // Half takes dense elements only; and both sides of real transforms want complex elements to be aligned.
    const bool half = c10::toRealValueType(t.scalar_type()) == c10::ScalarType::Half;
    const std::size_t alignment = c10::elementSize(complex_of(t));
    const bool aligned = reinterpret_cast<std::uintptr_t>(t.const_data_ptr()) % alignment == 0;
    std::optional<FftLayout> direct;
    if (aligned) {
      direct = fft_layout(t, dims, half);
    }
    copied = !direct.has_value();
    if (copied) {
      DimVector order(dims.batch), sizes, back(t.dim());
      order.insert(order.end(), dims.signal.begin(), dims.signal.end());
      for (std::size_t i = 0; i < order.size(); ++i) {
        sizes.push_back(t.size(order[i]));
        back[order[i]] = static_cast<int64_t>(i);
      }
      tensor = at::empty(sizes, t.options()).permute(back);
      direct = fft_layout(tensor, dims, half);
    }
    layout = *direct;
  }
};

int64_t batch_of(const TensorBase& t, const FftDims& dims) {
  int64_t n = 1;
  for (const int64_t d : dims.batch) {
    n *= t.size(d);
  }
  return n;
}

enum class Fill : bool { None, Mirror };

/// out = the transform of `in` over `signal`, at most three dimensions; `in` may be `out`. `sizes` are those of the
/// side that has all points. A transform to real numbers overwrites `in`.
void transform(
    const Tensor& in, const Tensor& out, IntArrayRef signal, IntArrayRef sizes, bool forward, Fill fill = Fill::None) {
  const bool in_place = in.is_same(out);
  const FftDims dims = fft_dims(out, signal);
  const Side to(out, dims);
  Side from = in_place ? to : Side(in, dims);
  if (from.copied) {
    from.tensor.copy_(in);
  }
  const Tensor& target = to.tensor;
  FftKey key{};
  key.in_type = data_type(in.scalar_type());
  key.out_type = data_type(out.scalar_type());
  key.compute_type = data_type(complex_of(in));
  key.rank = static_cast<int64_t>(signal.size());
  key.batch = batch_of(out, dims);
  std::copy(sizes.begin(), sizes.end(), key.sizes.begin());
  key.in = from.layout;
  key.out = to.layout;
  const cudaStream_t stream = c10::cuda::getCurrentCUDAStream().stream();
  {
    FftPlanCache<Plan>& plans = plans_of(c10::cuda::current_device());
    const std::lock_guard<std::mutex> lock(plans.mutex());
    plans.get(key, [&] { return std::make_unique<Plan>(key); })
        .run(from.tensor.const_data_ptr(), target.mutable_data_ptr(), forward, stream);
  }
  if (fill == Fill::Mirror) {
    FftMirror mirror{
        c10::toRealValueType(out.scalar_type()),
        key.batch,
        to.layout.distance,
        {1, 1, 1},
        {0, 0, 0},
        target.mutable_data_ptr(),
        stream};
    for (std::size_t i = 0; i < signal.size(); ++i) {
      const std::size_t place = 3 - signal.size() + i;
      mirror.size[place] = sizes[i];
      mirror.stride[place] = target.stride(signal[i]);
    }
    launch_fft_mirror(mirror);
  }
  if (to.copied) {
    Tensor(out).copy_(target);
  }
}

// ---- all dimensions
// --------------------------------------------------------------------------------------------------------

DimVector wrapped(const TensorBase& self, IntArrayRef dim) {
  DimVector dims;
  for (const int64_t d : dim) {
    dims.push_back(c10::maybe_wrap_dim(d, self.dim()));
  }
  return dims;
}

bool is_power_of_two(int64_t n) {
  return (n & (n - 1)) == 0;
}

/// The points along each dimension; the last one may have its own number. Throws for what cuFFT cannot transform.
DimVector points_of(const TensorBase& self, IntArrayRef dims, std::optional<int64_t> last = std::nullopt) {
  DimVector points;
  for (const int64_t d : dims) {
    points.push_back(self.size(d));
  }
  if (last.has_value()) {
    points.back() = *last;
  }
  if (c10::toRealValueType(self.scalar_type()) == c10::ScalarType::Half) {
    TORCH_CHECK(
        std::all_of(points.begin(), points.end(), is_power_of_two),
        "cuFFT only supports dimensions whose sizes are powers of two when computing in half precision, but got a "
        "signal size of ",
        IntArrayRef(points));
  }
  return points;
}

/// The dimensions that the next call takes: those of the back of `count`.
struct Part {
  int64_t begin, size;
};
Part last_part(int64_t count) {
  const int64_t size = std::min(count, kFftDims);
  return {count - size, size};
}

/// out = the complex transform of `in` over `dims`; `in` may be `out`.
void complex_transforms(Tensor in, const Tensor& out, IntArrayRef dims, IntArrayRef points, bool forward) {
  for (int64_t count = static_cast<int64_t>(dims.size()); count > 0;) {
    const Part part = last_part(count);
    transform(in, out, dims.slice(part.begin, part.size), points.slice(part.begin, part.size), forward);
    in = out;
    count = part.begin;
  }
}

void scale(const Tensor& out, IntArrayRef points, int64_t normalization) {
  if (normalization == 0) {
    return;
  }
  double n = 1;
  for (const int64_t p : points) {
    n *= static_cast<double>(p);
  }
  Tensor result = out;
  result.mul_(normalization == 1 ? 1 / std::sqrt(n) : 1 / n);
}

} // namespace

void fft_c2c_kernel(
    const TensorBase& self, IntArrayRef dim, int64_t normalization, bool forward, const TensorBase& out) {
  if (out.numel() == 0) {
    return;
  }
  const Tensor in(self), result(out);
  const DimVector dims = wrapped(self, dim), points = points_of(self, dims);
  if (dims.empty()) {
    Tensor(result).copy_(in);
    return;
  }
  complex_transforms(in, result, dims, points, forward);
  scale(result, points, normalization);
}

void fft_r2c_kernel(
    const TensorBase& self, IntArrayRef dim, int64_t normalization, bool onesided, const TensorBase& out) {
  if (out.numel() == 0) {
    return;
  }
  const Tensor result(out);
  const DimVector dims = wrapped(self, dim), points = points_of(self, dims);
  const Part part = last_part(static_cast<int64_t>(dims.size()));
  transform(
      Tensor(self), result, IntArrayRef(dims).slice(part.begin, part.size),
      IntArrayRef(points).slice(part.begin, part.size),
      /*forward=*/true, onesided ? Fill::None : Fill::Mirror);
  complex_transforms(
      result, result, IntArrayRef(dims).slice(0, part.begin), IntArrayRef(points).slice(0, part.begin),
      /*forward=*/true);
  scale(result, points, normalization);
}

void fft_c2r_kernel(
    const TensorBase& self, IntArrayRef dim, int64_t normalization, int64_t last_dim_size, const TensorBase& out) {
  if (out.numel() == 0) {
    return;
  }
  const Tensor result(out);
  const DimVector dims = wrapped(self, dim), points = points_of(self, dims, last_dim_size);
  const Part part = last_part(static_cast<int64_t>(dims.size()));
  // Memory of its own, which the last transform may overwrite.
  const Tensor half = Tensor(self).narrow(dims.back(), 0, last_dim_size / 2 + 1);
  Tensor spectrum = at::empty(half.sizes(), self.options());
  if (part.begin == 0) {
    spectrum.copy_(half);
  } else {
    complex_transforms(
        half, spectrum, IntArrayRef(dims).slice(0, part.begin), IntArrayRef(points).slice(0, part.begin),
        /*forward=*/false);
  }
  transform(
      spectrum, result, IntArrayRef(dims).slice(part.begin, part.size),
      IntArrayRef(points).slice(part.begin, part.size),
      /*forward=*/false);
  scale(result, points, normalization);
}

} // namespace at::native::cuda
