// matmul and the products that reduce to it.

#include <aten/Functions.h>
#include <aten/core/Tensor.h>
#include <aten/core/TensorOperators.h>
#include <aten/iterator/ExpandUtils.h>
#include <aten/iterator/ExpandUtils.h>
#include <aten/names/disregard_names.h>
#include <aten/native/support/OutArgument.h>
#include <aten/native/composite/exact_out.h>
#include <aten/native/support/OutArgument.h>
#include <aten/native/support/store_scalar.h>
#include <aten/native/support/view_support.h>
#include <aten/shape/functions.h>
#include <aten/shape/iterated_out.h>

#include <c10/util/DimVector.h>
#include <c10/util/irange.h>

#include <algorithm>

namespace at::native {
namespace {

/// Whether all leading dimensions of `t` merge into one without a copy.
bool rows_merge(const Tensor& t) {
  for (const auto i : c10::irange(t.dim() - 2)) {
    if (t.stride(i) != t.stride(i + 1) * t.size(i + 1)) {
      return false;
    }
  }
  return true;
}

/// Writes the product of a vector and a matrix. It is one of matrices with a single row, whose output has that
/// dimension for a while and then is row-major.
Tensor& write_row_out(const char* op, Tensor& out, const Tensor& row) {
  write_exact_out(op, out, row);
  if (!out.is_contiguous()) {
    out.resize_({1, row.size(0)}).squeeze_(0).copy_(row);
  }
  return out;
}

/// Whether a batch times one matrix or vector should run as a single product over merged rows rather than as a
/// batched product of expanded operands.
bool should_fold(const Tensor& self, const Tensor& other, bool has_out) {
  const bool self_larger = self.dim() >= other.dim();
  const Tensor larger = self_larger ? self : other.mT();
  const Tensor& smaller = self_larger ? other : self;
  if (larger.dim() < 3 || smaller.dim() > 2) {
    return false;
  }
  // A sparse matrix cannot be expanded.
  if (larger.layout() == kStrided && smaller.layout() != kStrided) {
    return true;
  }
  // The gradient of an expanded operand is as large as the batch: a copy now is cheaper.
  if (smaller.requires_grad() && !has_out) {
    return true;
  }
  // matrix @ batch would need a transposed copy of the result.
  if (self.dim() == 2) {
    return false;
  }
  return larger.numel() == 0 || rows_merge(larger);
}

Tensor matmul_folded(const Tensor& self, const Tensor& other) {
  const bool flip = other.dim() > self.dim();
  const Tensor batch = flip ? other.mT() : self;
  const Tensor factor = !flip ? other : self.dim() == 2 ? self.t() : self;
  DimVector sizes(batch.sizes().begin(), batch.sizes().end() - 1);
  int64_t rows = 1;
  for (const int64_t size : sizes) {
    rows *= size;
  }
  const Tensor merged = batch.reshape({rows, batch.size(-1)});
  if (factor.dim() == 1) {
    return at::_unsafe_view(merged.mv(factor), sizes);
  }
  sizes.push_back(factor.size(1));
  const Tensor result = at::_unsafe_view(merged.mm(factor), sizes);
  return flip ? result.mT().contiguous() : result;
}

Tensor matmul_batched(const Tensor& self, const Tensor& other) {
  const IntArrayRef self_batch = self.sizes().slice(0, std::max<int64_t>(self.dim() - 2, 0));
  const IntArrayRef other_batch = other.sizes().slice(0, std::max<int64_t>(other.dim() - 2, 0));
  DimVector sizes = at::infer_size_dimvector(self_batch, other_batch);
  int64_t batch = 1;
  for (const int64_t size : sizes) {
    batch *= size;
  }

  const int64_t n = self.dim() > 1 ? self.size(-2) : 1;
  const auto expanded = [&](const Tensor& t, IntArrayRef tail) {
    DimVector full(sizes);
    full.append(tail.begin(), tail.end());
    DimVector flat{batch};
    flat.append(tail.begin(), tail.end());
    return t.expand(full).reshape(flat);
  };
  const Tensor left = expanded(self, {n, self.size(-1)});
  const bool vector = other.dim() == 1;
  const Tensor right =
      vector ? expanded(other, {other.size(0)}).unsqueeze(2) : expanded(other, {other.size(-2), other.size(-1)});
  if (self.dim() > 1) {
    sizes.push_back(n);
  }
  if (!vector) {
    sizes.push_back(other.size(-1));
  }
  const Tensor product = left.bmm(right);
  return at::_unsafe_view(vector ? product.squeeze(-1) : product, sizes);
}

Tensor matmul_impl(const Tensor& self, const Tensor& other, bool has_out) {
  const int64_t d1 = self.dim(), d2 = other.dim();
  TORCH_CHECK(
      d1 != 0 && d2 != 0, "both arguments to matmul need to be at least 1D, but they are ", d1, "D and ", d2,
      "D; use mul for a scalar factor");
  if (d1 == 2 && d2 == 2) {
    return self.mm(other);
  }
  if (d1 == 1 && d2 == 1) {
    return self.dot(other);
  }
  if (d1 == 2 && d2 == 1) {
    return self.mv(other);
  }
  // The operators above name their results.
  if (C10_UNLIKELY(self.has_names() || other.has_names())) {
    return names::with_names(
        namedinference::compute_matmul_outnames(self, other), [&] { return matmul_impl(self, other, has_out); });
  }
  if (d1 == 1 && d2 == 2) {
    return self.unsqueeze(0).mm(other).squeeze_(0);
  }
  // Batches of sparse matrices can be neither expanded nor merged.
  if (d1 == 3 && d2 == 3 && (self.layout() != kStrided || other.layout() != kStrided)) {
    return self.bmm(other);
  }
  if (should_fold(self, other, has_out)) {
    return matmul_folded(self, other);
  }
  // A batch of one that would be expanded and needs a gradient goes the folded way as well.
  if (d1 == 3 && d2 == 3 && self.size(0) != other.size(0)) {
    if (self.size(0) == 1 && self.requires_grad()) {
      return matmul_impl(self.squeeze(0), other, has_out);
    }
    if (other.size(0) == 1 && other.requires_grad()) {
      return matmul_impl(self, other.squeeze(0), has_out);
    }
  }
  return matmul_batched(self, other);
}

} // namespace

Tensor matmul(const Tensor& self, const Tensor& other) {
  return matmul_impl(self, other, false);
}

Tensor& matmul_out(const Tensor& self, const Tensor& other, Tensor& out) {
  if (self.dim() == 1 && other.dim() == 1) {
    return at::dot_out(out, self, other);
  }
  if (other.dim() == 1) {
    at::shape::mv_out("matmul", self, other, out);
  }
  const Tensor product = matmul_impl(self, other, true);
  return self.dim() == 1 && other.dim() == 2 ? write_row_out("matmul", out, product)
                                             : write_exact_out("matmul", out, product);
}

Tensor addmm_activation(
    const Tensor& self,
    const Tensor& mat1,
    const Tensor& mat2,
    const Scalar& beta,
    const Scalar& alpha,
    bool use_gelu) {
  const Tensor sum = at::addmm(self, mat1, mat2, beta, alpha);
  return use_gelu ? at::gelu(sum) : at::relu(sum);
}

Tensor linear(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias) {
  const int64_t d = input.dim();
  TORCH_CHECK(
      d != 0 && weight.dim() != 0, "both arguments to matmul need to be at least 1D, but they are ", d, "D and ",
      weight.dim(), "D (in linear)");
  const bool has_bias = bias.has_value() && bias->defined();
  if (has_bias && d == 2) {
    return at::addmm(*bias, input, weight.t());
  }
  if (has_bias && d == 3 && input.is_contiguous() && weight.dim() == 2 && bias->dim() == 1 &&
      bias->scalar_type() == input.scalar_type()) {
    // Merged rows keep the bias fused with the product.
    const int64_t rows = input.size(0) * input.size(1);
    const Tensor flat = at::addmm(*bias, input.reshape({rows, input.size(2)}), weight.t());
    return at::_unsafe_view(flat, {input.size(0), input.size(1), flat.size(1)});
  }
  const Tensor product = at::matmul(input, weight.t());
  return has_bias ? product.add(*bias) : product;
}

Tensor& linear_out(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, Tensor& out) {
  const Tensor result = at::linear(input, weight, bias);
  return input.dim() == 1 && weight.dim() == 2 ? write_row_out("linear", out, result)
                                               : write_exact_out("linear", out, result);
}

namespace {

void check_outer(const Tensor& self, const Tensor& vec2) {
  TORCH_CHECK(self.dim() == 1, "outer: Expected 1-D argument self, but got ", self.dim(), "-D");
  TORCH_CHECK(vec2.dim() == 1, "outer: Expected 1-D argument vec2, but got ", vec2.dim(), "-D");
}

} // namespace

Tensor outer(const Tensor& self, const Tensor& vec2) {
  check_outer(self, vec2);
  return self.reshape({self.size(0), 1}) * vec2;
}

Tensor& outer_out(const Tensor& self, const Tensor& vec2, Tensor& out) {
  check_outer(self, vec2);
  return at::mul_out(out, self.reshape({self.size(0), 1}), vec2);
}

Tensor& addbmm_(Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta, const Scalar& alpha) {
  const Tensor result = at::addbmm(self, batch1, batch2, beta, alpha);
  // Unlike other in-place operators, this one resizes a self that only broadcasts to the result.
  if (self.sizes() != result.sizes()) {
    self.resize_(result.sizes());
  }
  return self.copy_(result);
}

Tensor inner(const Tensor& self, const Tensor& other) {
  if (self.dim() == 0 || other.dim() == 0) {
    return self * other;
  }
  TORCH_CHECK(
      self.size(-1) == other.size(-1), "inner() the last dimension must match on both input tensors but got shapes ",
      self.sizes(), " and ", other.sizes());
  return at::tensordot(self, other, {-1}, {-1});
}

Tensor tensordot(const Tensor& self, const Tensor& other, IntArrayRef dims_self, IntArrayRef dims_other) {
  TORCH_CHECK(
      dims_self.size() == dims_other.size(), "both dimension lists should have same length, got ", dims_self, " and ",
      dims_other);
  TORCH_CHECK(
      self.scalar_type() == other.scalar_type(), "both inputs should have same dtype, but tensordot got ",
      self.scalar_type(), " and ", other.scalar_type());
  DimVector summed_self, summed_other;
  int64_t depth = 1;
  Tensor left = self, right = other;
  std::vector<bool> is_summed_self(self.dim()), is_summed_other(other.dim());
  for (const auto i : c10::irange(dims_self.size())) {
    const int64_t a = c10::maybe_wrap_dim(dims_self[i], self.dim(), /*wrap_scalar=*/false);
    const int64_t b = c10::maybe_wrap_dim(dims_other[i], other.dim(), /*wrap_scalar=*/false);
    TORCH_CHECK(
        !is_summed_self[a] && !is_summed_other[b], "dim ", is_summed_self[a] ? a : b,
        " appears multiple times in the list of dims");
    is_summed_self[a] = is_summed_other[b] = true;
    summed_self.push_back(a);
    summed_other.push_back(b);
    const int64_t size_a = left.size(a), size_b = right.size(b);
    if (size_b == 1 && size_a != 1) {
      left = left.sum({a}, true);
    } else if (size_a == 1 && size_b != 1) {
      right = right.sum({b}, true);
    } else {
      TORCH_CHECK(
          size_a == size_b, "contracted dimensions need to match, but first has size ", size_a, " in dim ",
          dims_self[i], " and second has size ", size_b, " in dim ", dims_other[i]);
      depth *= size_a;
    }
  }
  DimVector order_self, order_other, sizes;
  int64_t rows = 1, cols = 1;
  for (const auto i : c10::irange(left.dim())) {
    if (is_summed_self[i]) {
      continue;
    }
    order_self.push_back(i);
    rows *= left.size(i);
    sizes.push_back(left.size(i));
  }
  order_self.append(summed_self.begin(), summed_self.end());
  order_other.append(summed_other.begin(), summed_other.end());
  for (const auto i : c10::irange(right.dim())) {
    if (is_summed_other[i]) {
      continue;
    }
    order_other.push_back(i);
    cols *= right.size(i);
    sizes.push_back(right.size(i));
  }
  const Tensor a = left.permute(order_self).reshape({rows, depth});
  const Tensor b = right.permute(order_other).reshape({depth, cols});
  return at::mm(a, b).reshape(sizes);
}

namespace {

/// The dimensions of two tensors interleaved, (a0, 1, a1, 1, ...) and (1, b0, 1, b1, ...), so that their product has
/// those of the Kronecker product, each in two parts.
struct Interleaved {
  Interleaved(const Tensor& self, const Tensor& other) {
    const int64_t d = std::max(self.dim(), other.dim());
    DimVector left, right;
    for (const auto i : c10::irange(d)) {
      const int64_t a = i < d - self.dim() ? 1 : self.size(i - (d - self.dim()));
      const int64_t b = i < d - other.dim() ? 1 : other.size(i - (d - other.dim()));
      left.append({a, 1});
      right.append({1, b});
      parts.append({a, b});
      sizes.push_back(a * b);
    }
    a = self.reshape(left);
    b = other.reshape(right);
  }

