#include <csrc/nn/utils/parametrizations.h>

#include <aten/Functions.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>
#include <csrc/nn/cloneable.h>
#include <csrc/nn/computed_tensor.h>
#include <csrc/nn/functional/normalization.h>
#include <csrc/nn/utils/power_method.h>

#include <ostream>

namespace torch::nn::utils::parametrizations {

namespace {

class WeightNorm final : public Cloneable<WeightNorm> {
 public:
  explicit WeightNorm(int64_t dim) : dim_(dim) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override {
    stream << "WeightNorm(dim=" << dim_ << ")";
  }

  Tensor forward(const Tensor& length, const Tensor& direction) {
    return at::_weight_norm(direction, length, dim_);
  }
  std::tuple<Tensor, Tensor> right_inverse(const Tensor& weight) {
    return {at::norm_except_dim(weight, 2, dim_), weight};
  }

 private:
  int64_t dim_;
};

class SpectralNorm final : public Cloneable<SpectralNorm> {
 public:
  SpectralNorm(const Tensor& weight, int64_t n_power_iterations, double eps, int64_t dim)
      : n_power_iterations_(n_power_iterations), eps_(eps), dim_(dim), is_vector_(weight.dim() == 1) {
    SpectralNorm::reset();
    if (is_vector_) {
      return;
    }
    const c10::NoGradGuard no_grad;
    const Tensor matrix = utils::detail::weight_matrix(weight, dim_);
    // Assigning the handles would leave the registered buffers as they are.
    u_.set_data(utils::detail::random_direction(weight, matrix.size(0), eps_));
    v_.set_data(utils::detail::random_direction(weight, matrix.size(1), eps_));
    iterate(matrix, 15);
  }

  void reset() override {
    if (is_vector_) {
      return;
    }
    u_ = register_buffer("_u", at::empty({0}));
    v_ = register_buffer("_v", at::empty({0}));
  }
  void pretty_print(std::ostream& stream) const override {
    stream << "SpectralNorm(n_power_iterations=" << n_power_iterations_ << ", dim=" << dim_ << ")";
  }

  Tensor forward(const Tensor& weight) {
    if (is_vector_) {
      return functional::normalize(weight, functional::NormalizeFuncOptions().dim(0).eps(eps_));
    }
    const Tensor matrix = utils::detail::weight_matrix(weight, dim_);
    if (is_training()) {
      iterate(matrix, n_power_iterations_);
    }
    return utils::detail::divided_by_norm(weight, matrix, u_, v_);
  }
  Tensor right_inverse(const Tensor& value) {
    return value;
  }

 private:
  void iterate(const Tensor& matrix, int64_t count) {
    const c10::NoGradGuard no_grad;
    for (int64_t i = 0; i < count; ++i) {
      utils::detail::set_direction(u_, matrix.mv(v_), eps_);
      utils::detail::set_direction(v_, matrix.mH().mv(u_), eps_);
    }
  }

  int64_t n_power_iterations_;
  double eps_;
  int64_t dim_;
  bool is_vector_;
  Tensor u_, v_;
};

} // namespace

void weight_norm(Module& module, const std::string& name, std::optional<int64_t> dim) {
  auto parametrization = parametrize::detail::parametrization_of(std::make_shared<WeightNorm>(dim.value_or(-1)));
  parametrization.repeatable = [](const Module&) { return true; };
  parametrize::detail::add(module, name, std::move(parametrization), /*unsafe=*/true);
}

void spectral_norm(
    Module& module, const std::string& name, int64_t n_power_iterations, double eps, std::optional<int64_t> dim) {
  const auto computed = nn::detail::find_computed(module, name);
  const Tensor weight = computed ? computed->target() : nn::detail::find_tensor(module, name);
  TORCH_CHECK_VALUE(weight.defined(), "Module '", module.name(), "' has no parameter or buffer with name '", name, "'");
  utils::detail::check_power_iterations(n_power_iterations);
  const int64_t rows = utils::detail::output_dim(module, weight, dim);
  auto parametrization = parametrize::detail::parametrization_of(
      std::make_shared<SpectralNorm>(weight.detach(), n_power_iterations, eps, rows));
  parametrization.repeatable = [](const Module& m) { return !m.is_training(); };
  parametrize::detail::add(module, name, std::move(parametrization), /*unsafe=*/false);
}

} // namespace torch::nn::utils::parametrizations
