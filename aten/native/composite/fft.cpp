// The family of Fourier transforms, over three kernels: complex to complex, real to half a spectrum, and back.

#include <aten/Functions.h>
#include <aten/core/Tensor.h>
#include <aten/core/TensorOperators.h>
#include <aten/native/support/OutArgument.h>

#include <c10/core/DefaultDtype.h>
#include <c10/core/WrapDimMinimal.h>

#include <bitset>
#include <string_view>

namespace at::native {
namespace {

using Norm = std::optional<std::string_view>;

enum Normalization : int64_t { kNone = 0, kByRootN = 1, kByN = 2 };

int64_t normalization_of(Norm norm, bool forward) {
  if (!norm.has_value() || *norm == "backward") {
    return forward ? kNone : kByN;
  }
  if (*norm == "forward") {
    return forward ? kByN : kNone;
  }
  TORCH_CHECK(
      *norm == "ortho", "Invalid normalization mode: \"", *norm,
      "\"; known are \"forward\", \"backward\" and \"ortho\"");
  return kByRootN;
}

Tensor promoted(const Tensor& t, bool to_complex) {
  auto dtype = t.scalar_type();
  if (!c10::isFloatingType(dtype) && !c10::isComplexType(dtype)) {
    dtype = c10::get_default_dtype_as_scalartype();
  }
  const auto real = c10::toRealValueType(dtype);
  TORCH_CHECK(
      real == kFloat || real == kDouble || (real == kHalf && !t.is_cpu()), "Unsupported dtype ", dtype,
      " in a Fourier transform; float, double and their complex types are supported, and half on cuda");
  if (to_complex) {
    dtype = c10::toComplexType(dtype);
  }
  return t.to(dtype);
}

void check_points(int64_t n) {
  TORCH_CHECK(n >= 1, "Invalid number of data points (", n, ") specified");
}

/// `x` cut or filled with zeros to the wanted sizes.
Tensor resized(Tensor x, IntArrayRef dims, IntArrayRef sizes) {
  DimVector padding(2 * x.dim(), 0); // of each dimension in front and behind, from the last one on
  bool larger = false;
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t have = x.size(dims[i]), want = sizes[i];
    if (have < want) {
      padding[2 * (x.dim() - 1 - dims[i]) + 1] = want - have;
      larger = true;
    } else if (have > want) {
      x = x.narrow(dims[i], 0, want);
    }
  }
  return larger ? at::constant_pad_nd(x, padding) : x;
}

// ---- one dimension
// -------------------------------------------------------------------------------------------------------

Tensor complex_transform(const Tensor& self, std::optional<int64_t> n, int64_t dim, Norm norm, bool forward) {
  const int64_t wrapped = c10::maybe_wrap_dim(dim, self.dim(), /*wrap_scalar=*/false);
  const int64_t points = n.value_or(self.size(wrapped));
  check_points(points);
  const Tensor x = n.has_value() ? resized(self, wrapped, points) : self;
  return at::_fft_c2c(x, wrapped, normalization_of(norm, forward), forward);
}

Tensor real_transform(
    const char* name,
    const Tensor& self,
    std::optional<int64_t> n,
    int64_t dim,
    Norm norm,
    bool forward,
    bool onesided) {
  TORCH_CHECK(!self.is_complex(), name, " expects a real input tensor, but got ", self.scalar_type());
  Tensor x = promoted(self, /*to_complex=*/false);
  const int64_t wrapped = c10::maybe_wrap_dim(dim, x.dim(), /*wrap_scalar=*/false);
  const int64_t points = n.value_or(x.size(wrapped));
  check_points(points);
  if (n.has_value()) {
    x = resized(x, wrapped, points);
  }
  const Tensor result = at::_fft_r2c(x, wrapped, normalization_of(norm, forward), onesided);
  // The other sign of the exponent, for real input, is the conjugate.
  return forward ? result : result.conj();
}

Tensor to_real_transform(const Tensor& self, std::optional<int64_t> n, int64_t dim, Norm norm, bool forward) {
  Tensor x = promoted(self, /*to_complex=*/true);
  const int64_t wrapped = c10::maybe_wrap_dim(dim, x.dim(), /*wrap_scalar=*/false);
  const int64_t points = n.value_or(2 * (x.size(wrapped) - 1));
  check_points(points);
  if (n.has_value()) {
    x = resized(x, wrapped, points / 2 + 1);
  }
  return at::_fft_c2r(forward ? x.conj() : x, wrapped, normalization_of(norm, forward), points);
}

Tensor any_transform(
    const char* name, const Tensor& self, std::optional<int64_t> n, int64_t dim, Norm norm, bool forward) {
  return self.is_complex() ? complex_transform(promoted(self, true), n, dim, norm, forward)
                           : real_transform(name, self, n, dim, norm, forward, /*onesided=*/false);
}

// ---- more dimensions
// -------------------------------------------------------------------------------------------------------

struct ShapeAndDims {
  DimVector shape, dims;
  int64_t last_dim_size = 0; // of the real side of a transform to real numbers
};

ShapeAndDims shape_and_dims(const Tensor& self, OptionalIntArrayRef shape, OptionalIntArrayRef dim) {
  ShapeAndDims result;
  const int64_t ndim = self.dim();
  if (dim.has_value()) {
    std::bitset<64> seen;
    TORCH_CHECK(ndim <= 64, "fft: only tensors with up to 64 dims are supported, got ", ndim);
    for (const int64_t d : *dim) {
      result.dims.push_back(c10::maybe_wrap_dim(d, ndim, /*wrap_scalar=*/false));
      TORCH_CHECK(!seen[result.dims.back()], "FFT dims must be unique, got ", *dim);
      seen.set(result.dims.back());
    }
  }
  if (shape.has_value()) {
    TORCH_CHECK(
        !dim.has_value() || dim->size() == shape->size(),
        "When given, dim and shape arguments must have the same length; got ", dim.has_value() ? *dim : IntArrayRef(),
        " and ", *shape);
    const int64_t count = static_cast<int64_t>(shape->size());
    TORCH_CHECK(count <= ndim, "Got shape with ", count, " values but input tensor only has ", ndim, " dimensions.");
    for (int64_t i = 0; i < count; ++i) {
      if (!dim.has_value()) {
        result.dims.push_back(ndim - count + i);
      }
      result.shape.push_back((*shape)[i] == -1 ? self.size(result.dims[i]) : (*shape)[i]);
    }
  } else {
    for (int64_t d = 0; !dim.has_value() && d < ndim; ++d) {
      result.dims.push_back(d);
    }
    for (const int64_t d : result.dims) {
      result.shape.push_back(self.size(d));
    }
  }
  for (const int64_t n : result.shape) {
    check_points(n);
  }
  return result;
}

void check_some_dims(const char* name, const ShapeAndDims& args) {
  TORCH_CHECK(!args.dims.empty(), name, " must transform at least one axis");
}

ShapeAndDims to_real_shape_and_dims(
    const char* name, const Tensor& self, OptionalIntArrayRef shape, OptionalIntArrayRef dim) {
  ShapeAndDims args = shape_and_dims(self, shape, dim);
  check_some_dims(name, args);
  const bool given = shape.has_value() && shape->back() != -1;
  args.last_dim_size = given ? args.shape.back() : 2 * (self.size(args.dims.back()) - 1);
  check_points(args.last_dim_size);
  args.shape.back() = args.last_dim_size / 2 + 1;
  return args;
}

Tensor complex_transform_n(
    const Tensor& self, OptionalIntArrayRef s, OptionalIntArrayRef dim, Norm norm, bool forward) {
  const ShapeAndDims args = shape_and_dims(self, s, dim);
  const Tensor x = resized(promoted(self, /*to_complex=*/true), args.dims, args.shape);
  return at::_fft_c2c(x, args.dims, normalization_of(norm, forward), forward);
}

IntArrayRef all_but_last(const DimVector& dims) {
  return IntArrayRef(dims).slice(0, dims.size() - 1);
}

} // namespace

