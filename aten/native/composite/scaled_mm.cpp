// Products of matrices of 8-bit floats, which stand for their elements times a scale, and of groups of matrices.
#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <c10/core/DeferredStorage.h>

#include <algorithm>
#include <array>
#include <vector>

namespace at::native {
namespace {

bool is_float8(const Tensor& t) {
  return t.scalar_type() == kFloat8_e4m3fn || t.scalar_type() == kFloat8_e5m2;
}

/// One scale for each matrix, or one for each row of `a` and one for each column of `b`.
void check_scales(const Tensor& a, const Tensor& b, const Tensor& scale_a, const Tensor& scale_b) {
  const bool dtypes =
      is_float8(a) && is_float8(b) && scale_a.scalar_type() == kFloat && scale_b.scalar_type() == kFloat;
  const bool whole = scale_a.numel() == 1 && scale_b.numel() == 1;
  const bool rows = scale_a.sizes() == IntArrayRef({a.size(0), 1}) && scale_b.sizes() == IntArrayRef({1, b.size(1)});
  TORCH_CHECK_VALUE(
      dtypes && (whole || rows), "Invalid scaling configuration. _scaled_mm: got matrices of ", a.scalar_type(),
      " and ", b.scalar_type(), ", scales of ", scale_a.scalar_type(), " ", scale_a.sizes(), " and ",
      scale_b.scalar_type(), " ", scale_b.sizes(),
      "; matrices must be Float8_e4m3fn or Float8_e5m2, and scales Float: one element each, or of sizes [", a.size(0),
      ", 1] and [1, ", b.size(1), "]");
}

void check_scaled_sizes(const Tensor& a, const Tensor& b, const std::optional<Tensor>& bias) {
  TORCH_CHECK_VALUE(
      a.size(1) == b.size(0), "mat_a and mat_b shapes cannot be multiplied (", a.size(0), "x", a.size(1), " and ",
      b.size(0), "x", b.size(1), ")");
  const bool has_bias = bias.has_value() && bias->defined();
  TORCH_CHECK_VALUE(
      !has_bias || bias->numel() == b.size(1), "Bias must be size ", b.size(1), " but got ",
      has_bias ? bias->numel() : 0);
}

/// The product in float32. A scale has one element, or one for each row of `a` or column of `b`.
Tensor scaled_product(
    const Tensor& a, const Tensor& b, const Tensor& scale_a, const Tensor& scale_b, const std::optional<Tensor>& bias) {
  Tensor product = at::mm(a.to(kFloat), b.to(kFloat)) * scale_a.reshape({-1, 1}) * scale_b.reshape({1, -1});
  if (bias.has_value() && bias->defined()) {
    product = product + bias->reshape({-1}).to(kFloat);
  }
  return product;
}

/// The scale of a matrix by the recipes that _scaled_mm_v2 knows: one for all, or one for each of `lines`.
const Tensor& scale_by_recipe(const char* name, TensorList scales, bool by_lines, int64_t lines) {
  const bool one_float = scales.size() == 1 && scales[0].scalar_type() == kFloat;
  if (!by_lines) {
    TORCH_CHECK_VALUE(one_float && scales[0].numel() == 1, name, " must have 1 Float element");
  } else {
    TORCH_CHECK_VALUE(
        one_float && scales[0].numel() == lines, name, " must have ", lines, " Float elements, got ",
        scales.size() == 1 ? scales[0].numel() : static_cast<int64_t>(scales.size()));
  }
  return scales[0];
}

} // namespace

Tensor _scaled_mm_v2(
    const Tensor& self,
    const Tensor& mat2,
    TensorList scale_a,
    IntArrayRef recipe_a,
    IntArrayRef swizzle_a,
    TensorList scale_b,
    IntArrayRef recipe_b,
    IntArrayRef swizzle_b,
    const std::optional<Tensor>& bias,
    std::optional<ScalarType> out_dtype,
    IntArrayRef contraction_dim,
    bool) {
  TORCH_CHECK_VALUE(self.dim() == 2, "mat_a must be a matrix");
  TORCH_CHECK_VALUE(mat2.dim() == 2, "mat_b must be a matrix");
  TORCH_CHECK_VALUE(
      contraction_dim.empty() || contraction_dim == IntArrayRef({1, 0}),
      "torch._scaled_mm_v2 only supports contraction_dim=(1, 0)");
  check_scaled_sizes(self, mat2, bias);
  TORCH_CHECK_VALUE(
      is_float8(self) && is_float8(mat2),
      "Expected both inputs to be fp8 or fp4 types but got mat_a.dtype=", self.scalar_type(),
      " and mat_b.dtype=", mat2.scalar_type());
  const auto plain = [](int64_t swizzle) { return swizzle == 0; };
  TORCH_CHECK_VALUE(
      std::all_of(swizzle_a.begin(), swizzle_a.end(), plain) && std::all_of(swizzle_b.begin(), swizzle_b.end(), plain),
      "CPU does not support swizzle.");
  constexpr int64_t kTensorWise = 0, kRowWise = 1;
  TORCH_CHECK_VALUE(
      recipe_a.size() == 1 && recipe_a == recipe_b && (recipe_a[0] == kTensorWise || recipe_a[0] == kRowWise),
      "Invalid scaling configuration for _scaled_mm_v2: unsupported recipe(s). Got mat_a.dtype=", self.scalar_type(),
      ", mat_b.dtype=", mat2.scalar_type(), ", recipe_a ", recipe_a, ", recipe_b ", recipe_b,
      "; both must be 0 or both 1");
  const bool by_lines = recipe_a[0] == kRowWise;
  const Tensor& of_a = scale_by_recipe("scale_a", scale_a, by_lines, self.size(0));
  const Tensor& of_b = scale_by_recipe("scale_b", scale_b, by_lines, mat2.size(1));
  return scaled_product(self, mat2, of_a, of_b, bias).to(out_dtype.value_or(self.scalar_type()));
}

Tensor _scaled_mm(
    const Tensor& self,
    const Tensor& mat2,
    const Tensor& scale_a,
    const Tensor& scale_b,
    const std::optional<Tensor>& bias,
    const std::optional<Tensor>& scale_result,
    std::optional<ScalarType> out_dtype,
    bool) {
  TORCH_CHECK(self.dim() == 2, "mat1 must be a matrix, got ", self.dim(), "-D tensor (in _scaled_mm)");
  TORCH_CHECK(mat2.dim() == 2, "mat2 must be a matrix, got ", mat2.dim(), "-D tensor (in _scaled_mm)");
  check_scaled_sizes(self, mat2, bias);
  check_scales(self, mat2, scale_a, scale_b);
  const bool has_scale = scale_result.has_value() && scale_result->defined();
  TORCH_CHECK(
      !has_scale || (scale_result->numel() == 1 && scale_result->scalar_type() == kFloat),
      "scale_result must be a float scalar, got ", has_scale ? scale_result->toString() : "", " (in _scaled_mm)");
  Tensor product = scaled_product(self, mat2, scale_a, scale_b, bias);
  const ScalarType dtype = out_dtype.value_or(self.scalar_type());
  // The result stands for its elements times its scale, too; only that of 8-bit floats is scaled.
  if (has_scale && (dtype == kFloat8_e4m3fn || dtype == kFloat8_e5m2)) {
    product = product / scale_result->reshape({});
  }
  return product.to(dtype);
}

// ---- groups of rows or columns, each times a matrix of its own, as layers of experts take them
// --------------------------------

namespace {

/// Rows or columns of matrices lie dense, with steps of whole 16 bytes, as grouped kernels of other backends want them.
void check_grouped_strides(const Tensor& mat) {
  const int64_t rows = mat.size(-2), columns = mat.size(-1), down = mat.stride(-2), right = mat.stride(-1);
  const int64_t unit = 16 / static_cast<int64_t>(mat.element_size());
  const bool by_columns = down == 1 && right >= std::max<int64_t>(1, rows);
  const bool by_rows = !by_columns && right == 1 && down >= std::max<int64_t>(1, columns);
  TORCH_CHECK(
      by_columns || by_rows, "Invalid strides/sizes, got ", mat.strides(), " for strides and ", mat.sizes(),
      " for sizes");
  TORCH_CHECK(
      (by_columns ? right : down) % unit == 0, "strides should be multiple of 16 bytes, got ", mat.strides(),
      " elements of ", mat.element_size(), " bytes");
}

void check_grouped_mm(
    const Tensor& self,
    const Tensor& mat2,
    const std::optional<Tensor>& offs,
    const std::optional<Tensor>& bias,
    std::optional<ScalarType> out_dtype) {
  const auto check_operand = [](const char* name, const Tensor& mat) {
    const ScalarType dtype = mat.scalar_type();
    TORCH_CHECK(
        dtype == kBFloat16 || dtype == kFloat || dtype == kHalf, "Expected ", name,
        " to be Float32, BFloat16 or Float16 matrix, got ", dtype);
  };
  check_operand("mat_a", self);
  check_operand("mat_b", mat2);
  TORCH_CHECK(
      self.scalar_type() == mat2.scalar_type(), "Expected mat_a and mat_b to have the same dtype, got ",
      self.scalar_type(), " and ", mat2.scalar_type());
  TORCH_CHECK(self.dim() == 2 || self.dim() == 3, "mat_a has to be 2 or 3d, got ", self.sizes());
  TORCH_CHECK(mat2.dim() == 2 || mat2.dim() == 3, "mat_b has to be 2 or 3d, got ", mat2.sizes());
  const bool flat = self.dim() == 2 || mat2.dim() == 2, both_flat = self.dim() == 2 && mat2.dim() == 2;
  TORCH_CHECK(
      self.size(-1) == mat2.size(-2), "contraction dimension of mat_a and mat_b must match, got ", self.sizes(),
      " and ", mat2.sizes());
  check_grouped_strides(self);
  check_grouped_strides(mat2);
  const bool has_offsets = offs.has_value() && offs->defined();
  TORCH_CHECK(
      has_offsets == flat, "Have to provide offsets if there is a 2d matrix, or no offset if both matrices are 3d");
  if (has_offsets) {
    TORCH_CHECK(offs->dim() == 1, "offs has to be 1D, got ", offs->sizes());
    TORCH_CHECK(offs->scalar_type() == kInt, "Offsets have to be int32, got ", offs->scalar_type());
    const Tensor& deep = self.dim() == 3 ? self : mat2;
    TORCH_CHECK(
        both_flat || offs->size(0) == deep.size(0), "matrix batch sizes have to match, got ", offs->size(0),
        " offsets for ", deep.size(0), " matrices");
  } else {
    TORCH_CHECK(
        self.size(0) == mat2.size(0), "batched dimension has to match, got ", self.sizes(), " and ", mat2.sizes());
  }
  TORCH_CHECK(!bias.has_value() || !bias->defined(), "Bias not supported yet");
  TORCH_CHECK(
      out_dtype.value_or(self.scalar_type()) == self.scalar_type(),
      "Grouped gemm output dtype must match `mat_a` dtype, got ", out_dtype.value_or(self.scalar_type()));
}

/// Where each group ends; the first begins at 0. What lies beyond the end is no part of the last.
std::vector<int64_t> group_ends(const Tensor& offs, int64_t size) {
  const Tensor ends = offs.to(kCPU).contiguous();
  c10::compute_storage(ends.storage());
  const int32_t* const given = ends.const_data_ptr<int32_t>();
  std::vector<int64_t> result(given, given + ends.numel());
  int64_t before = 0;
  for (int64_t& end : result) {
    end = std::min(end, size);
    TORCH_CHECK_INDEX(end >= before, "_grouped_mm: offs must not decrease, got ", end, " after ", before);
    before = end;
  }
  return result;
}

/// The product of each group, concatenated along `dim` of the result; what comes after the last group is zero.
template <class Product>
Tensor joined_groups(
    const std::vector<int64_t>& ends,
    int64_t size,
    int64_t dim,
    const Product& product,
    IntArrayRef rest,
    const Tensor& like) {
  std::vector<Tensor> parts;
  int64_t begin = 0;
  for (size_t group = 0; group < ends.size(); begin = ends[group++]) {
    parts.push_back(product(static_cast<int64_t>(group), begin, ends[group] - begin));
  }
  std::array<int64_t, 2> sizes{rest[0], rest[1]};
  sizes[dim] = size - begin;
  parts.push_back(at::zeros(sizes, like.options()));
  return at::cat(parts, dim);
}

Tensor grouped_product(const Tensor& self, const Tensor& mat2, const std::optional<Tensor>& offs) {
  if (self.dim() == 3 && mat2.dim() == 3) {
    return at::bmm(self, mat2);
  }
  const int64_t rows = self.size(-2), columns = mat2.size(-1), terms = self.size(-1);
  const std::array<int64_t, 2> rest{rows, columns};
  if (mat2.dim() == 3) {
    const auto product = [&](int64_t group, int64_t begin, int64_t n) {
      return at::mm(self.narrow(0, begin, n), mat2.select(0, group));
    };
    return joined_groups(group_ends(*offs, rows), rows, 0, product, rest, self);
  }
  if (self.dim() == 3) {
    const auto product = [&](int64_t group, int64_t begin, int64_t n) {
      return at::mm(self.select(0, group), mat2.narrow(1, begin, n));
    };
    return joined_groups(group_ends(*offs, columns), columns, 1, product, rest, self);
  }
  std::vector<Tensor> parts;
  int64_t begin = 0;
  for (const int64_t end : group_ends(*offs, terms)) {
    parts.push_back(at::mm(self.narrow(1, begin, end - begin), mat2.narrow(0, begin, end - begin)));
    begin = end;
  }
  return parts.empty() ? at::zeros({0, rows, columns}, self.options()) : at::stack(parts);
}

} // namespace

Tensor _grouped_mm(
    const Tensor& self,
    const Tensor& mat2,
    const std::optional<Tensor>& offs,
    const std::optional<Tensor>& bias,
    std::optional<ScalarType> out_dtype) {
  check_grouped_mm(self, mat2, offs, bias, out_dtype);
  const int64_t columns = mat2.size(-1), unit = 16 / static_cast<int64_t>(self.element_size());
  const int64_t padding = (columns + unit - 1) / unit * unit - columns;
  Tensor result;
  if (self.is_meta()) {
    const int64_t groups = self.dim() == mat2.dim() ? (self.dim() == 3 ? self.size(0) : offs->size(0)) : -1;
    result = groups < 0 ? at::empty({self.size(-2), columns}, self.options())
                        : at::empty({groups, self.size(-2), columns}, self.options());
  } else {
    result = grouped_product(self, mat2, offs);
  }
  if (padding == 0) {
    return result;
  }
  // Rows of the result begin at multiples of 16 bytes.
  return at::constant_pad_nd(result, {0, padding}).narrow(-1, 0, columns);
}

} // namespace at::native
