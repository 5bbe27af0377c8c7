#include <csrc/aot/call_inputs.h>

#include <csrc/functionalize/functionalize.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace torch::aot {

namespace {

/// For each tensor the first one in its memory.
std::vector<size_t> memory_pattern(const std::vector<at::Tensor>& tensors) {
  std::unordered_map<const c10::StorageImpl*, size_t> first;
  std::vector<size_t> pattern;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const bool has_memory = tensors[i].defined() && tensors[i].has_storage();
    pattern.push_back(has_memory ? first.emplace(tensors[i].storage().unsafeGetStorageImpl(), i).first->second : i);
  }
  return pattern;
}

} // namespace

CallInputs::CallInputs(
    const fx::GraphModule& module,
    const std::vector<at::Tensor>& inputs,
    const std::vector<std::pair<std::string, at::Tensor>>& references)
    : num_arguments_(inputs.size()) {
  std::vector<std::string> paths;
  graph_ = functionalize::lift_attributes(module.graph(), paths, &recorded_ids_);
  std::unordered_map<std::string, at::Tensor> by_path(references.begin(), references.end());
  recorded_ = inputs;
  for (const std::string& path : paths) {
    const auto found = by_path.find(path);
    TORCH_CHECK(found != by_path.end(), "the graph has an attribute '", path, "' that is no tensor");
    references_.push_back(found->second);
    recorded_.push_back(found->second);
  }
  pattern_ = memory_pattern(recorded_);
}

std::optional<uint32_t> CallInputs::recorded_id(const fx::Node& node) const {
  return node.id() < recorded_ids_.size() ? recorded_ids_[node.id()] : std::nullopt;
}

std::vector<at::Tensor> CallInputs::of_call(const std::vector<at::Tensor>& arguments) const {
  std::vector<at::Tensor> all = arguments;
  all.insert(all.end(), references_.begin(), references_.end());
  return all;
}

bool CallInputs::share_memory_alike(const std::vector<at::Tensor>& all) const {
  return memory_pattern(all) == pattern_;
}

bool CallInputs::is_alone(size_t input) const {
  return std::count(pattern_.begin(), pattern_.end(), pattern_[input]) == 1;
}

c10::Device CallInputs::device() const {
  std::optional<c10::Device> device;
  const auto check = [&](c10::Device other) {
    TORCH_CHECK(device.value_or(other) == other, "tensors on ", device->str(), " and on ", other.str(), " are mixed");
    device = other;
  };
  for (const fx::Node* node : graph_->nodes()) {
    for (uint32_t i = 0; i < node->num_results(); ++i) {
      if (const fx::TensorInfo* const info = node->info(i)) {
        check(info->device);
      }
    }
  }
  return device.value_or(c10::Device(c10::kCPU));
}

} // namespace torch::aot
