// Pooling operators that are made of others: one dimension by way of two, and short ways.

#include <aten/Functions.h>
#include <c10/core/GradMode.h>
#include <aten/core/Tensor.h>
#include <aten/native/composite/exact_out.h>
#include <aten/native/support/differentiated.h>
#include <aten/shape/functions.h>
#include <aten/shape/pool_windows.h>

#include <string_view>

namespace at::native {
namespace {

void check_list_of_one(const char* op, const char* name, IntArrayRef values, bool may_be_empty = false) {
  // The comma is PyTorch's.
  const bool comma = may_be_empty || std::string_view(name) == "padding";
  TORCH_CHECK(
      values.size() == 1 || (may_be_empty && values.empty()), op, "() ", name, " must be ",
      may_be_empty ? "None, " : "", "an int, list of ints", comma ? "," : "",
      " or tuple of ints of size 1 but got size ", values.size());
}

void check_one_int(const char* op, const char* name, IntArrayRef values, bool may_be_empty = false) {
  TORCH_CHECK(
      values.size() == 1 || (may_be_empty && values.empty()), op, "() argument '", name,
      "' should contain one int (got ", values.size(), ")");
}

DimVector two(int64_t first, IntArrayRef values, IntArrayRef otherwise = {}) {
  return {first, values.empty() ? otherwise[0] : values[0]};
}

void check_rank_1d(const char* op, const Tensor& self) {
  bool full = self.dim() == 2 || self.dim() == 3;
  for (int64_t d = self.dim() - 2; full && d < self.dim(); ++d) {
    full = self.size(d) != 0;
  }
  TORCH_CHECK(
      full, op,
      ": Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but got:", self.sizes());
}

/// The check of the operators that pool by way of two dimensions.
void check_rank_2_or_3(const char* op, const Tensor& self) {
  TORCH_CHECK(
      self.dim() == 2 || self.dim() == 3, "Expected 2 to 3 dimensions, but got ", self.dim(),
      "-dimensional tensor for argument #1 'self' (while checking arguments for ", op, ")");
}

/// Whether the results of a pooling over the last `dims` dimensions are single elements.
/// The mean over the last `dims` dimensions: the shortest way to a single window.
Tensor mean_of_all(const Tensor& self, int64_t dims) {
  DimVector over, strides;
  for (int64_t d = -dims; d < 0; ++d) {
    over.push_back(d);
  }
  const Tensor mean = self.mean(over, /*keepdim=*/true);
  if (self.dim() != dims + 2 || self.suggest_memory_format() == c10::MemoryFormat::Contiguous) {
    return mean;
  }
  // As a pooling kernel would have laid it out.
  strides.assign(static_cast<size_t>(self.dim()), self.size(1));
  strides[1] = 1;
  return mean.as_strided(mean.sizes(), strides);
}

} // namespace

Tensor max_pool1d(
    const Tensor& self,
    IntArrayRef kernel_size,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    bool ceil_mode) {
  check_rank_1d("max_pool1d", self);
  if (!is_differentiated(self)) {
    check_list_of_one("max_pool1d", "kernel_size", kernel_size);
    check_list_of_one("max_pool1d", "stride", stride, true);
    check_list_of_one("max_pool1d", "padding", padding);
    check_list_of_one("max_pool1d", "dilation", dilation);
    const int64_t step = stride.empty() ? kernel_size[0] : stride[0];
    TORCH_CHECK(kernel_size[0] > 0, "max_pool1d() kernel_size must be greater than zero, but got ", kernel_size[0]);
    TORCH_CHECK(step > 0, "max_pool1d() stride must be greater than zero, but got ", step);
    TORCH_CHECK(padding[0] >= 0, "max_pool1d() padding must be non-negative, but got ", padding[0]);
    TORCH_CHECK(
        padding[0] <= kernel_size[0] / 2,
        "max_pool1d() padding should be at most half of kernel size, but got padding=", padding[0],
        " and kernel_size=", kernel_size[0]);
    TORCH_CHECK(dilation[0] > 0, "max_pool1d() dilation must be greater than zero, but got ", dilation[0]);
    const int64_t size =
        at::shape::pooled_size(self.size(-1), kernel_size[0], padding[0], step, dilation[0], ceil_mode);
    TORCH_CHECK(size > 0, "max_pool1d() Invalid computed output size: ", size);
  }
  return std::get<0>(at::max_pool1d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode));
}

