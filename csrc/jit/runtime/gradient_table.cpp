#include <csrc/jit/runtime/gradient_table.h>

namespace torch::jit {

const char* gradientHelpers() {
  return R"(
def numel_of(sizes: List[int]) -> int:
    count = 1
    for size in sizes:
        count *= size
    return count

def reduced_numel(sizes: List[int], dims: Optional[List[int]]) -> int:
    if dims is None or len(dims) == 0:
        return numel_of(sizes)
    count = 1
    for dim in dims:
        count *= sizes[dim]
    return count

def restore_dims(reduced: Tensor, sizes: List[int], dims: Optional[List[int]], keepdim: bool) -> Tensor:
    kept = [size for size in sizes]
    if dims is None or len(dims) == 0:
        kept = [1 for size in sizes]
    else:
        for dim in dims:
            kept[dim] = 1
    return reduced.reshape(kept)

def sum_to_optional(grad: Tensor, like: Optional[Tensor]) -> Tensor:
    if like is None:
        return grad
    return grad._grad_sum_to_size(like.size())

def var_grad(grad: Tensor, x: Tensor, dims: Optional[List[int]], unbiased: bool, keepdim: bool) -> Tensor:
    count = reduced_numel(x.size(), dims) - int(unbiased)
    if dims is None or len(dims) == 0:
        mean = x.mean()
    else:
        mean = x.mean(dims, True)
    return restore_dims(grad, x.size(), dims, keepdim) * (x - mean) * (2.0 / count)

def std_grad(grad: Tensor, result: Tensor, x: Tensor, dims: Optional[List[int]], unbiased: bool,
             keepdim: bool) -> Tensor:
    of_variance = (grad / (result * 2)).masked_fill(result == 0, 0)
    return var_grad(of_variance, x, dims, unbiased, keepdim)

def logsumexp_grad(grad: Tensor, result: Tensor, x: Tensor, dims: List[int], keepdim: bool) -> Tensor:
    spread = restore_dims(grad, x.size(), dims, keepdim)
    return spread * (x - restore_dims(result, x.size(), dims, keepdim)).exp()

def inverse_permute(grad: Tensor, dims: List[int]) -> Tensor:
    inverse = [0 for dim in dims]
    for i in range(len(dims)):
        inverse[dims[i]] = i
    return grad.permute(inverse)

def matmul_grad_self(grad: Tensor, x: Tensor, y: Tensor) -> Tensor:
    if y.dim() == 1:
        out = grad.unsqueeze(-1) * y
        if x.dim() == 1:
            out = grad * y
    elif x.dim() == 1:
        out = torch.matmul(grad.unsqueeze(-2), y.transpose(-2, -1)).squeeze(-2)
    else:
        out = torch.matmul(grad, y.transpose(-2, -1))
    return out._grad_sum_to_size(x.size())

def matmul_grad_other(grad: Tensor, x: Tensor, y: Tensor) -> Tensor:
    if x.dim() == 1:
        if y.dim() == 1:
            out = grad * x
        else:
            out = x.unsqueeze(-1) * grad.unsqueeze(-2)
    elif y.dim() == 1:
        out = torch.matmul(x.transpose(-2, -1), grad.unsqueeze(-1)).squeeze(-1)
    else:
        out = torch.matmul(x.transpose(-2, -1), grad)
    return out._grad_sum_to_size(y.size())

def linear_grad_weight(grad: Tensor, x: Tensor) -> Tensor:
    return torch.mm(grad.reshape([-1, grad.size(-1)]).t(), x.reshape([-1, x.size(-1)]))

def pow_grad_self(grad: Tensor, x: Tensor, exponent: number) -> Tensor:
    if float(exponent) == 0.0:
        return torch.zeros_like(x)
    return grad * (torch.pow(x, float(exponent) - 1.0) * exponent)

def clamp_grad(grad: Tensor, x: Tensor, low: Optional[number], high: Optional[number]) -> Tensor:
    out = grad
    if low is not None:
        out = out.masked_fill(x < low, 0)
    if high is not None:
        out = out.masked_fill(x > high, 0)
    return out

def conv2d_grad(grad: Tensor, x: Tensor, weight: Tensor, stride: List[int], padding: List[int],
                mask: List[bool]) -> Tuple[Tensor, Tensor, Tensor]:
    return torch.convolution_backward(grad, x, weight, [weight.size(0)], stride, padding, [1, 1], False, [0, 0], 1, mask)

def dropout_grad(grad: Tensor, mask: Tensor, p: float, train: bool) -> Tensor:
    if not train:
        return grad
    if p == 1.0:
        return torch.zeros_like(grad)
    return grad * mask * (1.0 / (1.0 - p))
)";
}

