#include <autograd/forward/recorded_call.h>

#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <autograd/engine.h>
#include <autograd/forward/levels.h>
#include <autograd/functions/basic_ops.h>
#include <autograd/grad_mode.h>
#include <autograd/variable.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <string>
#include <utility>

namespace torch::autograd::forward_ad {

namespace {

bool has_no_derivative(const Node& node) {
  return node.name().find("NotImplemented") != std::string::npos;
}

at::Tensor expanded(const at::Tensor& tangent, const at::Tensor& result) {
  const at::Tensor converted = tangent.to(result.scalar_type());
  return converted.sizes() == result.sizes() ? converted : converted.expand(result.sizes());
}

} // namespace

at::Tensor RecordedCall::stand_in(const at::Tensor& original, const at::Tensor& contents) {
  auto source = make_node<Identity>();
  source->add_input_metadata(original);
  source->add_next_edge(follow_ ? impl::gradient_edge(original) : Edge());
  const at::Tensor& values = contents.defined() ? contents : original;
  const c10::TensorImpl& tensor = *values.unsafeGetTensorImpl();
  auto copy = tensor.shallow_copy_and_detach(tensor.version_counter(), /*allow_tensor_metadata_change=*/true);
  copy->set_autograd_meta(std::make_unique<AutogradMeta>(std::shared_ptr<Node>(source), 0));
  at::Tensor made(std::move(copy));
  if (const std::shared_ptr<ForwardGrad>& grad = impl::forward_grad(original)) {
    impl::share_forward_grad(made, grad);
  }
  stand_ins_.push_back({original, tangent_of(original, level_), std::move(source)});
  tensors_.push_back(made);
  return made;
}

const at::Tensor& RecordedCall::original_of(const at::Tensor& tensor) const {
  for (size_t i = 0; i < tensors_.size(); ++i) {
    if (tensors_[i].is_same(tensor)) {
      return stand_ins_[i].original;
    }
  }
  return tensor;
}

bool RecordedCall::is_recorded() const {
  return GradMode::is_enabled() &&
      (follow_ || std::any_of(stand_ins_.begin(), stand_ins_.end(), [](const StandIn& one) {
           return one.tangent.defined() && one.tangent.requires_grad();
         }));
}

variable_list RecordedCall::transposed_products(const edge_list& roots, const variable_list& vectors) const {
  edge_list inputs;
  for (const StandIn& stand_in : stand_ins_) {
    if (stand_in.tangent.defined()) {
      inputs.emplace_back(stand_in.source, 0);
    }
  }
  return Engine::get_default_engine().execute(
      roots, vectors, /*keep_graph=*/true, /*create_graph=*/true, /*accumulate_grad=*/false, inputs);
}

variable_list RecordedCall::tangents(const char* op_name, const variable_list& results) const {
  const bool create_graph = is_recorded();
  const HiddenLevel hidden(level_);
  const AutoGradMode record(true);
  edge_list roots;
  variable_list vectors;
  std::vector<size_t> places;
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].defined() && results[i].requires_grad()) {
      TORCH_CHECK_NOT_IMPLEMENTED(
          !has_no_derivative(*results[i].grad_fn()), "Trying to use forward AD with ", op_name,
          " that does not support it because it has not been implemented yet: it has no derivative. Call it on what "
          "unpack_dual gives, if it is to count as a constant");
      roots.push_back(impl::gradient_edge(results[i]));
      vectors.push_back(at::zeros_like(results[i]).detach().requires_grad_());
      places.push_back(i);
    }
  }
  variable_list tangents(results.size());
  if (roots.empty()) {
    return tangents;
  }
  const variable_list products = transposed_products(roots, vectors);
  edge_list second_roots;
  variable_list weights;
  auto product = products.begin();
  for (const StandIn& stand_in : stand_ins_) {
    if (!stand_in.tangent.defined()) {
      continue;
    }
    if (product->defined() && product->requires_grad()) {
      second_roots.push_back(impl::gradient_edge(*product));
      weights.push_back(stand_in.tangent);
    }
    ++product;
  }
  if (second_roots.empty()) {
    return tangents;
  }
  edge_list inputs;
  for (const at::Tensor& vector : vectors) {
    inputs.push_back(impl::gradient_edge(vector));
  }
  variable_list found = Engine::get_default_engine().execute(
      second_roots, weights, /*keep_graph=*/create_graph, create_graph, /*accumulate_grad=*/false, inputs);
  for (size_t i = 0; i < places.size(); ++i) {
    tangents[places[i]] = std::move(found[i]);
  }
  return tangents;
}

at::Tensor RecordedCall::sum_of_node_results(
    const at::Tensor& result, bool of_ones, c10::function_ref<at::Tensor(at::Tensor, const at::Tensor&)> part) const {
  const AutoGradMode record(is_recorded());
  const HiddenLevel hidden(level_);
  const ComputeAllOutputsGuard all_outputs;
  const std::shared_ptr<Node> node = result.grad_fn();
  const edge_list edges = node->next_edges();
  at::Tensor sum;
  for (const StandIn& stand_in : stand_ins_) {
    const auto edge = std::find_if(
        edges.begin(), edges.end(), [&](const Edge& candidate) { return candidate.function == stand_in.source; });
    if (!stand_in.tangent.defined() || edge == edges.end()) {
      continue;
    }
    const auto number = static_cast<size_t>(edge - edges.begin());
    for (size_t i = 0; i < edges.size(); ++i) {
      node->next_edges()[i] = i == number ? *edge : Edge();
    }
    variable_list vectors(node->num_inputs());
    vectors[static_cast<size_t>(result.output_nr())] =
        of_ones ? at::ones_like(result).detach() : expanded(stand_in.tangent, result);
    const at::Tensor made = (*node)(std::move(vectors))[number];
    if (made.defined()) {
      const at::Tensor summand = part(made, stand_in.tangent);
      sum = sum.defined() ? sum + summand : summand;
    }
  }
  node->next_edges() = edges;
  return sum;
}

at::Tensor RecordedCall::tangent_by_elements(const at::Tensor& result) const {
  return sum_of_node_results(result, /*of_ones=*/false, [](at::Tensor made, const at::Tensor&) { return made; });
}

at::Tensor RecordedCall::tangent_of_reduction(
    const at::Tensor& result, at::OptionalIntArrayRef dims, bool keepdim) const {
  return sum_of_node_results(result, /*of_ones=*/true, [&](const at::Tensor& made, const at::Tensor& tangent) {
    at::Tensor products = made.conj() * tangent;
    if (!result.is_complex()) {
      products = at::real(products);
    }
    if (products.sizes() == result.sizes()) {
      return products;
    }
    const bool some = dims.has_value() && !dims->empty();
    return some ? products.sum(*dims, keepdim) : products.sum().reshape(result.sizes());
  });
}

void RecordedCall::finish(const variable_list& results) const {
  for (const at::Tensor& result : results) {
    Node* const node = result.defined() ? impl::grad_fn_unsafe(result) : nullptr;
    if (node == nullptr) {
      continue;
    }
    if (!follow_) {
      impl::set_gradient_edge(result, Edge());
      continue;
    }
    for (Edge& edge : node->next_edges()) {
      const auto stand_in = std::find_if(stand_ins_.begin(), stand_ins_.end(), [&](const StandIn& candidate) {
        return candidate.source == edge.function;
      });
      if (stand_in != stand_ins_.end()) {
        edge = stand_in->source->next_edge(0);
      }
    }
  }
}

} // namespace torch::autograd::forward_ad
