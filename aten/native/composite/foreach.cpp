// Operators over lists of tensors: the single operator for each of them.
#include <aten/Functions.h>
#include <aten/Operators.h>

#include <vector>

namespace at::native {

namespace {

void check_partners(TensorList self, TensorList other) {
  TORCH_CHECK(
      self.size() == other.size(), "Tensor lists must have the same number of tensors, got ", self.size(), " and ",
      other.size());
}

void check_scalars(TensorList self, ArrayRef<Scalar> scalars) {
  TORCH_CHECK(
      self.size() == scalars.size(), "Tensor list must have same number of elements as scalar list, got ", self.size(),
      " and ", scalars.size());
}

void check_one(const Tensor& other) {
  TORCH_CHECK(
      other.dim() == 0 && other.numel() == 1, "scalar tensor expected to be 0 dim but it has ", other.dim(),
      " dimensions and ", other.numel(), " elements.");
}

std::vector<Scalar> numbers_of(TensorList self, const Tensor& scalars) {
  TORCH_CHECK(scalars.dim() == 1, "Expected packed scalar Tensor to be of dimension 1. Got ", scalars.dim(), " instead.");
  TORCH_CHECK(
      static_cast<size_t>(scalars.size(0)) == self.size(), "Expected length of scalars to match input of length ",
      self.size(), " but got ", scalars.size(0), " instead.");
  std::vector<Scalar> numbers;
  for (int64_t i = 0; i < scalars.size(0); ++i) {
    numbers.push_back(scalars[i].item());
  }
  return numbers;
}

/// A tensor of a list that an in-place operator may write to.
Tensor& mut(const Tensor& t) {
  return const_cast<Tensor&>(t);
}

/// f(tensor, its place) for each.
template <class F>
std::vector<Tensor> each(TensorList self, const F& f) {
  std::vector<Tensor> results;
  results.reserve(self.size());
  for (size_t i = 0; i < self.size(); ++i) {
    results.push_back(f(self[i], i));
  }
  return results;
}
template <class F>
void each_(TensorList self, const F& f) {
  for (size_t i = 0; i < self.size(); ++i) {
    f(self[i], i);
  }
}

template <class Op>
std::vector<Tensor> each(TensorList self) {
  return each(self, [](const Tensor& t, size_t) { return Op::call(t); });
}
template <class Op>
void each_(TensorList self) {
  each_(self, [](const Tensor& t, size_t) { return Op::call(mut(t)); });
}

} // namespace

// ---- one tensor at a time ----------------------------------------------------------------------------------------

std::vector<Tensor> foreach_abs(TensorList self) {
  return each<at::_ops::abs>(self);
}
void foreach_abs_(TensorList self) {
  each_<at::_ops::abs_>(self);
}

std::vector<Tensor> foreach_acos(TensorList self) {
  return each<at::_ops::acos>(self);
}
void foreach_acos_(TensorList self) {
  each_<at::_ops::acos_>(self);
}

std::vector<Tensor> foreach_asin(TensorList self) {
  return each<at::_ops::asin>(self);
}
void foreach_asin_(TensorList self) {
  each_<at::_ops::asin_>(self);
}

std::vector<Tensor> foreach_atan(TensorList self) {
  return each<at::_ops::atan>(self);
}
void foreach_atan_(TensorList self) {
  each_<at::_ops::atan_>(self);
}

std::vector<Tensor> foreach_ceil(TensorList self) {
  return each<at::_ops::ceil>(self);
}
void foreach_ceil_(TensorList self) {
  each_<at::_ops::ceil_>(self);
}

std::vector<Tensor> foreach_cos(TensorList self) {
  return each<at::_ops::cos>(self);
}
void foreach_cos_(TensorList self) {
  each_<at::_ops::cos_>(self);
}

std::vector<Tensor> foreach_cosh(TensorList self) {
  return each<at::_ops::cosh>(self);
}
void foreach_cosh_(TensorList self) {
  each_<at::_ops::cosh_>(self);
}

std::vector<Tensor> foreach_erf(TensorList self) {
  return each<at::_ops::erf>(self);
}
void foreach_erf_(TensorList self) {
  each_<at::_ops::erf_>(self);
}

std::vector<Tensor> foreach_erfc(TensorList self) {
  return each<at::_ops::erfc>(self);
}
void foreach_erfc_(TensorList self) {
  each_<at::_ops::erfc_>(self);
}

std::vector<Tensor> foreach_exp(TensorList self) {
  return each<at::_ops::exp>(self);
}
void foreach_exp_(TensorList self) {
  each_<at::_ops::exp_>(self);
}

std::vector<Tensor> foreach_expm1(TensorList self) {
  return each<at::_ops::expm1>(self);
}
void foreach_expm1_(TensorList self) {
  each_<at::_ops::expm1_>(self);
}

std::vector<Tensor> foreach_floor(TensorList self) {
  return each<at::_ops::floor>(self);
}
void foreach_floor_(TensorList self) {
  each_<at::_ops::floor_>(self);
}

std::vector<Tensor> foreach_frac(TensorList self) {
  return each<at::_ops::frac>(self);
}
void foreach_frac_(TensorList self) {
  each_<at::_ops::frac_>(self);
}

std::vector<Tensor> foreach_lgamma(TensorList self) {
  return each<at::_ops::lgamma>(self);
}
void foreach_lgamma_(TensorList self) {
  each_<at::_ops::lgamma_>(self);
}

std::vector<Tensor> foreach_log(TensorList self) {
  return each<at::_ops::log>(self);
}
void foreach_log_(TensorList self) {
  each_<at::_ops::log_>(self);
}

std::vector<Tensor> foreach_log10(TensorList self) {
  return each<at::_ops::log10>(self);
}
void foreach_log10_(TensorList self) {
  each_<at::_ops::log10_>(self);
}

std::vector<Tensor> foreach_log1p(TensorList self) {
  return each<at::_ops::log1p>(self);
}
void foreach_log1p_(TensorList self) {
  each_<at::_ops::log1p_>(self);
}

std::vector<Tensor> foreach_log2(TensorList self) {
  return each<at::_ops::log2>(self);
}
void foreach_log2_(TensorList self) {
  each_<at::_ops::log2_>(self);
}

std::vector<Tensor> foreach_neg(TensorList self) {
  return each<at::_ops::neg>(self);
}
void foreach_neg_(TensorList self) {
  each_<at::_ops::neg_>(self);
}

std::vector<Tensor> foreach_reciprocal(TensorList self) {
  return each<at::_ops::reciprocal>(self);
}
void foreach_reciprocal_(TensorList self) {
  each_<at::_ops::reciprocal_>(self);
}

std::vector<Tensor> foreach_round(TensorList self) {
  return each<at::_ops::round>(self);
}
void foreach_round_(TensorList self) {
  each_<at::_ops::round_>(self);
}

std::vector<Tensor> foreach_rsqrt(TensorList self) {
  return each<at::_ops::rsqrt>(self);
}
void foreach_rsqrt_(TensorList self) {
  each_<at::_ops::rsqrt_>(self);
}

std::vector<Tensor> foreach_sigmoid(TensorList self) {
  return each<at::_ops::sigmoid>(self);
}
void foreach_sigmoid_(TensorList self) {
  each_<at::_ops::sigmoid_>(self);
}

std::vector<Tensor> foreach_sign(TensorList self) {
  return each<at::_ops::sign>(self);
}
void foreach_sign_(TensorList self) {
  each_<at::_ops::sign_>(self);
}

std::vector<Tensor> foreach_sin(TensorList self) {
  return each<at::_ops::sin>(self);
}
void foreach_sin_(TensorList self) {
  each_<at::_ops::sin_>(self);
}

std::vector<Tensor> foreach_sinh(TensorList self) {
  return each<at::_ops::sinh>(self);
}
void foreach_sinh_(TensorList self) {
  each_<at::_ops::sinh_>(self);
}

std::vector<Tensor> foreach_sqrt(TensorList self) {
  return each<at::_ops::sqrt>(self);
}
void foreach_sqrt_(TensorList self) {
  each_<at::_ops::sqrt_>(self);
}

std::vector<Tensor> foreach_tan(TensorList self) {
  return each<at::_ops::tan>(self);
}
void foreach_tan_(TensorList self) {
  each_<at::_ops::tan_>(self);
}

std::vector<Tensor> foreach_tanh(TensorList self) {
  return each<at::_ops::tanh>(self);
}
void foreach_tanh_(TensorList self) {
  each_<at::_ops::tanh_>(self);
}

std::vector<Tensor> foreach_trunc(TensorList self) {
  return each<at::_ops::trunc>(self);
}
void foreach_trunc_(TensorList self) {
  each_<at::_ops::trunc_>(self);
}

void foreach_zero_(TensorList self) {
  each_<at::_ops::zero_>(self);
}
std::vector<Tensor> foreach_max(TensorList self) {
  return each<at::_ops::max>(self);
}
std::vector<Tensor> foreach_norm(TensorList self, const Scalar& ord, std::optional<ScalarType> dtype) {
  return each(self, [&](const Tensor& t, size_t) {
    return at::linalg_vector_norm(t, ord, std::nullopt, /*keepdim=*/false, dtype);
  });
}
void foreach_copy_(TensorList self, TensorList src, bool non_blocking) {
  check_partners(self, src);
  each_(self, [&](const Tensor& t, size_t i) { return mut(t).copy_(src[i], non_blocking); });
}

// ---- with a number, a list of numbers, a list of tensors ---------------------------------------------------------

std::vector<Tensor> foreach_add_scalar(TensorList self, const Scalar& scalar) {
  return each(self, [&](const Tensor& t, size_t) { return at::_ops::add_Scalar::call(t, scalar, 1); });
}
std::vector<Tensor> foreach_add_scalars(TensorList self, ArrayRef<Scalar> scalars) {
  check_scalars(self, scalars);
  return each(self, [&](const Tensor& t, size_t i) { return at::_ops::add_Scalar::call(t, scalars[i], 1); });
}
std::vector<Tensor> foreach_add_list(TensorList self, TensorList other, const Scalar& alpha) {
  check_partners(self, other);
  return each(self, [&](const Tensor& t, size_t i) { return at::_ops::add_Tensor::call(t, other[i], alpha); });
}

void foreach_add_scalar_(TensorList self, const Scalar& scalar) {
  each_(self, [&](const Tensor& t, size_t) { return at::_ops::add__Scalar::call(mut(t), scalar, 1); });
}
void foreach_add_scalars_(TensorList self, ArrayRef<Scalar> scalars) {
  check_scalars(self, scalars);
  each_(self, [&](const Tensor& t, size_t i) { return at::_ops::add__Scalar::call(mut(t), scalars[i], 1); });
}
void foreach_add_list_(TensorList self, TensorList other, const Scalar& alpha) {
  check_partners(self, other);
  each_(self, [&](const Tensor& t, size_t i) { return at::_ops::add__Tensor::call(mut(t), other[i], alpha); });
}

std::vector<Tensor> foreach_sub_scalar(TensorList self, const Scalar& scalar) {
  return each(self, [&](const Tensor& t, size_t) { return at::_ops::sub_Scalar::call(t, scalar, 1); });
}
std::vector<Tensor> foreach_sub_scalars(TensorList self, ArrayRef<Scalar> scalars) {
  check_scalars(self, scalars);
  return each(self, [&](const Tensor& t, size_t i) { return at::_ops::sub_Scalar::call(t, scalars[i], 1); });
}
std::vector<Tensor> foreach_sub_list(TensorList self, TensorList other, const Scalar& alpha) {
  check_partners(self, other);
  return each(self, [&](const Tensor& t, size_t i) { return at::_ops::sub_Tensor::call(t, other[i], alpha); });
}

void foreach_sub_scalar_(TensorList self, const Scalar& scalar) {
  each_(self, [&](const Tensor& t, size_t) { return at::_ops::sub__Scalar::call(mut(t), scalar, 1); });
}
void foreach_sub_scalars_(TensorList self, ArrayRef<Scalar> scalars) {
  check_scalars(self, scalars);
  each_(self, [&](const Tensor& t, size_t i) { return at::_ops::sub__Scalar::call(mut(t), scalars[i], 1); });
}
void foreach_sub_list_(TensorList self, TensorList other, const Scalar& alpha) {
  check_partners(self, other);
  each_(self, [&](const Tensor& t, size_t i) { return at::_ops::sub__Tensor::call(mut(t), other[i], alpha); });
}

std::vector<Tensor> foreach_mul_scalar(TensorList self, const Scalar& scalar) {
  return each(self, [&](const Tensor& t, size_t) { return at::_ops::mul_Scalar::call(t, scalar); });
}
std::vector<Tensor> foreach_mul_scalars(TensorList self, ArrayRef<Scalar> scalars) {
  check_scalars(self, scalars);
  return each(self, [&](const Tensor& t, size_t i) { return at::_ops::mul_Scalar::call(t, scalars[i]); });
}
std::vector<Tensor> foreach_mul_list(TensorList self, TensorList other) {
  check_partners(self, other);
  return each(self, [&](const Tensor& t, size_t i) { return at::_ops::mul_Tensor::call(t, other[i]); });
}

void foreach_mul_scalar_(TensorList self, const Scalar& scalar) {
  each_(self, [&](const Tensor& t, size_t) { return at::_ops::mul__Scalar::call(mut(t), scalar); });
}
void foreach_mul_scalars_(TensorList self, ArrayRef<Scalar> scalars) {
  check_scalars(self, scalars);
  each_(self, [&](const Tensor& t, size_t i) { return at::_ops::mul__Scalar::call(mut(t), scalars[i]); });
}
void foreach_mul_list_(TensorList self, TensorList other) {
  check_partners(self, other);
  each_(self, [&](const Tensor& t, size_t i) { return at::_ops::mul__Tensor::call(mut(t), other[i]); });
}

std::vector<Tensor> foreach_div_scalar(TensorList self, const Scalar& scalar) {
  return each(self, [&](const Tensor& t, size_t) { return at::_ops::div_Scalar::call(t, scalar); });
}
std::vector<Tensor> foreach_div_scalars(TensorList self, ArrayRef<Scalar> scalars) {
  check_scalars(self, scalars);
  return each(self, [&](const Tensor& t, size_t i) { return at::_ops::div_Scalar::call(t, scalars[i]); });
}
std::vector<Tensor> foreach_div_list(TensorList self, TensorList other) {
  check_partners(self, other);
  return each(self, [&](const Tensor& t, size_t i) { return at::_ops::div_Tensor::call(t, other[i]); });
}

void foreach_div_scalar_(TensorList self, const Scalar& scalar) {
  each_(self, [&](const Tensor& t, size_t) { return at::_ops::div__Scalar::call(mut(t), scalar); });
}
void foreach_div_scalars_(TensorList self, ArrayRef<Scalar> scalars) {
  check_scalars(self, scalars);
  each_(self, [&](const Tensor& t, size_t i) { return at::_ops::div__Scalar::call(mut(t), scalars[i]); });
}
void foreach_div_list_(TensorList self, TensorList other) {
  check_partners(self, other);
  each_(self, [&](const Tensor& t, size_t i) { return at::_ops::div__Tensor::call(mut(t), other[i]); });
}

std::vector<Tensor> foreach_clamp_max_scalar(TensorList self, const Scalar& scalar) {
  return each(self, [&](const Tensor& t, size_t) { return at::_ops::clamp_max::call(t, scalar); });
}
std::vector<Tensor> foreach_clamp_max_scalars(TensorList self, ArrayRef<Scalar> scalars) {
  check_scalars(self, scalars);
  return each(self, [&](const Tensor& t, size_t i) { return at::_ops::clamp_max::call(t, scalars[i]); });
}
std::vector<Tensor> foreach_clamp_max_list(TensorList self, TensorList other) {
  check_partners(self, other);
  return each(self, [&](const Tensor& t, size_t i) { return at::_ops::clamp_max_Tensor::call(t, other[i]); });
}

void foreach_clamp_max_scalar_(TensorList self, const Scalar& scalar) {
  each_(self, [&](const Tensor& t, size_t) { return at::_ops::clamp_max_::call(mut(t), scalar); });
}
void foreach_clamp_max_scalars_(TensorList self, ArrayRef<Scalar> scalars) {
  check_scalars(self, scalars);
  each_(self, [&](const Tensor& t, size_t i) { return at::_ops::clamp_max_::call(mut(t), scalars[i]); });
}
void foreach_clamp_max_list_(TensorList self, TensorList other) {
  check_partners(self, other);
  each_(self, [&](const Tensor& t, size_t i) { return at::_ops::clamp_max__Tensor::call(mut(t), other[i]); });
}

std::vector<Tensor> foreach_clamp_min_scalar(TensorList self, const Scalar& scalar) {
  return each(self, [&](const Tensor& t, size_t) { return at::_ops::clamp_min::call(t, scalar); });
}
std::vector<Tensor> foreach_clamp_min_scalars(TensorList self, ArrayRef<Scalar> scalars) {
  check_scalars(self, scalars);
  return each(self, [&](const Tensor& t, size_t i) { return at::_ops::clamp_min::call(t, scalars[i]); });
}
std::vector<Tensor> foreach_clamp_min_list(TensorList self, TensorList other) {
  check_partners(self, other);
  return each(self, [&](const Tensor& t, size_t i) { return at::_ops::clamp_min_Tensor::call(t, other[i]); });
}

void foreach_clamp_min_scalar_(TensorList self, const Scalar& scalar) {
  each_(self, [&](const Tensor& t, size_t) { return at::_ops::clamp_min_::call(mut(t), scalar); });
}
void foreach_clamp_min_scalars_(TensorList self, ArrayRef<Scalar> scalars) {
  check_scalars(self, scalars);
  each_(self, [&](const Tensor& t, size_t i) { return at::_ops::clamp_min_::call(mut(t), scalars[i]); });
}
void foreach_clamp_min_list_(TensorList self, TensorList other) {
  check_partners(self, other);
  each_(self, [&](const Tensor& t, size_t i) { return at::_ops::clamp_min__Tensor::call(mut(t), other[i]); });
}

std::vector<Tensor> foreach_maximum_scalar(TensorList self, const Scalar& scalar) {
  return each(self, [&](const Tensor& t, size_t) { return at::_ops::clamp_min::call(t, scalar); });
}
std::vector<Tensor> foreach_maximum_scalars(TensorList self, ArrayRef<Scalar> scalars) {
  check_scalars(self, scalars);
  return each(self, [&](const Tensor& t, size_t i) { return at::_ops::clamp_min::call(t, scalars[i]); });
}
std::vector<Tensor> foreach_maximum_list(TensorList self, TensorList other) {
  check_partners(self, other);
  return each(self, [&](const Tensor& t, size_t i) { return at::_ops::clamp_min_Tensor::call(t, other[i]); });
}

void foreach_maximum_scalar_(TensorList self, const Scalar& scalar) {
  each_(self, [&](const Tensor& t, size_t) { return at::_ops::clamp_min_::call(mut(t), scalar); });
}
void foreach_maximum_scalars_(TensorList self, ArrayRef<Scalar> scalars) {
  check_scalars(self, scalars);
  each_(self, [&](const Tensor& t, size_t i) { return at::_ops::clamp_min_::call(mut(t), scalars[i]); });
}
void foreach_maximum_list_(TensorList self, TensorList other) {
  check_partners(self, other);
  each_(self, [&](const Tensor& t, size_t i) { return at::_ops::clamp_min__Tensor::call(mut(t), other[i]); });
}

std::vector<Tensor> foreach_minimum_scalar(TensorList self, const Scalar& scalar) {
  return each(self, [&](const Tensor& t, size_t) { return at::_ops::clamp_max::call(t, scalar); });
}
std::vector<Tensor> foreach_minimum_scalars(TensorList self, ArrayRef<Scalar> scalars) {
  check_scalars(self, scalars);
  return each(self, [&](const Tensor& t, size_t i) { return at::_ops::clamp_max::call(t, scalars[i]); });
}
std::vector<Tensor> foreach_minimum_list(TensorList self, TensorList other) {
  check_partners(self, other);
  return each(self, [&](const Tensor& t, size_t i) { return at::_ops::clamp_max_Tensor::call(t, other[i]); });
}

void foreach_minimum_scalar_(TensorList self, const Scalar& scalar) {
  each_(self, [&](const Tensor& t, size_t) { return at::_ops::clamp_max_::call(mut(t), scalar); });
}
void foreach_minimum_scalars_(TensorList self, ArrayRef<Scalar> scalars) {
  check_scalars(self, scalars);
  each_(self, [&](const Tensor& t, size_t i) { return at::_ops::clamp_max_::call(mut(t), scalars[i]); });
}
void foreach_minimum_list_(TensorList self, TensorList other) {
  check_partners(self, other);
  each_(self, [&](const Tensor& t, size_t i) { return at::_ops::clamp_max__Tensor::call(mut(t), other[i]); });
}

std::vector<Tensor> foreach_pow_scalar(TensorList self, const Scalar& scalar) {
  return each(self, [&](const Tensor& t, size_t) { return at::_ops::pow_Tensor_Scalar::call(t, scalar); });
}
std::vector<Tensor> foreach_pow_scalars(TensorList self, ArrayRef<Scalar> scalars) {
  check_scalars(self, scalars);
  return each(self, [&](const Tensor& t, size_t i) { return at::_ops::pow_Tensor_Scalar::call(t, scalars[i]); });
}
std::vector<Tensor> foreach_pow_list(TensorList self, TensorList other) {
  check_partners(self, other);
  return each(self, [&](const Tensor& t, size_t i) { return at::_ops::pow_Tensor_Tensor::call(t, other[i]); });
}

void foreach_pow_scalar_(TensorList self, const Scalar& scalar) {
  each_(self, [&](const Tensor& t, size_t) { return at::_ops::pow__Scalar::call(mut(t), scalar); });
}
void foreach_pow_scalars_(TensorList self, ArrayRef<Scalar> scalars) {
  check_scalars(self, scalars);
  each_(self, [&](const Tensor& t, size_t i) { return at::_ops::pow__Scalar::call(mut(t), scalars[i]); });
}
void foreach_pow_list_(TensorList self, TensorList other) {
  check_partners(self, other);
  each_(self, [&](const Tensor& t, size_t i) { return at::_ops::pow__Tensor::call(mut(t), other[i]); });
}

std::vector<Tensor> foreach_pow_of_scalar(const Scalar& self, TensorList exponent) {
  return each(exponent, [&](const Tensor& t, size_t) { return at::pow(self, t); });
}

// ---- with one tensor for all -------------------------------------------------------------------------------------

std::vector<Tensor> foreach_add_tensor(TensorList self, const Tensor& other, const Scalar& alpha) {
  check_one(other);
  return each(self, [&](const Tensor& t, size_t) { return at::_ops::add_Tensor::call(t, other, alpha); });
}

void foreach_add_tensor_(TensorList self, const Tensor& other, const Scalar& alpha) {
  check_one(other);
  each_(self, [&](const Tensor& t, size_t) { return at::_ops::add__Tensor::call(mut(t), other, alpha); });
}

std::vector<Tensor> foreach_mul_tensor(TensorList self, const Tensor& other) {
  check_one(other);
  return each(self, [&](const Tensor& t, size_t) { return at::_ops::mul_Tensor::call(t, other); });
}

void foreach_mul_tensor_(TensorList self, const Tensor& other) {
  check_one(other);
  each_(self, [&](const Tensor& t, size_t) { return at::_ops::mul__Tensor::call(mut(t), other); });
}

std::vector<Tensor> foreach_div_tensor(TensorList self, const Tensor& other) {
  check_one(other);
  return each(self, [&](const Tensor& t, size_t) { return at::_ops::div_Tensor::call(t, other); });
}

void foreach_div_tensor_(TensorList self, const Tensor& other) {
  check_one(other);
  each_(self, [&](const Tensor& t, size_t) { return at::_ops::div__Tensor::call(mut(t), other); });
}

// ---- of three tensors --------------------------------------------------------------------------------------------

std::vector<Tensor> foreach_addcdiv_scalar(TensorList self, TensorList tensor1, TensorList tensor2, const Scalar& value) {
  check_partners(self, tensor1);
  check_partners(self, tensor2);
  return each(self, [&](const Tensor& t, size_t i) { return at::_ops::addcdiv::call(t, tensor1[i], tensor2[i], value); });
}
std::vector<Tensor> foreach_addcdiv_scalars(TensorList self, TensorList tensor1, TensorList tensor2, ArrayRef<Scalar> scalars) {
  check_partners(self, tensor1);
  check_partners(self, tensor2);
  check_scalars(self, scalars);
  return each(self, [&](const Tensor& t, size_t i) { return at::_ops::addcdiv::call(t, tensor1[i], tensor2[i], scalars[i]); });
}
std::vector<Tensor> foreach_addcdiv_tensor(TensorList self, TensorList tensor1, TensorList tensor2, const Tensor& scalars) {
  const std::vector<Scalar> values = numbers_of(self, scalars);
  return foreach_addcdiv_scalars(self, tensor1, tensor2, values);
}

void foreach_addcdiv_scalar_(TensorList self, TensorList tensor1, TensorList tensor2, const Scalar& value) {
  check_partners(self, tensor1);
  check_partners(self, tensor2);
  each_(self, [&](const Tensor& t, size_t i) { return at::_ops::addcdiv_::call(mut(t), tensor1[i], tensor2[i], value); });
}
void foreach_addcdiv_scalars_(TensorList self, TensorList tensor1, TensorList tensor2, ArrayRef<Scalar> scalars) {
  check_partners(self, tensor1);
  check_partners(self, tensor2);
  check_scalars(self, scalars);
  each_(self, [&](const Tensor& t, size_t i) { return at::_ops::addcdiv_::call(mut(t), tensor1[i], tensor2[i], scalars[i]); });
}
void foreach_addcdiv_tensor_(TensorList self, TensorList tensor1, TensorList tensor2, const Tensor& scalars) {
  const std::vector<Scalar> values = numbers_of(self, scalars);
  foreach_addcdiv_scalars_(self, tensor1, tensor2, values);
}

std::vector<Tensor> foreach_addcmul_scalar(TensorList self, TensorList tensor1, TensorList tensor2, const Scalar& value) {
  check_partners(self, tensor1);
  check_partners(self, tensor2);
  return each(self, [&](const Tensor& t, size_t i) { return at::_ops::addcmul::call(t, tensor1[i], tensor2[i], value); });
}
std::vector<Tensor> foreach_addcmul_scalars(TensorList self, TensorList tensor1, TensorList tensor2, ArrayRef<Scalar> scalars) {
  check_partners(self, tensor1);
  check_partners(self, tensor2);
  check_scalars(self, scalars);
  return each(self, [&](const Tensor& t, size_t i) { return at::_ops::addcmul::call(t, tensor1[i], tensor2[i], scalars[i]); });
}
std::vector<Tensor> foreach_addcmul_tensor(TensorList self, TensorList tensor1, TensorList tensor2, const Tensor& scalars) {
  const std::vector<Scalar> values = numbers_of(self, scalars);
  return foreach_addcmul_scalars(self, tensor1, tensor2, values);
}

void foreach_addcmul_scalar_(TensorList self, TensorList tensor1, TensorList tensor2, const Scalar& value) {
  check_partners(self, tensor1);
  check_partners(self, tensor2);
  each_(self, [&](const Tensor& t, size_t i) { return at::_ops::addcmul_::call(mut(t), tensor1[i], tensor2[i], value); });
}
void foreach_addcmul_scalars_(TensorList self, TensorList tensor1, TensorList tensor2, ArrayRef<Scalar> scalars) {
  check_partners(self, tensor1);
  check_partners(self, tensor2);
  check_scalars(self, scalars);
  each_(self, [&](const Tensor& t, size_t i) { return at::_ops::addcmul_::call(mut(t), tensor1[i], tensor2[i], scalars[i]); });
}
void foreach_addcmul_tensor_(TensorList self, TensorList tensor1, TensorList tensor2, const Tensor& scalars) {
  const std::vector<Scalar> values = numbers_of(self, scalars);
  foreach_addcmul_scalars_(self, tensor1, tensor2, values);
}

std::vector<Tensor> foreach_lerp_list(TensorList self, TensorList tensors1, TensorList weights) {
  check_partners(self, tensors1);
  check_partners(self, weights);
  return each(self, [&](const Tensor& t, size_t i) { return at::_ops::lerp_Tensor::call(t, tensors1[i], weights[i]); });
}
std::vector<Tensor> foreach_lerp_scalar(TensorList self, TensorList tensors1, const Scalar& weight) {
  check_partners(self, tensors1);
  return each(self, [&](const Tensor& t, size_t i) { return at::_ops::lerp_Scalar::call(t, tensors1[i], weight); });
}
std::vector<Tensor> foreach_lerp_scalars(TensorList self, TensorList tensors1, ArrayRef<Scalar> weight) {
  check_partners(self, tensors1);
  check_scalars(self, weight);
  return each(self, [&](const Tensor& t, size_t i) { return at::_ops::lerp_Scalar::call(t, tensors1[i], weight[i]); });
}

void foreach_lerp_list_(TensorList self, TensorList tensors1, TensorList weights) {
  check_partners(self, tensors1);
  check_partners(self, weights);
  each_(self, [&](const Tensor& t, size_t i) { return at::_ops::lerp__Tensor::call(mut(t), tensors1[i], weights[i]); });
}
void foreach_lerp_scalar_(TensorList self, TensorList tensors1, const Scalar& weight) {
  check_partners(self, tensors1);
  each_(self, [&](const Tensor& t, size_t i) { return at::_ops::lerp__Scalar::call(mut(t), tensors1[i], weight); });
}
void foreach_lerp_scalars_(TensorList self, TensorList tensors1, ArrayRef<Scalar> weight) {
  check_partners(self, tensors1);
  check_scalars(self, weight);
  each_(self, [&](const Tensor& t, size_t i) { return at::_ops::lerp__Scalar::call(mut(t), tensors1[i], weight[i]); });
}

} // namespace at::native