Tensor fft_fft(const Tensor& self, std::optional<int64_t> n, int64_t dim, Norm norm) {
  return any_transform("fft", self, n, dim, norm, /*forward=*/true);
}

Tensor fft_ifft(const Tensor& self, std::optional<int64_t> n, int64_t dim, Norm norm) {
  return any_transform("ifft", self, n, dim, norm, /*forward=*/false);
}

Tensor fft_rfft(const Tensor& self, std::optional<int64_t> n, int64_t dim, Norm norm) {
  return real_transform("rfft", self, n, dim, norm, /*forward=*/true, /*onesided=*/true);
}

Tensor fft_irfft(const Tensor& self, std::optional<int64_t> n, int64_t dim, Norm norm) {
  return to_real_transform(self, n, dim, norm, /*forward=*/false);
}

Tensor fft_hfft(const Tensor& self, std::optional<int64_t> n, int64_t dim, Norm norm) {
  return to_real_transform(self, n, dim, norm, /*forward=*/true);
}

Tensor fft_ihfft(const Tensor& self, std::optional<int64_t> n, int64_t dim, Norm norm) {
  return real_transform("ihfft", self, n, dim, norm, /*forward=*/false, /*onesided=*/true);
}

Tensor fft_fftn(const Tensor& self, OptionalIntArrayRef s, OptionalIntArrayRef dim, Norm norm) {
  return complex_transform_n(self, s, dim, norm, /*forward=*/true);
}