  DimVector parts, sizes;
  Tensor a, b;
};

} // namespace

Tensor kron(const Tensor& self, const Tensor& other) {
  const Interleaved factors(self, other);
  // The product keeps the order of permuted inputs: a view fits if both are permuted alike.
  const Tensor product = at::mul(factors.a, factors.b);
  const bool fits = compute_view_strides(product.sizes(), product.strides(), factors.sizes).has_value();
  return at::_unsafe_view(fits ? product : product.contiguous(), factors.sizes);
}

Tensor& kron_out(const Tensor& self, const Tensor& other, Tensor& out) {
  check_out_without_grad("kron", out);
  const Interleaved factors(self, other);
  const Tensor product = at::mul(factors.a, factors.b);
  check_out_without_grad("kron", product);
  resize_output(out, factors.sizes);
  if (out.is_contiguous()) {
    const Tensor parts = at::_unsafe_view(out, factors.parts);
    at::shape::check_iterated({&factors.a, &factors.b, &parts});
  }
  copy_into_out("kron", out, product.reshape(factors.sizes));
  return out;
}

Tensor linalg_vecdot(const Tensor& x, const Tensor& y, int64_t dim) {
  TORCH_CHECK(
      at::isFloatingType(x.scalar_type()) || at::isComplexType(x.scalar_type()),
      "linalg.vecdot: Expected a floating point or complex tensor as input. Got ", x.scalar_type());
  TORCH_CHECK(
      x.scalar_type() == y.scalar_type(),
      "linalg.vecdot: Expected x and y to have the same dtype, but found x of type ", x.scalar_type(),
      " and y of type ", y.scalar_type(), " instead");
  if (x.dim() == 1 && y.dim() == 1) {
    return at::vdot(x, y);
  }
  return x.conj().mul(y).sum({dim});
}

Tensor linalg_matmul(const Tensor& self, const Tensor& other) {
  return at::matmul(self, other);
}

Tensor _trilinear(
    const Tensor& i1,
    const Tensor& i2,
    const Tensor& i3,
    IntArrayRef expand1,
    IntArrayRef expand2,
    IntArrayRef expand3,
    IntArrayRef sumdim,
    int64_t) {
  const auto expanded = [](Tensor t, IntArrayRef dims) {
    for (const int64_t dim : dims) {
      t = t.unsqueeze(dim);
    }
    return t;
  };
  const Tensor product = expanded(i1, expand1) * expanded(i2, expand2) * expanded(i3, expand3);
  return sumdim.empty() ? product : product.sum(sumdim, /*keepdim=*/false, product.scalar_type());
}

Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight, const std::optional<Tensor>& bias) {
  TORCH_CHECK(
      input1.dim() == input2.dim(), "bilinear(): input dimensions do not match: got ", input1.dim(), " and ",
      input2.dim());
  for (const auto i : c10::irange(input1.dim() - 1)) {
    TORCH_CHECK(
        input1.size(i) == input2.size(i), "bilinear(): input batch dimensions do not match at dim ", i, ": got ",
        input1.size(i), " and ", input2.size(i));
  }
  TORCH_CHECK(
      weight.dim() <= 3, "number of dimensions must match: bilinear() needs a 3-D weight, got ", weight.dim(), "-D");
  TORCH_CHECK(
      input1.size(-1) == weight.size(1), "bilinear(): input1 size does not match weight size: got ", input1.size(-1),
      " but expected ", weight.size(1));
  TORCH_CHECK(
      input2.size(-1) == weight.size(2), "bilinear(): input2 size does not match weight size: got ", input2.size(-1),
      " but expected ", weight.size(2));
  const bool has_bias = bias.has_value() && bias->defined();
  TORCH_CHECK(
      !has_bias || bias->size(0) == weight.size(0), "bilinear(): bias size does not match weight size: got ",
      has_bias ? bias->size(0) : 0, " but expected ", weight.size(0));
  DimVector sizes(input1.sizes().begin(), input1.sizes().end() - 1);
  int64_t rows = 1;
  for (const int64_t size : sizes) {
    rows *= size;
  }
  sizes.push_back(weight.size(0));
  const int64_t outs = weight.size(0), k1 = weight.size(1), k2 = weight.size(2);
  // First over input1 for all outputs at once, then each row's own (outs x k2) matrix times its input2.
  const Tensor first = input1.reshape({rows, k1}).mm(weight.transpose(0, 1).reshape({k1, outs * k2}));
  const Tensor second = first.view({rows, outs, k2}).bmm(input2.reshape({rows, k2, 1}));
  const Tensor result = second.reshape(sizes);
  return has_bias ? result + *bias : result;
}

