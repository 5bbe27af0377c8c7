#include <csrc/serialize/archive.h>

#include <aten/core/ivalue.h>
#include <csrc/serialize/archive_node.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>

namespace torch::serialize {

InputArchive::InputArchive() : node_(c10::make_intrusive<ArchiveNode>()) {}
InputArchive::InputArchive(InputArchive&&) noexcept = default;
InputArchive& InputArchive::operator=(InputArchive&&) noexcept = default;
InputArchive::~InputArchive() = default;

bool InputArchive::try_read(const std::string& key, c10::IValue& ivalue) {
  const ArchiveNode::Entry* entry = node_->find(key);
  if (!entry) return false;
  ivalue = entry->value;
  return true;
}

bool InputArchive::try_read(const std::string& key, at::Tensor& tensor, bool /*is_buffer*/) {
  const ArchiveNode::Entry* entry = node_->find(key);
  if (!entry || !entry->value.isTensor()) return false;
  const at::Tensor& stored = entry->value.toTensor();
  if (!tensor.defined()) {
    tensor = stored;
    return true;
  }
  const at::NoGradGuard no_grad;
  if (tensor.device() == stored.device()) {
    tensor.set_(stored);
  } else {
    tensor.set_data(stored);
  }
  return true;
}

bool InputArchive::try_read(const std::string& key, InputArchive& archive) {
  const ArchiveNode::Entry* entry = node_->find(key);
  c10::intrusive_ptr<ArchiveNode> nested = entry ? node_of(entry->value) : nullptr;
  if (!nested) return false;
  archive.hierarchy_prefix_ = hierarchy_prefix_ + key + ".";
  archive.node_ = std::move(nested);
  return true;
}

void InputArchive::read(const std::string& key, c10::IValue& ivalue) {
  TORCH_CHECK(try_read(key, ivalue), "No such serialized IValue '", hierarchy_prefix_, key, "'");
}

void InputArchive::read(const std::string& key, at::Tensor& tensor, bool is_buffer) {
  TORCH_CHECK(try_read(key, tensor, is_buffer), "No such serialized tensor '", hierarchy_prefix_, key, "'");
}

void InputArchive::read(const std::string& key, InputArchive& archive) {
  TORCH_CHECK(try_read(key, archive), "No such serialized submodule: '", hierarchy_prefix_, key, "'");
}

std::vector<std::string> InputArchive::keys() {
  std::vector<std::string> names;
  names.reserve(node_->entries.size());
  for (const ArchiveNode::Entry& entry : node_->entries) names.push_back(entry.name);
  return names;
}

} // namespace torch::serialize
