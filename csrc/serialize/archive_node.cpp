#include <csrc/serialize/archive_node.h>

#include <c10/util/Exception.h>

namespace torch::serialize {

const ArchiveNode::Entry* ArchiveNode::find(const std::string& name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &entries[found->second];
}

void ArchiveNode::put(const std::string& name, c10::IValue value, Kind kind) {
  const auto [place, is_new] = index_.emplace(name, entries.size());
  if (is_new) {
    entries.push_back(Entry{name, std::move(value), kind});
    return;
  }
  Entry& entry = entries[place->second];
  TORCH_CHECK(
      entry.kind == kind && *entry.value.type() == *value.type(), "OutputArchive::write: key '", name,
      "' already holds a value of type ", entry.value.type()->annotation_str(),
      "; it cannot be replaced by one of type ", value.type()->annotation_str(), ": choose another key");
  entry.value = std::move(value);
}

bool ArchiveNode::contains(const ArchiveNode& other) const {
  if (this == &other) {
    return true;
  }
  for (const Entry& entry : entries) {
    if (entry.kind == Kind::Archive && node_of(entry.value)->contains(other)) {
      return true;
    }
  }
  return false;
}

c10::intrusive_ptr<ArchiveNode> node_of(const c10::IValue& value) {
  if (!value.isCapsule()) {
    return {};
  }
  const c10::intrusive_ptr<torch::CustomClassHolder> holder = value.toCapsule();
  ArchiveNode* node = dynamic_cast<ArchiveNode*>(holder.get());
  return node ? c10::intrusive_ptr<ArchiveNode>::unsafe_reclaim_from_nonowning(node)
              : c10::intrusive_ptr<ArchiveNode>();
}

} // namespace torch::serialize
