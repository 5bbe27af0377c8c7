#include <csrc/capture/shape_class.h>

#include <csrc/capture/unify.h>
#include <c10/util/Exception.h>

#include <algorithm>

namespace torch::capture {

namespace {

// What a set of sizes may take: some hundred KB.
constexpr size_t kMaxConfirmed = 4096;
// Recordings that are kept to be unified with others.
constexpr size_t kMaxTraces = 5;

std::vector<int64_t> sizes_of(const std::vector<at::Tensor>& inputs) {
  std::vector<int64_t> sizes;
  for (const at::Tensor& input : inputs) {
    if (input.defined()) {
      sizes.insert(sizes.end(), input.sizes().begin(), input.sizes().end());
    }
  }
  return sizes;
}

std::string text_of_graph(const fx::Graph& graph) {
  try {
    return graph.to_string();
  } catch (const c10::Error&) {
    return graph.format_tabular(); // constants that have no text
  }
}

} // namespace

bool ShapeClass::holds(const std::vector<at::Tensor>& inputs) const {
  return module_ && confirmed_.count(sizes_of(inputs)) != 0 && fits_strides(inputs);
}

bool ShapeClass::is_worth_compiling(const std::vector<at::Tensor>& inputs) {
  constexpr uint32_t kMostDoublings = 12;
  Uses& uses = confirmed_[sizes_of(inputs)];
  if (++uses.calls < 1u << std::min(uses.compiled, kMostDoublings)) {
    return false;
  }
  uses = {0, uses.compiled + 1};
  return true;
}

/// Sizes that were confirmed were with the strides that follow from them.
bool ShapeClass::fits_strides(const std::vector<at::Tensor>& inputs) const {
  const fx::Graph& graph = module_->graph();
  fx::SymbolValues values;
  const std::vector<fx::Node*> placeholders = graph.placeholders();
  for (size_t i = 0; i < placeholders.size(); ++i) {
    const fx::TensorInfo* const info = placeholders[i]->info();
    for (size_t dim = 0; info && dim < info->sizes.size(); ++dim) {
      if (!graph.sizes().bind(info->sizes[dim], inputs[i].size(static_cast<int64_t>(dim)), values)) {
        return false;
      }
    }
  }
  for (size_t i = 0; i < placeholders.size(); ++i) {
    const fx::TensorInfo* const info = placeholders[i]->info();
    if (info && info->layout == c10::kStrided && info->strides.size() != info->sizes.size()) {
      return false;
    }
    for (size_t dim = 0; info && dim < info->strides.size(); ++dim) {
      const auto wanted = graph.sizes().evaluate(info->strides[dim], values);
      if (wanted != inputs[i].stride(static_cast<int64_t>(dim))) {
        return false;
      }
    }
  }
  return true;
}

bool ShapeClass::have_same_references(const fx::GraphModule& recorded) const {
  const fx::GraphModule& first = *traces_.front();
  for (const fx::Node* node : recorded.graph().nodes()) {
    if (node->kind() != fx::NodeKind::GetAttr) {
      continue;
    }
    if (!first.has_attr(node->target())) {
      return false;
    }
    const at::Tensor &a = first.attr(node->target()).toTensor(), &b = recorded.attr(node->target()).toTensor();
    const bool is_same = a.is_same(b) ||
        (a.sizes().equals(b.sizes()) && a.scalar_type() == b.scalar_type() && a.device() == b.device() &&
         a.layout() == c10::kStrided && b.layout() == c10::kStrided && a.detach().equal(b.detach()));
    if (!is_same) {
      return false;
    }
  }
  return true;
}

bool ShapeClass::unify_with(const std::shared_ptr<fx::GraphModule>& recorded) {
  std::vector<const fx::Graph*> graphs;
  for (const auto& trace : traces_) {
    graphs.push_back(&trace->graph());
  }
  graphs.push_back(&recorded->graph());
  const Unified made = have_same_references(*recorded) ? unify(graphs, differing_sizes(graphs)) : Unified();
  if (!made.graph) {
    return false;
  }
  std::string text = text_of_graph(*made.graph);
  if (module_ && text == text_) {
    return true;
  }
  // Another graph: what was confirmed was confirmed for the one before.
  if (traces_.size() >= kMaxTraces) {
    return false;
  }
  traces_.push_back(recorded);
  confirmed_.clear();
  module_ = std::make_shared<fx::GraphModule>(made.graph, "Captured");
  text_ = std::move(text);
  for (const fx::Node* node : made.graph->nodes()) {
    if (node->kind() == fx::NodeKind::GetAttr) {
      module_->set_attr(node->target(), traces_.front()->attr(node->target()));
    }
  }
  return true;
}

bool ShapeClass::add(const std::shared_ptr<fx::GraphModule>& recorded, const std::vector<at::Tensor>& inputs) {
  if (traces_.empty()) {
    traces_.push_back(recorded);
    return false;
  }
  // Strides that do not follow from the sizes are those of other calls.
  if (!unify_with(recorded) || !fits_strides(inputs)) {
    ++failures_;
    return false;
  }
  if (confirmed_.size() >= kMaxConfirmed) {
    confirmed_.clear();
  }
  confirmed_.emplace(sizes_of(inputs), Uses());
  return true;
}

} // namespace torch::capture
