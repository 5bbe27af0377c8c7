#include "gradients.h"

#include <ATen/ATen.h>
#include <torch/autograd.h>

#include <cmath>

#include "agreement.h"

namespace programs {

namespace {

using test::Tolerance;

void collect_outputs(const c10::IValue& value, std::vector<at::Tensor>& outputs) {
  if (value.isTensor()) {
    const at::Tensor& tensor = value.toTensor();
    if (tensor.defined() && tensor.is_floating_point() && tensor.requires_grad()) {
      outputs.push_back(tensor);
    }
  } else if (value.isList()) {
    for (const c10::IValue& element : value.toListRef()) {
      collect_outputs(element, outputs);
    }
  } else if (value.isTuple()) {
    for (const c10::IValue& element : value.toTupleRef().elements()) {
      collect_outputs(element, outputs);
    }
  } else if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict()) {
      collect_outputs(entry.value(), outputs);
    }
  }
}

at::Tensor weights(const at::Tensor& like) {
  return at::arange(like.numel(), like.options().dtype(at::kDouble).requires_grad(false)).cos();
}

at::Tensor weighted_sum(const at::Tensor& tensor) {
  return (tensor.to(at::kDouble).reshape({-1}) * weights(tensor)).sum();
}

std::string compare_number(const char* what, double got, double want, double allowed) {
  if (std::abs(got - want) <= allowed || (std::isnan(got) && std::isnan(want))) {
    return {};
  }
  return std::string(what) + ": got " + std::to_string(got) + ", want " + std::to_string(want);
}

/// `[sum(g), norm(g), sum(g[i] * cos(i))]`. Sums cancel, so that what they may differ by follows from the norm.
std::string compare_digest(const at::Tensor& gradient, const Json& want, Tolerance tolerance) {
  const at::Tensor exact = gradient.detach().to(at::kDouble);
  const double norm = want.items().at(1).as_double();
  const double allowed = tolerance.atol + tolerance.rtol * norm;
  std::string difference = compare_number("norm", exact.norm().item<double>(), norm, allowed);
  if (difference.empty()) {
    difference = compare_number("sum", exact.sum().item<double>(), want.items().at(0).as_double(), allowed);
  }
  if (difference.empty()) {
    difference =
        compare_number("weighted sum", weighted_sum(exact).item<double>(), want.items().at(2).as_double(), allowed);
  }
  return difference;
}

class GradientCheck {
 public:
  GradientCheck(
      const std::map<std::string, at::Tensor>& parameters,
      const std::vector<c10::IValue>& arguments,
      const SafeTensors& tensors,
      Tolerance tolerance)
      : parameters_(parameters), arguments_(arguments), tensors_(tensors), tolerance_(tolerance) {}

  std::string compare(const std::string& name, const Json& want, bool is_digest) const {
    const at::Tensor holder = find(name);
    if (!holder.defined()) {
      return "no parameter or argument " + name;
    }
    const at::Tensor gradient = holder.grad();
    if (want.is_null()) {
      return gradient.defined() ? "gradient of " + name + ": got one, want none" : "";
    }
    if (!gradient.defined()) {
      return "gradient of " + name + ": got none";
    }
    const std::string difference =
        is_digest ? compare_digest(gradient, want, tolerance_) : compare_tensor(gradient, want, tensors_, tolerance_);
    return difference.empty() ? "" : "gradient of " + name + ": " + difference;
  }

 private:
  at::Tensor find(const std::string& name) const {
    if (name.rfind("arg:", 0) == 0) {
      const c10::IValue& argument = arguments_.at(std::stoul(name.substr(4)));
      return argument.isTensor() ? argument.toTensor() : at::Tensor();
    }
    const auto found = parameters_.find(name);
    return found != parameters_.end() ? found->second : at::Tensor();
  }

  const std::map<std::string, at::Tensor>& parameters_;
  const std::vector<c10::IValue>& arguments_;
  const SafeTensors& tensors_;
  Tolerance tolerance_;
};

} // namespace

std::string compare_gradients(
    const c10::IValue& result,
    const std::map<std::string, at::Tensor>& parameters,
    const std::vector<c10::IValue>& arguments,
    const Json& record,
    const SafeTensors& tensors,
    Tolerance tolerance) {
  std::vector<at::Tensor> outputs;
  collect_outputs(result, outputs);
  if (outputs.empty()) {
    return "nothing that was returned requires grad";
  }
  at::Tensor loss = weighted_sum(outputs[0]);
  for (size_t k = 1; k < outputs.size(); ++k) {
    loss = loss + weighted_sum(outputs[k]);
  }
  const Tolerance loose{1e-3, 10 * tolerance.atol};
  const double want = record.at("loss").as_double();
  const double size = std::sqrt(static_cast<double>(outputs[0].numel()));
  std::string difference =
      compare_number("loss", loss.item<double>(), want, loose.atol * size + loose.rtol * std::abs(want));
  if (!difference.empty()) {
    return difference;
  }
  torch::autograd::backward({loss}, {});
  const GradientCheck check(parameters, arguments, tensors, loose);
  for (const char* form : {"full", "digest"}) {
    const Json* gradients = record.find(form);
    if (gradients == nullptr) {
      continue;
    }
    for (const auto& [name, wanted] : gradients->members()) {
      difference = check.compare(name, wanted, std::string(form) == "digest");
      if (!difference.empty()) {
        return difference;
      }
    }
  }
  return {};
}

} // namespace programs