namespace {

constexpr const char* kSameSizes = "grad._grad_sum_to_size(self_size)";
constexpr const char* kZeros = "torch.zeros_like(grad)";
constexpr const char* kReshaped = "grad.reshape(self_sizes)";

std::vector<GradientRow> functions_of_one() {
  return {
      {"aten::abs", {{"self", "grad * self.sign()"}}},
      {"aten::acos", {{"self", "-grad * (1 - self * self).rsqrt()"}}},
      {"aten::asin", {{"self", "grad * (1 - self * self).rsqrt()"}}},
      {"aten::atan", {{"self", "grad / (self * self + 1)"}}},
      {"aten::ceil", {{"self", kZeros}}},
      {"aten::clamp", {{"self", "clamp_grad(grad, self, min, max)"}}},
      {"aten::cos", {{"self", "grad * -self.sin()"}}},
      {"aten::cosh", {{"self", "grad * self.sinh()"}}},
      {"aten::erf", {{"self", "grad * (-self * self).exp() * 1.1283791670955126"}}},
      {"aten::erfc", {{"self", "grad * (-self * self).exp() * -1.1283791670955126"}}},
      {"aten::exp", {{"self", "grad * result"}}},
      {"aten::expm1", {{"self", "grad * (result + 1)"}}},
      {"aten::floor", {{"self", kZeros}}},
      {"aten::fmod.Scalar", {{"self", "grad"}}},
      {"aten::frac", {{"self", "grad"}}},
      {"aten::gelu", {{"self", "torch.gelu_backward(grad, self, approximate=approximate)"}}},
      {"aten::hardshrink", {{"self", "torch.hardshrink_backward(grad, self, lambd)"}}},
      {"aten::hardsigmoid", {{"self", "torch.hardsigmoid_backward(grad, self)"}}},
      {"aten::hardswish", {{"self", "torch.hardswish_backward(grad, self)"}}},
      {"aten::hardtanh", {{"self", "torch.hardtanh_backward(grad, self, min_val, max_val)"}}},
      {"aten::leaky_relu", {{"self", "torch.leaky_relu_backward(grad, self, negative_slope, False)"}}},
      {"aten::log", {{"self", "grad / self"}}},
      {"aten::log10", {{"self", "grad / (self * 2.302585092994046)"}}},
      {"aten::log1p", {{"self", "grad / (self + 1)"}}},
      {"aten::log2", {{"self", "grad / (self * 0.6931471805599453)"}}},
      {"aten::neg", {{"self", "-grad"}}},
      {"aten::reciprocal", {{"self", "-grad * result * result"}}},
      {"aten::relu", {{"self", "grad * (result > 0)"}}},
      {"aten::relu6", {{"self", "torch.hardtanh_backward(grad, self, 0, 6)"}}},
      {"aten::remainder.Scalar", {{"self", "grad"}}},
      {"aten::round", {{"self", kZeros}}},
      {"aten::rsqrt", {{"self", "grad * result * result * result * -0.5"}}},
      {"aten::sigmoid", {{"self", "grad * (1 - result) * result"}}},
      {"aten::silu", {{"self", "torch.silu_backward(grad, self)"}}},
      {"aten::sin", {{"self", "grad * self.cos()"}}},
      {"aten::sinh", {{"self", "grad * self.cosh()"}}},
      {"aten::softplus", {{"self", "torch.softplus_backward(grad, self, beta, threshold)"}}},
      {"aten::sqrt", {{"self", "grad / (result * 2)"}}},
      {"aten::tan", {{"self", "grad * (1 + result * result)"}}},
      {"aten::tanh", {{"self", "grad * (1 - result * result)"}}},
      {"aten::threshold", {{"self", "torch.threshold_backward(grad, self, threshold)"}}},
      {"aten::trunc", {{"self", kZeros}}},
  };
}

std::vector<GradientRow> functions_of_several() {
  return {
      {"aten::add.Tensor", {{"self", kSameSizes}, {"other", "(grad * alpha)._grad_sum_to_size(other_size)"}}},
      {"aten::add.Scalar", {{"self", "grad"}}},
      {"aten::addcmul",
       {{"self", kSameSizes},
        {"tensor1", "(grad * tensor2 * value)._grad_sum_to_size(tensor1_size)"},
        {"tensor2", "(grad * tensor1 * value)._grad_sum_to_size(tensor2_size)"}}},
      {"aten::div.Tensor",
       {{"self", "(grad / other)._grad_sum_to_size(self_size)"},
        {"other", "(-grad * self / (other * other))._grad_sum_to_size(other_size)"}}},
      {"aten::div.Scalar", {{"self", "grad / other"}}},
      {"aten::lerp.Scalar",
       {{"self", "(grad - grad * weight)._grad_sum_to_size(self_size)"},
        {"end", "(grad * weight)._grad_sum_to_size(end_size)"}}},
      {"aten::lerp.Tensor",
       {{"self", "(grad - grad * weight)._grad_sum_to_size(self_size)"},
        {"end", "(grad * weight)._grad_sum_to_size(end_size)"},
        {"weight", "(grad * (end - self))._grad_sum_to_size(weight_size)"}}},
      {"aten::max.other",
       {{"self",
         "torch.where(self == other, grad / 2, grad).masked_fill(self < other, 0)._grad_sum_to_size(self_size)"},
        {"other",
         "torch.where(self == other, grad / 2, grad).masked_fill(self > other, 0)._grad_sum_to_size(other_size)"}}},
      {"aten::min.other",
       {{"self",
         "torch.where(self == other, grad / 2, grad).masked_fill(self > other, 0)._grad_sum_to_size(self_size)"},
        {"other",
         "torch.where(self == other, grad / 2, grad).masked_fill(self < other, 0)._grad_sum_to_size(other_size)"}}},
      {"aten::mul.Tensor",
       {{"self", "(grad * other)._grad_sum_to_size(self_size)"},
        {"other", "(grad * self)._grad_sum_to_size(other_size)"}}},
      {"aten::mul.Scalar", {{"self", "grad * other"}}},
      {"aten::pow.Tensor_Scalar", {{"self", "pow_grad_self(grad, self, exponent)"}}},
      {"aten::pow.Tensor_Tensor",
       {{"self",
         "(grad * exponent * torch.pow(self, exponent - 1)).masked_fill(exponent == 0, "
         "0)._grad_sum_to_size(self_size)"},
        {"exponent",
         "(grad * (result * self.log()).masked_fill(torch.logical_and(self == 0, exponent >= 0), 0))"
         "._grad_sum_to_size(exponent_size)"}}},
      {"aten::rsub.Scalar", {{"self", "-grad * alpha"}}},
      {"aten::sub.Tensor", {{"self", kSameSizes}, {"other", "(-grad * alpha)._grad_sum_to_size(other_size)"}}},
      {"aten::sub.Scalar", {{"self", "grad"}}},
      {"aten::where.self",
       {{"self", "torch.where(condition, grad, torch.zeros_like(grad))._grad_sum_to_size(self_size)"},
        {"other", "torch.where(condition, torch.zeros_like(grad), grad)._grad_sum_to_size(other_size)"}}},
  };
}

std::vector<GradientRow> products() {
  return {
      {"aten::addmm",
       {{"self", "(grad * beta)._grad_sum_to_size(self_size)"},
        {"mat1", "torch.mm(grad, mat2.t()) * alpha"},
        {"mat2", "torch.mm(mat1.t(), grad) * alpha"}}},
      {"aten::bmm",
       {{"self", "torch.bmm(grad, mat2.transpose(1, 2))"}, {"mat2", "torch.bmm(self.transpose(1, 2), grad)"}}},
      {"aten::dot", {{"self", "grad * tensor"}, {"tensor", "grad * self"}}},
      {"aten::linear",
       {{"input", "torch.matmul(grad, weight)"},
        {"weight", "linear_grad_weight(grad, input)"},
        {"bias", "sum_to_optional(grad, bias)"}}},
      {"aten::matmul",
       {{"self", "matmul_grad_self(grad, self, other)"}, {"other", "matmul_grad_other(grad, self, other)"}}},
      {"aten::mm", {{"self", "torch.mm(grad, mat2.t())"}, {"mat2", "torch.mm(self.t(), grad)"}}},
      {"aten::mv", {{"self", "torch.outer(grad, vec)"}, {"vec", "torch.mv(self.t(), grad)"}}},
  };
}

std::vector<GradientRow> views() {
  return {
      {"aten::contiguous", {{"self", "grad"}}},
      {"aten::expand", {{"self", "grad._grad_sum_to_size(self_sizes)"}}},
      {"aten::expand_as", {{"self", "grad._grad_sum_to_size(self_sizes)"}}},
      {"aten::_grad_sum_to_size", {{"self", "grad.expand(self_sizes)"}}},
      {"aten::permute", {{"self", "inverse_permute(grad, dims)"}}},
      {"aten::reshape", {{"self", kReshaped}}},
      {"aten::squeeze", {{"self", kReshaped}}},
      {"aten::squeeze.dim", {{"self", kReshaped}}},
      {"aten::t", {{"self", "grad.t()"}}},
      {"aten::transpose.int", {{"self", "grad.transpose(dim0, dim1)"}}},
      {"aten::type_as", {{"self", "grad.type_as(self)"}}},
      {"aten::unsqueeze", {{"self", "grad.squeeze(dim)"}}},
      {"aten::view", {{"self", kReshaped}}},
  };
}

std::vector<GradientRow> reductions() {
  return {
      {"aten::log_softmax.int", {{"self", "torch._log_softmax_backward_data(grad, result, dim, self.dtype)"}}},
      {"aten::logsumexp", {{"self", "logsumexp_grad(grad, result, self, dim, keepdim)"}}},
      {"aten::mean", {{"self", "grad.expand(self_sizes) / numel_of(self_sizes)"}}},
      {"aten::mean.dim",
       {{"self", "restore_dims(grad, self_sizes, dim, keepdim).expand(self_sizes) / reduced_numel(self_sizes, dim)"}}},
      {"aten::softmax.int", {{"self", "torch._softmax_backward_data(grad, result, dim, self.dtype)"}}},
      {"aten::std", {{"self", "std_grad(grad, result, self, None, unbiased, False)"}}},
      {"aten::std.dim", {{"self", "std_grad(grad, result, self, dim, unbiased, keepdim)"}}},
      {"aten::sum", {{"self", "grad.expand(self_sizes)"}}},
      {"aten::sum.dim_IntList", {{"self", "restore_dims(grad, self_sizes, dim, keepdim).expand(self_sizes)"}}},
      {"aten::var", {{"self", "var_grad(grad, self, None, unbiased, False)"}}},
      {"aten::var.dim", {{"self", "var_grad(grad, self, dim, unbiased, keepdim)"}}},
  };
}

std::vector<GradientRow> layers() {
  return {
      {"aten::adaptive_avg_pool2d", {{"self", "torch._adaptive_avg_pool2d_backward(grad, self)"}}},
      {"aten::avg_pool2d",
       {{"self",
         "torch.avg_pool2d_backward(grad, self, kernel_size, stride, padding, ceil_mode, count_include_pad, "
         "divisor_override)"}}},
      {"aten::batch_norm",
       {{"input",
         "torch.native_batch_norm_backward(grad, input, weight, running_mean, running_var, save_mean, save_invstd, "
         "training, eps, [True, False, False])[0]"},
        {"weight",
         "torch.native_batch_norm_backward(grad, input, weight, running_mean, running_var, save_mean, save_invstd, "
         "training, eps, [False, True, False])[1]"},
        {"bias",
         "torch.native_batch_norm_backward(grad, input, weight, running_mean, running_var, save_mean, save_invstd, "
         "training, eps, [False, False, True])[2]"}},
       "torch.native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)",
       {"save_mean", "save_invstd"}},
      {"aten::dropout",
       {{"input", "dropout_grad(grad, mask, p, train)"}},
       "torch.native_dropout(input, p, train)",
       {"mask"}},
      {"aten::embedding",
       {{"weight",
         "torch.embedding_backward(grad, indices, weight_sizes[0], padding_idx, scale_grad_by_freq, sparse)"}}},
      {"aten::layer_norm",
       {{"input",
         "torch.native_layer_norm_backward(grad, input, normalized_shape, mean, rstd, weight, bias, "
         "[True, False, False])[0]"},
        {"weight",
         "torch.native_layer_norm_backward(grad, input, normalized_shape, mean, rstd, weight, bias, "
         "[False, True, False])[1]"},
        {"bias",
         "torch.native_layer_norm_backward(grad, input, normalized_shape, mean, rstd, weight, bias, "
         "[False, False, True])[2]"}},
       "torch.native_layer_norm(input, normalized_shape, weight, bias, eps)",
       {"mean", "rstd"}},
      {"aten::max_pool2d",
       {{"self",
         "torch.max_pool2d_with_indices_backward(grad, self, kernel_size, stride, padding, dilation, ceil_mode, "
         "indices)"}},
       "torch.max_pool2d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode)",
       {"indices"}},
      {"aten::native_batch_norm",
       {{"input",
         "torch.native_batch_norm_backward(grad, input, weight, running_mean, running_var, result1, result2, training, "
         "eps, [True, False, False])[0]"},
        {"weight",
         "torch.native_batch_norm_backward(grad, input, weight, running_mean, running_var, result1, result2, training, "
         "eps, [False, True, False])[1]"},
        {"bias",
         "torch.native_batch_norm_backward(grad, input, weight, running_mean, running_var, result1, result2, training, "
         "eps, [False, False, True])[2]"}}},
      {"aten::nll_loss",
       {{"self", "torch.nll_loss_backward(grad, self, target, weight, reduction, ignore_index, total_weight)"}},
       "torch.nll_loss_forward(self, target, weight, reduction, ignore_index)",
       {"total_weight"}},
      {"aten::_slow_conv2d_forward",
       {{"self", "conv2d_grad(grad, self, weight, stride, padding, [True, False, False])[0]"},
        {"weight", "conv2d_grad(grad, self, weight, stride, padding, [False, True, False])[1]"},
        {"bias", "conv2d_grad(grad, self, weight, stride, padding, [False, False, True])[2]"}}},
  };
}

// Results that have no gradient.
std::vector<GradientRow> without_gradient() {
  std::vector<GradientRow> rows = {{"aten::nonzero", {}}, {"aten::_dim_arange", {}}};
  for (const char* name :
       {"aten::eq.Scalar", "aten::eq.Tensor", "aten::ge.Scalar", "aten::ge.Tensor", "aten::gt.Scalar",
        "aten::gt.Tensor", "aten::le.Scalar", "aten::le.Tensor", "aten::lt.Scalar", "aten::lt.Tensor",
        "aten::ne.Scalar", "aten::ne.Tensor"}) {
    rows.push_back({name, {}});
  }
  return rows;
}

} // namespace

c10::ArrayRef<GradientRow> gradientRows() {
  static const auto& rows = *[] {
    auto* all = new std::vector<GradientRow>();
    for (const auto family :
         {functions_of_one, functions_of_several, products, views, reductions, layers, without_gradient}) {
      const std::vector<GradientRow> of_family = family();
      all->insert(all->end(), of_family.begin(), of_family.end());
    }
    return all;
  }();
  return rows;
}

} // namespace torch::jit
