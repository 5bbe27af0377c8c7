// arange, linspace and logspace on CUDA devices; checks and sizes are those of aten/native/explicit/factory.cpp.
#include <aten/Functions.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/cuda/factory.h>
#include <c10/cuda/CUDAStream.h>

namespace at::native {

Tensor& arange_out_meta(const Scalar& start, const Scalar& end, const Scalar& step, Tensor& out);
Tensor& linspace_out_meta(const Scalar& start, const Scalar& end, int64_t steps, Tensor& out);
Tensor& logspace_out_meta(const Scalar& start, const Scalar& end, int64_t steps, double base, Tensor& out);

namespace {

/// Calls `launch` for `out`, or for a contiguous temporary that is then copied to it.
template <class Launch>
Tensor& fill_sequence(const char* op, Tensor& out, std::uint64_t dtypes, Launch launch) {
  if (((dtypes >> static_cast<unsigned>(out.scalar_type())) & 1u) == 0) {
    at::detail::dtype_not_supported(op, out.scalar_type(), dtypes);
  }
  if (out.numel() == 0) {
    return out;
  }
  const Tensor dense = out.is_contiguous() ? out : at::empty_like(out, MemoryFormat::Contiguous);
  launch(cuda::Sequence{out.scalar_type(), dense.mutable_data_ptr(), dense.numel(), c10::cuda::getCurrentCUDAStream()});
  if (!dense.is_same(out)) {
    out.copy_(dense);
  }
  return out;
}

constexpr auto kRangeDtypes = at::kIntegral | at::kFloating;

} // namespace

Tensor& arange_out_cuda(const Scalar& start, const Scalar& end, const Scalar& step, Tensor& out) {
  arange_out_meta(start, end, step, out);
  return fill_sequence("arange", out, kRangeDtypes.bits, [&](const cuda::Sequence& sequence) {
    cuda::launch_arange(sequence, start, step);
  });
}

Tensor& linspace_out_cuda(const Scalar& start, const Scalar& end, int64_t steps, Tensor& out) {
  linspace_out_meta(start, end, steps, out);
  if (steps == 1) {
    return out.fill_(start);
  }
  return fill_sequence("linspace", out, (kRangeDtypes | at::kComplex).bits, [&](const cuda::Sequence& sequence) {
    cuda::launch_linspace(sequence, start, end);
  });
}

Tensor& logspace_out_cuda(const Scalar& start, const Scalar& end, int64_t steps, double base, Tensor& out) {
  logspace_out_meta(start, end, steps, base, out);
  // Whole numbers begin and end at whole powers.
  const auto exponent = [&](const Scalar& s) {
    return isIntegralType(out.scalar_type(), /*includeBool=*/false) ? static_cast<double>(s.to<int64_t>())
                                                                    : s.to<double>();
  };
  return fill_sequence("logspace", out, kRangeDtypes.bits, [&](const cuda::Sequence& sequence) {
    cuda::launch_logspace(sequence, exponent(start), exponent(end), base);
  });
}

} // namespace at::native