std::tuple<Tensor, Tensor> max_pool1d_with_indices(
    const Tensor& self,
    IntArrayRef kernel_size,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    bool ceil_mode) {
  check_rank_2_or_3("max_pool1d", self);
  check_one_int("max_pool1d", "kernel_size", kernel_size);
  check_one_int("max_pool1d", "stride", stride, true);
  check_one_int("max_pool1d", "padding", padding);
  check_one_int("max_pool1d", "dilation", dilation);
  const auto [values, indices] = at::max_pool2d_with_indices(
      self.unsqueeze(-2), two(1, kernel_size), two(1, stride, kernel_size), two(0, padding), two(1, dilation),
      ceil_mode);
  return {values.squeeze(-2), indices.squeeze(-2)};
}

Tensor max_pool2d(
    const Tensor& self,
    IntArrayRef kernel_size,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    bool ceil_mode) {
  return std::get<0>(at::max_pool2d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode));
}

Tensor max_pool3d(
    const Tensor& self,
    IntArrayRef kernel_size,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    bool ceil_mode) {
  return std::get<0>(at::max_pool3d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode));
}

Tensor avg_pool1d(
    const Tensor& self,
    IntArrayRef kernel_size,
    IntArrayRef stride,
    IntArrayRef padding,
    bool ceil_mode,
    bool count_include_pad) {
  check_rank_2_or_3("avg_pool1d", self);
  check_one_int("avg_pool1d", "kernel_size", kernel_size);
  check_one_int("avg_pool1d", "stride", stride, true);
  check_one_int("avg_pool1d", "padding", padding);
  return at::avg_pool2d(
             self.unsqueeze(-2), two(1, kernel_size), two(1, stride, kernel_size), two(0, padding), ceil_mode,
             count_include_pad)
      .squeeze(-2);
}

Tensor adaptive_avg_pool1d(const Tensor& self, IntArrayRef output_size) {
  check_rank_2_or_3("adaptive_avg_pool1d", self);
  check_one_int("adaptive_avg_pool1d", "output_size", output_size);
  return at::adaptive_avg_pool2d(self.unsqueeze(-2), two(1, output_size)).squeeze(-2);
}

Tensor adaptive_avg_pool2d(const Tensor& self, IntArrayRef output_size) {
  const bool whole = at::shape::is_mean_of_maps("adaptive_avg_pool2d", 2, self, output_size);
  return whole && self.is_floating_point() ? mean_of_all(self, 2) : at::_adaptive_avg_pool2d(self, output_size);
}

Tensor& adaptive_avg_pool2d_out(const Tensor& self, IntArrayRef output_size, Tensor& out) {
  TORCH_CHECK(
      out.scalar_type() == self.scalar_type(), "expected dtype ", self.dtype().name(), " for `output` but got dtype ",
      out.dtype().name());
  const Tensor result = at::_adaptive_avg_pool2d(self, output_size);
  if (self.dim() == 4) {
    restride_output(out, result);
  }
  copy_into_out("adaptive_avg_pool2d", out, result);
  return out;
}

Tensor adaptive_avg_pool3d(const Tensor& self, IntArrayRef output_size) {
  const bool whole = at::shape::is_mean_of_maps("adaptive_avg_pool3d", 3, self, output_size);
  return whole && self.is_floating_point() ? mean_of_all(self, 3) : at::_adaptive_avg_pool3d(self, output_size);
}

Tensor& adaptive_avg_pool3d_out(const Tensor& self, IntArrayRef output_size, Tensor& out) {
  TORCH_CHECK(
      out.scalar_type() == self.scalar_type(), "expected dtype ", self.dtype().name(), " for `output` but got dtype ",
      out.dtype().name());
  return at::_adaptive_avg_pool3d_out(out, self, output_size);
}

std::tuple<Tensor, Tensor> adaptive_max_pool1d(const Tensor& self, IntArrayRef output_size) {
  check_rank_2_or_3("adaptive_max_pool1d", self);
  check_one_int("adaptive_max_pool1d", "output_size", output_size);
  const auto [values, indices] = at::adaptive_max_pool2d(self.unsqueeze(-2), two(1, output_size));
  return {values.squeeze(-2), indices.squeeze(-2)};
}

Tensor& adaptive_avg_pool3d_backward_grad_input(const Tensor& grad_output, const Tensor& self, Tensor& grad_input) {
  return at::_adaptive_avg_pool3d_backward_out(grad_input, grad_output, self);
}

} // namespace at::native