Tensor fft_ifftn(const Tensor& self, OptionalIntArrayRef s, OptionalIntArrayRef dim, Norm norm) {
  return complex_transform_n(self, s, dim, norm, /*forward=*/false);
}

Tensor fft_rfftn(const Tensor& self, OptionalIntArrayRef s, OptionalIntArrayRef dim, Norm norm) {
  TORCH_CHECK(!self.is_complex(), "rfftn expects a real-valued input tensor, but got ", self.scalar_type());
  const ShapeAndDims args = shape_and_dims(self, s, dim);
  check_some_dims("rfftn", args);
  const Tensor x = resized(promoted(self, /*to_complex=*/false), args.dims, args.shape);
  return at::_fft_r2c(x, args.dims, normalization_of(norm, /*forward=*/true), /*onesided=*/true);
}

Tensor fft_irfftn(const Tensor& self, OptionalIntArrayRef s, OptionalIntArrayRef dim, Norm norm) {
  const ShapeAndDims args = to_real_shape_and_dims("irfftn", self, s, dim);
  const Tensor x = resized(promoted(self, /*to_complex=*/true), args.dims, args.shape);
  return at::_fft_c2r(x, args.dims, normalization_of(norm, /*forward=*/false), args.last_dim_size);
}

Tensor fft_hfftn(const Tensor& self, OptionalIntArrayRef s, OptionalIntArrayRef dim, Norm norm) {
  const ShapeAndDims args = to_real_shape_and_dims("hfftn", self, s, dim);
  const int64_t mode = normalization_of(norm, /*forward=*/true);
  Tensor x = resized(promoted(self, /*to_complex=*/true), args.dims, args.shape);
  if (args.dims.size() > 1) {
    x = at::_fft_c2c(x, all_but_last(args.dims), mode, /*forward=*/true);
  }
  return at::_fft_c2r(x.conj(), args.dims.back(), mode, args.last_dim_size);
}

Tensor fft_ihfftn(const Tensor& self, OptionalIntArrayRef s, OptionalIntArrayRef dim, Norm norm) {
  TORCH_CHECK(!self.is_complex(), "ihfftn expects a real-valued input tensor, but got ", self.scalar_type());
  const ShapeAndDims args = shape_and_dims(self, s, dim);
  check_some_dims("ihfftn", args);
  const int64_t mode = normalization_of(norm, /*forward=*/false);
  const Tensor x = resized(promoted(self, /*to_complex=*/false), args.dims, args.shape);
  const Tensor half = at::_fft_r2c(x, args.dims.back(), mode, /*onesided=*/true);
  if (args.dims.size() == 1) {
    return half.conj();
  }
  return at::_fft_c2c(at::conj_physical(half), all_but_last(args.dims), mode, /*forward=*/false);
}

Tensor fft_fft2(const Tensor& self, OptionalIntArrayRef s, IntArrayRef dim, Norm norm) {
  return at::fft_fftn(self, s, dim, norm);
}

Tensor fft_ifft2(const Tensor& self, OptionalIntArrayRef s, IntArrayRef dim, Norm norm) {
  return at::fft_ifftn(self, s, dim, norm);
}

Tensor fft_rfft2(const Tensor& self, OptionalIntArrayRef s, IntArrayRef dim, Norm norm) {
  return at::fft_rfftn(self, s, dim, norm);
}

Tensor fft_irfft2(const Tensor& self, OptionalIntArrayRef s, IntArrayRef dim, Norm norm) {
  return at::fft_irfftn(self, s, dim, norm);
}

Tensor fft_hfft2(const Tensor& self, OptionalIntArrayRef s, IntArrayRef dim, Norm norm) {
  return at::fft_hfftn(self, s, dim, norm);
}

Tensor fft_ihfft2(const Tensor& self, OptionalIntArrayRef s, IntArrayRef dim, Norm norm) {
  return at::fft_ihfftn(self, s, dim, norm);
}

// ---- given outputs
// -----------------------------------------------------------------------------------------------------------

