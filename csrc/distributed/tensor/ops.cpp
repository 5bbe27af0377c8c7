// Operators on DTensors.
#include <csrc/distributed/tensor/ops.h>

#include <aten/Functions.h>
#include <autograd/function.h>
#include <autograd/functions/utils.h>
#include <autograd/variable.h>
#include <c10/util/Exception.h>

#include <algorithm>

namespace torch::distributed {

namespace {

struct SumGradients final : autograd::Node {
  explicit SumGradients(GroupPtr group_) : group(std::move(group_)) {}
  std::string name() const override {
    return "SharedOperandBackward";
  }
  autograd::variable_list apply(autograd::variable_list&& grads) override {
    if (!grads[0].defined()) {
      return {at::Tensor()};
    }
    std::vector<at::Tensor> tensors{grads[0].clone(at::MemoryFormat::Contiguous)};
    group->allreduce(tensors)->wait();
    return {tensors[0]};
  }
  GroupPtr group;
};

const DeviceMesh& mesh_of(const std::vector<DTensor>& operands) {
  TORCH_CHECK_VALUE(!operands.empty(), "DTensor: an operator has no operands");
  for (const auto& operand : operands) {
    TORCH_CHECK_VALUE(operand.device_mesh() == operands[0].device_mesh(), "DTensor: operands are on different meshes");
  }
  return operands[0].device_mesh();
}

std::vector<int64_t> broadcast_sizes(const std::vector<DTensor>& operands) {
  std::vector<int64_t> sizes;
  for (const auto& operand : operands) {
    const auto own = operand.sizes();
    if (own.size() > sizes.size()) {
      sizes.insert(sizes.begin(), own.size() - sizes.size(), 1);
    }
    for (size_t i = 0; i < own.size(); ++i) {
      auto& size = sizes[sizes.size() - own.size() + i];
      TORCH_CHECK_VALUE(
          size == own[i] || size == 1 || own[i] == 1, "The size of tensor a (", size,
          ") must match the size of tensor b (", own[i], ") at non-singleton dimension ", i);
      size = size == 1 ? own[i] : size;
    }
  }
  return sizes;
}

// Along one dimension of the mesh: how the operands must lie, and how the result lies then.
struct Rule {
  std::vector<AnyPlacement> operands;
  AnyPlacement result;
};

bool is_partial(const AnyPlacement& placement, const char* op = "sum") {
  const auto* partial = std::get_if<Partial>(&placement);
  return partial && partial->reduce_op == op;
}

// Moves the operands, computes, and says how the result lies. An operand that all have alike where the result is cut or
// not reduced gets the sum of its gradients.
DTensor apply(
    const std::function<at::Tensor(const std::vector<at::Tensor>&)>& op,
    std::vector<DTensor> operands,
    const std::vector<Rule>& rules,
    std::vector<int64_t> sizes) {
  const DeviceMesh mesh = mesh_of(operands);
  Placements result;
  for (const auto& rule : rules) {
    result.push_back(rule.result);
  }
  std::vector<at::Tensor> locals;
  for (size_t i = 0; i < operands.size(); ++i) {
    Placements wanted;
    for (const auto& rule : rules) {
      wanted.push_back(rule.operands[i]);
    }
    at::Tensor local = operands[i].redistribute(wanted).to_local();
    for (size_t d = 0; d < rules.size(); ++d) {
      const bool differs = !std::holds_alternative<Replicate>(result[d]);
      const bool others_cut = std::any_of(
          rules[d].operands.begin(), rules[d].operands.end(),
          [](const auto& placement) { return !std::holds_alternative<Replicate>(placement); });
      if (std::holds_alternative<Replicate>(wanted[d]) && differs && others_cut) {
        local = detail::shared_by(local, mesh.get_group(static_cast<int64_t>(d)));
      }
    }
    locals.push_back(local);
  }
  return DTensor::from_local(op(locals), mesh, result, std::move(sizes));
}

} // namespace

at::Tensor detail::shared_by(const at::Tensor& tensor, const GroupPtr& group) {
  if (!c10::GradMode::is_enabled() || !tensor.requires_grad() || group->getSize() == 1) {
    return tensor;
  }
  const auto node = std::make_shared<SumGradients>(group);
  node->set_next_edges(autograd::edge_list{autograd::impl::gradient_edge(tensor)});
  auto result = tensor.detach();
  autograd::set_history(result, std::shared_ptr<autograd::Node>(node));
  return result;
}

DTensor pointwise(
    const std::function<at::Tensor(const std::vector<at::Tensor>&)>& op,
    const std::vector<DTensor>& operands,
    bool linear) {
  const DeviceMesh& mesh = mesh_of(operands);
  auto sizes = broadcast_sizes(operands);
  std::vector<Rule> rules;
  for (size_t d = 0; d < static_cast<size_t>(mesh.ndim()); ++d) {
    const bool all_sums = linear && std::all_of(operands.begin(), operands.end(), [&](const DTensor& operand) {
                            return is_partial(operand.placements()[d]);
                          });
    // The first cut dimension, counted in the result.
    int64_t cut = -1;
    for (const auto& operand : operands) {
      const int64_t dim = shard_dim(operand.placements()[d]);
      if (cut < 0 && dim >= 0 &&
          operand.sizes()[static_cast<size_t>(dim)] == sizes[sizes.size() - static_cast<size_t>(operand.dim() - dim)]) {
        cut = dim + static_cast<int64_t>(sizes.size()) - operand.dim();
      }
    }
    Rule rule;
    for (const auto& operand : operands) {
      const int64_t dim = cut - static_cast<int64_t>(sizes.size()) + operand.dim();
      const bool has_it =
          cut >= 0 && dim >= 0 && operand.sizes()[static_cast<size_t>(dim)] == sizes[static_cast<size_t>(cut)];
      rule.operands.push_back(
          all_sums     ? AnyPlacement(Partial())
              : has_it ? AnyPlacement(Shard(dim))
                       : AnyPlacement(Replicate()));
    }
    rule.result = all_sums ? AnyPlacement(Partial()) : cut >= 0 ? AnyPlacement(Shard(cut)) : AnyPlacement(Replicate());
    rules.push_back(std::move(rule));
  }
  return apply(op, operands, rules, std::move(sizes));
}

DTensor operator+(const DTensor& a, const DTensor& b) {
  return pointwise([](const auto& x) { return x[0] + x[1]; }, {a, b}, /*linear=*/true);
}

DTensor operator-(const DTensor& a, const DTensor& b) {
  return pointwise([](const auto& x) { return x[0] - x[1]; }, {a, b}, /*linear=*/true);
}

DTensor operator*(const DTensor& a, const DTensor& b) {
  return pointwise([](const auto& x) { return x[0] * x[1]; }, {a, b});
}

DTensor operator/(const DTensor& a, const DTensor& b) {
  return pointwise([](const auto& x) { return x[0] / x[1]; }, {a, b});
}

DTensor operator*(const DTensor& a, double factor) {
  return pointwise([factor](const auto& x) { return x[0] * factor; }, {a}, /*linear=*/true);
}

DTensor relu(const DTensor& x) {
  return pointwise([](const auto& t) { return at::relu(t[0]); }, {x});
}

DTensor gelu(const DTensor& x) {
  return pointwise([](const auto& t) { return at::gelu(t[0]); }, {x});
}

DTensor tanh(const DTensor& x) {
  return pointwise([](const auto& t) { return at::tanh(t[0]); }, {x});
}

DTensor matmul(const DTensor& a, const DTensor& b) {
  TORCH_CHECK_VALUE(
      a.dim() == 2 && b.dim() == 2 && a.sizes()[1] == b.sizes()[0], "DTensor matmul: shapes ", a.sizes(), " and ",
      b.sizes(), " cannot be multiplied: two matrices that fit are needed");
  std::vector<Rule> rules;
  for (size_t d = 0; d < a.placements().size(); ++d) {
    const auto& first = a.placements()[d];
    const auto& second = b.placements()[d];
    const Replicate whole;
    if (shard_dim(first) == 1 || (shard_dim(second) == 0 && shard_dim(first) != 0)) {
      rules.push_back({{Shard(1), Shard(0)}, Partial()});
    } else if (shard_dim(first) == 0) {
      rules.push_back({{Shard(0), whole}, Shard(0)});
    } else if (shard_dim(second) == 1) {
      rules.push_back({{whole, Shard(1)}, Shard(1)});
    } else if (is_partial(first) && !is_partial(second)) {
      rules.push_back({{Partial(), whole}, Partial()});
    } else if (is_partial(second) && !is_partial(first)) {
      rules.push_back({{whole, Partial()}, Partial()});
    } else {
      rules.push_back({{whole, whole}, whole});
    }
  }
  return apply([](const auto& x) { return at::matmul(x[0], x[1]); }, {a, b}, rules, {a.sizes()[0], b.sizes()[1]});
}

DTensor linear(const DTensor& x, const DTensor& weight, const DTensor& bias) {
  TORCH_CHECK_VALUE(
      x.dim() >= 1 && weight.dim() == 2 && x.sizes().back() == weight.sizes()[1], "DTensor linear: input ", x.sizes(),
      " and weight ", weight.sizes(), " do not fit");
  const int64_t last = x.dim() - 1;
  auto sizes = x.sizes().vec();
  sizes.back() = weight.sizes()[0];
  std::vector<Rule> rules;
  for (size_t d = 0; d < x.placements().size(); ++d) {
    const int64_t of_x = shard_dim(x.placements()[d]);
    const int64_t of_weight = shard_dim(weight.placements()[d]);
    const Replicate whole;
    if (of_x == last || (of_weight == 1 && of_x < 0)) {
      rules.push_back({{Shard(last), Shard(1)}, Partial()});
    } else if (of_x >= 0) {
      rules.push_back({{Shard(of_x), whole}, Shard(of_x)});
    } else if (of_weight == 0) {
      rules.push_back({{whole, Shard(0)}, Shard(last)});
    } else {
      rules.push_back({{whole, whole}, whole});
    }
  }
  const DTensor product =
      apply([](const auto& t) { return at::linear(t[0], t[1]); }, {x, weight}, rules, std::move(sizes));
  return bias.defined() ? product + bias : product;
}

DTensor sum(const DTensor& x, std::optional<int64_t> dim, bool keepdim) {
  const int64_t wanted = dim ? (*dim < 0 ? *dim + x.dim() : *dim) : -1;
  TORCH_CHECK_INDEX(
      !dim || (wanted >= 0 && wanted < x.dim()), "Dimension out of range (expected to be in range of [", -x.dim(), ", ",
      x.dim() - 1, "], but got ", dim.value_or(0), ")");
  std::vector<int64_t> sizes;
  for (int64_t d = 0; dim && d < x.dim(); ++d) {
    if (d != wanted) {
      sizes.push_back(x.sizes()[static_cast<size_t>(d)]);
    } else if (keepdim) {
      sizes.push_back(1);
    }
  }
  std::vector<Rule> rules;
  for (const auto& placement : x.placements()) {
    const int64_t cut = shard_dim(placement);
    if (is_partial(placement)) {
      rules.push_back({{placement}, Partial()});
    } else if (cut < 0) {
      rules.push_back({{Replicate()}, Replicate()});
    } else if (!dim || cut == wanted) {
      rules.push_back({{placement}, Partial()});
    } else {
      rules.push_back({{placement}, Shard(cut > wanted && !keepdim ? cut - 1 : cut)});
    }
  }
  return apply(
      [=](const auto& t) { return dim ? t[0].sum({wanted}, keepdim) : t[0].sum(); }, {x}, rules, std::move(sizes));
}

DTensor mean(const DTensor& x, std::optional<int64_t> dim, bool keepdim) {
  const DTensor total = sum(x, dim, keepdim);
  const int64_t count =
      dim ? x.sizes()[static_cast<size_t>(*dim < 0 ? *dim + x.dim() : *dim)] : c10::multiply_integers(x.sizes());
  return total * (1.0 / static_cast<double>(count));
}

DTensor transpose(const DTensor& x, int64_t dim0, int64_t dim1) {
  const int64_t first = dim0 < 0 ? dim0 + x.dim() : dim0;
  const int64_t second = dim1 < 0 ? dim1 + x.dim() : dim1;
  TORCH_CHECK_INDEX(
      first >= 0 && second >= 0 && first < x.dim() && second < x.dim(), "DTensor transpose: dimensions ", dim0, " and ",
      dim1, " are out of range for ", x.sizes());
  auto sizes = x.sizes().vec();
  std::swap(sizes[static_cast<size_t>(first)], sizes[static_cast<size_t>(second)]);
  std::vector<Rule> rules;
  for (const auto& placement : x.placements()) {
    const int64_t cut = shard_dim(placement);
    rules.push_back(
        {{placement},
         cut == first        ? AnyPlacement(Shard(second))
             : cut == second ? AnyPlacement(Shard(first))
                             : placement});
  }
  return apply([=](const auto& t) { return t[0].transpose(first, second); }, {x}, rules, std::move(sizes));
}

DTensor softmax(const DTensor& x, int64_t dim) {
  const int64_t wanted = dim < 0 ? dim + x.dim() : dim;
  std::vector<Rule> rules;
  for (const auto& placement : x.placements()) {
    const bool stays = shard_dim(placement) >= 0 && shard_dim(placement) != wanted;
    const AnyPlacement next = stays ? placement : AnyPlacement(Replicate());
    rules.push_back({{next}, next});
  }
  return apply([=](const auto& t) { return at::softmax(t[0], wanted); }, {x}, rules, x.sizes().vec());
}

} // namespace torch::distributed