Tensor addr(const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta, const Scalar& alpha) {
  TORCH_CHECK(vec1.dim() == 1, "addr: Expected 1-D argument vec1, but got ", vec1.dim(), "-D");
  TORCH_CHECK(vec2.dim() == 1, "addr: Expected 1-D argument vec2, but got ", vec2.dim(), "-D");
  const int64_t sizes[2] = {vec1.size(0), vec2.size(0)};
  const Tensor broadcast = self.expand(sizes);
  // The result lies in the order of self.
  if (sizes[0] > 1 && sizes[1] > 1 && broadcast.stride(0) > 0 && broadcast.stride(0) < broadcast.stride(1)) {
    return native::addr(broadcast.t(), vec2, vec1, beta, alpha).t();
  }
  const auto dtype = at::result_type(at::empty({0}, self.options().dtype(at::result_type(self, vec1))), vec2);
  const bool exact = at::isIntegralType(dtype, /*includeBool=*/true);
  TORCH_CHECK(
      !exact || !(beta.isFloatingPoint() || beta.isComplex()),
      "For integral input tensors, argument beta must not be a floating point number.");
  TORCH_CHECK(
      !exact || !(alpha.isFloatingPoint() || alpha.isComplex()),
      "For integral input tensors, argument alpha must not be a floating point number.");
  TORCH_CHECK(!beta.isBoolean() || dtype == kBool, "Boolean beta only supported for Boolean results.");
  TORCH_CHECK(!alpha.isBoolean() || dtype == kBool, "Boolean alpha only supported for Boolean results.");
  Tensor result = (vec1.unsqueeze(1) * vec2).to(dtype);
  if (dtype == kBool) {
    if (!alpha.to<bool>()) {
      result.zero_();
    }
    return beta.to<bool>() ? result.logical_or_(broadcast) : result;
  }
  alignas(16) char place[16];
  store_scalar("addr", beta, dtype, place);
  store_scalar("addr", alpha, dtype, place);
  if (!alpha.equal(1)) {
    result.mul_(alpha);
  }
  // With beta = 0 neither NaN nor infinity of self is read.
  return beta.toComplexDouble() == c10::complex<double>(0) ? result : result.add_(broadcast, beta);
}