namespace {

constexpr const char *kComplexKernel = "_fft_c2c", *kRealKernel = "_fft_r2c", *kHermitianKernel = "_fft_c2r";

/// `kernel` computes the last step, in place of which the result is copied: it would take nothing that requires grad.
/// Null where that step is a copy.
Tensor& write_transform(const char* name, const char* kernel, bool complex, Tensor& out, const Tensor& result) {
  TORCH_CHECK(
      out.is_complex() == complex && (complex || out.is_floating_point()), name, " expects a ",
      complex ? "complex" : "floating point", " output tensor, but got ", out.scalar_type());
  if (kernel != nullptr) {
    check_out_without_grad(kernel, out);
    check_out_without_grad(kernel, result);
  }
  copy_into_out(name, out, result);
  return out;
}

} // namespace

Tensor& fft_fft_out(const Tensor& self, std::optional<int64_t> n, int64_t dim, Norm norm, Tensor& out) {
  return write_transform(
      "fft", self.is_complex() ? kComplexKernel : kRealKernel, true, out, at::fft_fft(self, n, dim, norm));
}

Tensor& fft_fft2_out(const Tensor& self, OptionalIntArrayRef s, IntArrayRef dim, Norm norm, Tensor& out) {
  return write_transform("fftn", kComplexKernel, true, out, at::fft_fftn(self, s, dim, norm));
}

Tensor& fft_fftn_out(const Tensor& self, OptionalIntArrayRef s, OptionalIntArrayRef dim, Norm norm, Tensor& out) {
  return write_transform("fftn", kComplexKernel, true, out, at::fft_fftn(self, s, dim, norm));
}

Tensor& fft_ifft_out(const Tensor& self, std::optional<int64_t> n, int64_t dim, Norm norm, Tensor& out) {
  const Tensor result = at::fft_ifft(self, n, dim, norm);
  // That of real numbers is the conjugate of a forward transform, and conjugating does not convert.
  TORCH_CHECK(
      self.is_complex() || !out.is_complex() || out.scalar_type() == result.scalar_type(), "Found dtype ",
      out.scalar_type(), " but expected ", result.scalar_type(),
      ": ifft of real numbers needs an output of that dtype");
  return write_transform("ifft", self.is_complex() ? kComplexKernel : nullptr, true, out, result);
}

Tensor& fft_ifft2_out(const Tensor& self, OptionalIntArrayRef s, IntArrayRef dim, Norm norm, Tensor& out) {
  return write_transform("fftn", kComplexKernel, true, out, at::fft_ifftn(self, s, dim, norm));
}

Tensor& fft_ifftn_out(const Tensor& self, OptionalIntArrayRef s, OptionalIntArrayRef dim, Norm norm, Tensor& out) {
  return write_transform("fftn", kComplexKernel, true, out, at::fft_ifftn(self, s, dim, norm));
}

Tensor& fft_rfft_out(const Tensor& self, std::optional<int64_t> n, int64_t dim, Norm norm, Tensor& out) {
  return write_transform("rfft", kRealKernel, true, out, at::fft_rfft(self, n, dim, norm));
}

Tensor& fft_rfft2_out(const Tensor& self, OptionalIntArrayRef s, IntArrayRef dim, Norm norm, Tensor& out) {
  return write_transform("rfftn", kRealKernel, true, out, at::fft_rfftn(self, s, dim, norm));
}

Tensor& fft_rfftn_out(const Tensor& self, OptionalIntArrayRef s, OptionalIntArrayRef dim, Norm norm, Tensor& out) {
  return write_transform("rfftn", kRealKernel, true, out, at::fft_rfftn(self, s, dim, norm));
}

Tensor& fft_irfft_out(const Tensor& self, std::optional<int64_t> n, int64_t dim, Norm norm, Tensor& out) {
  return write_transform("irfft", kHermitianKernel, false, out, at::fft_irfft(self, n, dim, norm));
}

Tensor& fft_irfft2_out(const Tensor& self, OptionalIntArrayRef s, IntArrayRef dim, Norm norm, Tensor& out) {
  return write_transform("irfftn", kHermitianKernel, false, out, at::fft_irfftn(self, s, dim, norm));
}

Tensor& fft_irfftn_out(const Tensor& self, OptionalIntArrayRef s, OptionalIntArrayRef dim, Norm norm, Tensor& out) {
  return write_transform("irfftn", kHermitianKernel, false, out, at::fft_irfftn(self, s, dim, norm));
}

Tensor& fft_hfft_out(const Tensor& self, std::optional<int64_t> n, int64_t dim, Norm norm, Tensor& out) {
  return write_transform("hfft", kHermitianKernel, false, out, at::fft_hfft(self, n, dim, norm));
}

Tensor& fft_hfft2_out(const Tensor& self, OptionalIntArrayRef s, IntArrayRef dim, Norm norm, Tensor& out) {
  return write_transform("hfftn", kHermitianKernel, false, out, at::fft_hfftn(self, s, dim, norm));
}

