#include <csrc/nn/utils/orthogonal.h>

#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>
#include <csrc/nn/cloneable.h>
#include <csrc/nn/computed_tensor.h>
#include <csrc/nn/utils/parametrize.h>

#include <limits>
#include <ostream>

namespace torch::nn::utils::parametrizations {

namespace {

double epsilon_of(c10::ScalarType dtype) {
  switch (c10::toRealValueType(dtype)) {
    case at::kDouble:
      return std::numeric_limits<double>::epsilon();
    case at::kFloat:
      return std::numeric_limits<float>::epsilon();
    case at::kHalf:
      return 0x1p-10;
    default:
      return 0x1p-7; // bfloat16
  }
}

Tensor identity_like(const Tensor& matrix, int64_t size) {
  return at::eye(size, matrix.options().requires_grad(false));
}

bool has_orthonormal_columns(const Tensor& q) {
  const double eps = 10.0 * static_cast<double>(q.size(-2)) * epsilon_of(q.scalar_type());
  return at::allclose(q.mH().matmul(q), identity_like(q, q.size(-1)), /*rtol=*/1e-5, /*atol=*/eps);
}

/// The factor Q of the QR decomposition of a matrix with at least as many rows as columns; the diagonal of R is not
/// negative.
Tensor orthonormal_columns(const Tensor& matrix) {
  const auto [reflectors, tau] = at::geqrf(matrix);
  return at::linalg_householder_product(reflectors, tau) * reflectors.diagonal(0, -2, -1).sgn().unsqueeze(-2);
}

class Orthogonal final : public Cloneable<Orthogonal> {
 public:
  Orthogonal(const Tensor& weight, OrthogonalMap map, bool use_trivialization)
      : sizes_(weight.sizes().vec()), map_(map), use_trivialization_(use_trivialization) {
    Orthogonal::reset();
  }

  void reset() override {
    if (use_trivialization_) {
      base_ = register_buffer("base", at::empty({0}));
    }
  }
  void pretty_print(std::ostream& stream) const override {
    stream << "Orthogonal";
  }

  Tensor forward(const Tensor& original) {
    const bool wide = original.size(-2) < original.size(-1);
    const Tensor tall = wide ? original.mT() : original;
    Tensor q = map_ == OrthogonalMap::kHouseholder ? product_of_reflections(tall) : image_of_skew(tall);
    if (has_base()) {
      q = base_.matmul(q);
    }
    return wide ? q.mT() : q;
  }

  Tensor right_inverse(const Tensor& value) {
    const c10::NoGradGuard no_grad;
    TORCH_CHECK_VALUE(
        value.sizes() == sizes_, "Expected a matrix or batch of matrices of shape ", IntArrayRef(sizes_),
        ". Got a tensor of shape ", value.sizes(), ".");
    const bool wide = value.size(-2) < value.size(-1);
    const Tensor tall = wide ? value.mT() : value;
    if (use_trivialization_) {
      // Assigning the handle would leave the registered buffer as it is.
      base_.set_data(square_with_columns(tall));
      // The point that householder maps to the identity; the other maps do not read the diagonal.
      Tensor original = at::zeros_like(value);
      original.diagonal(0, -2, -1).fill_(-1);
      return original;
    }
    TORCH_CHECK_NOT_IMPLEMENTED(
        map_ == OrthogonalMap::kHouseholder,
        "It is not possible to assign to the matrix exponential or the Cayley parametrizations when "
        "use_trivialization=False.");
    const Tensor original = reflections_to(tall);
    return wide ? original.mT() : original;
  }

 private:
  /// Not before the first right_inverse: a further parametrization of a tensor has none.
  bool has_base() const {
    return use_trivialization_ && base_.dim() >= 2;
  }