Tensor& addr_out(
    const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta, const Scalar& alpha, Tensor& out) {
  const Tensor result = native::addr(self, vec1, vec2, beta, alpha);
  const Tensor broadcast = self.expand(result.sizes()), column = vec1.unsqueeze(1);
  at::shape::check_iterated({&broadcast, &column, &vec2, &out});
  copy_into_out("addr", out, result);
  return out;
}

Tensor& addr_(Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta, const Scalar& alpha) {
  TORCH_CHECK(vec1.dim() == 1, "addr: Expected 1-D argument vec1, but got ", vec1.dim(), "-D");
  TORCH_CHECK(vec2.dim() == 1, "addr: Expected 1-D argument vec2, but got ", vec2.dim(), "-D");
  TORCH_CHECK(self.dim() == 2, "2D tensor expected, got ", self.dim(), "D tensor for input");
  TORCH_CHECK(
      self.size(0) == vec1.size(0) && self.size(1) == vec2.size(0), "size mismatch, input: ", self.sizes(),
      ", v1: ", vec1.sizes(), ", v2: ", vec2.sizes());
  const Tensor result = native::addr(self, vec1, vec2, beta, alpha);
  copy_into_self("addr_", self, result);
  return self;
}

Tensor _int_mm(const Tensor& self, const Tensor& mat2) {
  TORCH_CHECK(self.dim() == 2, "_int_mm: self must be a matrix, got ", self.dim(), "-D tensor");
  TORCH_CHECK(mat2.dim() == 2, "_int_mm: mat2 must be a matrix, got ", mat2.dim(), "-D tensor");
  TORCH_CHECK(
      self.scalar_type() == kChar || self.scalar_type() == kByte,
      "_int_mm: Expected self dtype to be int8 or uint8 but got ", self.scalar_type());
  TORCH_CHECK(mat2.scalar_type() == kChar, "_int_mm: Expected mat2 dtype to be int8 but got ", mat2.scalar_type());
  TORCH_CHECK(
      self.size(1) == mat2.size(0), "_int_mm: mat1 and mat2 shapes cannot be multiplied (", self.size(0), "x",
      self.size(1), " and ", mat2.size(0), "x", mat2.size(1), ")");
  if (self.is_cpu() || self.is_meta()) {
    return at::mm(self.to(kInt), mat2.to(kInt));
  }
  // Devices have no products of integers; in double these are exact.
  return at::mm(self.to(kDouble), mat2.to(kDouble)).to(kLong).to(kInt);
}

} // namespace at::native