Tensor& fft_hfftn_out(const Tensor& self, OptionalIntArrayRef s, OptionalIntArrayRef dim, Norm norm, Tensor& out) {
  return write_transform("hfftn", kHermitianKernel, false, out, at::fft_hfftn(self, s, dim, norm));
}

Tensor& fft_ihfft_out(const Tensor& self, std::optional<int64_t> n, int64_t dim, Norm norm, Tensor& out) {
  const Tensor result = at::fft_ihfft(self, n, dim, norm);
  TORCH_CHECK(
      !out.is_complex() || out.scalar_type() == result.scalar_type(), "Found dtype ", out.scalar_type(),
      " but expected ", result.scalar_type(), ": ihfft needs an output of that dtype, as conjugating does not convert");
  return write_transform("ihfft", nullptr, true, out, result);
}

Tensor& fft_ihfft2_out(const Tensor& self, OptionalIntArrayRef s, IntArrayRef dim, Norm norm, Tensor& out) {
  return write_transform("ihfftn", kComplexKernel, true, out, at::fft_ihfftn(self, s, dim, norm));
}

Tensor& fft_ihfftn_out(const Tensor& self, OptionalIntArrayRef s, OptionalIntArrayRef dim, Norm norm, Tensor& out) {
  return write_transform("ihfftn", kComplexKernel, true, out, at::fft_ihfftn(self, s, dim, norm));
}

// ---- helpers
// ---------------------------------------------------------------------------------------------------------------

namespace {

TensorOptions frequency_options(
    const char* name,
    std::optional<ScalarType> dtype,
    std::optional<Layout> layout,
    std::optional<Device> device,
    std::optional<bool> pin_memory) {
  const auto type = dtype.value_or(c10::get_default_dtype_as_scalartype());
  TORCH_CHECK(
      c10::isFloatingType(type) || c10::isComplexType(type), name,
      " requires a floating point or complex dtype, but got ", type);
  return TensorOptions().dtype(type).layout(layout).device(device).pinned_memory(pin_memory);
}

Tensor& fill_out(Tensor& out, const Tensor& values) {
  check_out_without_grad("fftfreq", out);
  copy_into_out("fftfreq", out, values);
  return out;
}

} // namespace

Tensor fft_fftfreq(
    int64_t n,
    double d,
    std::optional<ScalarType> dtype,
    std::optional<Layout> layout,
    std::optional<Device> device,
    std::optional<bool> pin_memory) {
  TORCH_CHECK(n >= 0, "Trying to create tensor with negative dimension ", n, ": [", n, "] (in fftfreq)");
  const auto options = frequency_options("fftfreq", dtype, layout, device, pin_memory);
  const Tensor positive = at::arange(n / 2 + n % 2, options), negative = at::arange(-(n / 2), 0, options);
  return at::cat({positive, negative}).mul_(1.0 / (double(n) * d));
}

Tensor& fft_fftfreq_out(int64_t n, double d, Tensor& out) {
  return fill_out(out, fft_fftfreq(n, d, out.scalar_type(), out.layout(), out.device(), false));
}

Tensor fft_rfftfreq(
    int64_t n,
    double d,
    std::optional<ScalarType> dtype,
    std::optional<Layout> layout,
    std::optional<Device> device,
    std::optional<bool> pin_memory) {
  const auto options = frequency_options("rfftfreq", dtype, layout, device, pin_memory);
  return at::arange(n / 2 + 1, options).mul_(1.0 / (double(n) * d));
}

Tensor& fft_rfftfreq_out(int64_t n, double d, Tensor& out) {
  return fill_out(out, fft_rfftfreq(n, d, out.scalar_type(), out.layout(), out.device(), false));
}

namespace {

Tensor shifted(const Tensor& self, OptionalIntArrayRef dim, bool back) {
  DimVector dims, shifts;
  if (dim.has_value()) {
    dims.assign(dim->begin(), dim->end());
  } else {
    for (int64_t d = 0; d < self.dim(); ++d) {
      dims.push_back(d);
    }
  }
  for (const int64_t d : dims) {
    shifts.push_back((self.size(d) + (back ? 1 : 0)) / 2);
  }
  return at::roll(self, shifts, dims);
}

} // namespace

Tensor fft_fftshift(const Tensor& self, OptionalIntArrayRef dim) {
  return shifted(self, dim, /*back=*/false);
}

Tensor fft_ifftshift(const Tensor& self, OptionalIntArrayRef dim) {
  return shifted(self, dim, /*back=*/true);
}

} // namespace at::native