  /// exp or Cayley of the skew-hermitian matrix whose first columns have this lower triangle.
  Tensor image_of_skew(const Tensor& tall) const {
    const int64_t n = tall.size(-2), k = tall.size(-1);
    Tensor lower = tall.tril();
    if (n != k) {
      std::vector<int64_t> rest = tall.sizes().vec();
      rest.back() = n - k;
      lower = at::cat({lower, at::zeros(rest, tall.options().requires_grad(false))}, -1);
    }
    const Tensor skew = lower - lower.mH();
    const Tensor q = map_ == OrthogonalMap::kMatrixExp ? at::matrix_exp(skew) : cayley(skew);
    return n == k ? q : q.narrow(-1, 0, k);
  }
  static Tensor cayley(const Tensor& skew) {
    const Tensor identity = identity_like(skew, skew.size(-1));
    return at::linalg_solve(at::add(identity, skew, -0.5), at::add(identity, skew, 0.5));
  }

  /// The signs on the diagonal are kept as they are, without a gradient.
  static Tensor product_of_reflections(const Tensor& tall) {
    const Tensor vectors = tall.tril(-1);
    const Tensor tau = 2.0 / (1.0 + (vectors * vectors).sum(-2));
    return at::linalg_householder_product(vectors, tau) * tall.diagonal(0, -2, -1).to(at::kInt).unsqueeze(-2);
  }
  static Tensor reflections_to(const Tensor& q) {
    auto [reflectors, tau] = at::geqrf(q);
    // Where LAPACK leaves a column as it is, tau is 0 and the diagonal has the column's own sign, not the opposite one.
    const Tensor unchanged = at::eq(tau, 0);
    Tensor signs = reflectors.diagonal(0, -2, -1);
    signs.sign_();
    signs.copy_(at::where(unchanged, -signs, signs));
    return reflectors;
  }

  /// An orthogonal matrix whose first columns are those of `tall`, made orthonormal where they are not.
  static Tensor square_with_columns(const Tensor& tall) {
    const int64_t n = tall.size(-2), k = tall.size(-1);
    if (n == k) {
      return has_orthonormal_columns(tall) ? tall.clone() : orthonormal_columns(tall);
    }
    std::vector<int64_t> rest = tall.sizes().vec();
    rest.back() = n - k;
    return orthonormal_columns(at::cat({tall, at::randn(rest, tall.options().requires_grad(false))}, -1));
  }

  std::vector<int64_t> sizes_;
  OrthogonalMap map_;
  bool use_trivialization_;
  Tensor base_;
};

} // namespace

void orthogonal(
    Module& module, const std::string& name, std::optional<OrthogonalMap> orthogonal_map, bool use_trivialization) {
  const auto computed = nn::detail::find_computed(module, name);
  const Tensor weight = computed ? computed->target() : nn::detail::find_tensor(module, name);
  TORCH_CHECK_VALUE(weight.defined(), "Module '", module.name(), "' has no parameter or buffer with name '", name, "'");
  TORCH_CHECK_VALUE(
      weight.dim() >= 2, "Expected a matrix or batch of matrices. Got a tensor of ", weight.dim(), " dimensions: '",
      name, "' of ", module.name(), " is ", weight.sizes());
  const OrthogonalMap map = orthogonal_map.value_or(
      weight.size(-2) == weight.size(-1) || weight.is_complex() ? OrthogonalMap::kMatrixExp
                                                                : OrthogonalMap::kHouseholder);
  TORCH_CHECK_VALUE(
      map != OrthogonalMap::kHouseholder || !weight.is_complex(),
      "The householder parametrization does not support complex tensors; '", name, "' of ", module.name(), " is ",
      weight.scalar_type(), ": use kMatrixExp or kCayley");
  auto parametrization =
      parametrize::detail::parametrization_of(std::make_shared<Orthogonal>(weight.detach(), map, use_trivialization));
  parametrization.repeatable = [](const Module&) { return true; };
  parametrize::detail::add(module, name, std::move(parametrization), /*unsafe=*/true);
}

void orthogonal(Module& module, const std::string& name) {
  orthogonal(module, name, std::nullopt);
}

} // namespace torch::nn::utils::parametrizations
