// Modules in archives.
#include <c10/util/Exception.h>
#include <csrc/nn/Module.h>
#include <csrc/serialize/archive.h>

namespace torch::nn {

void Module::save(serialize::OutputArchive& archive) const {
  for (const auto& item : named_parameters(/*recurse=*/false)) {
    archive.write(item.key(), item.value());
  }
  for (const auto& item : named_buffers(/*recurse=*/false)) {
    archive.write(item.key(), item.value(), /*is_buffer=*/true);
  }
  for (const auto& child : children_) {
    if (child.value()->is_serializable()) {
      serialize::OutputArchive nested(archive.compilation_unit());
      child.value()->save(nested);
      archive.write(child.key(), nested);
    }
  }
}

void Module::load(serialize::InputArchive& archive) {
  for (auto& item : named_parameters(/*recurse=*/false)) {
    archive.read(item.key(), item.value());
  }
  for (auto& item : named_buffers(/*recurse=*/false)) {
    archive.read(item.key(), item.value(), /*is_buffer=*/true);
  }
  for (auto& child : children_) {
    if (!child.value()->is_serializable()) {
      continue;
    }
    serialize::InputArchive nested;
    if (!archive.try_read(child.key(), nested)) {
      // Python's state_dicts have no entry for a module without tensors.
      if (child.value()->parameters().empty() && child.value()->buffers().empty()) {
        continue;
      }
      archive.read(child.key(), nested); // throws with the name
    }
    child.value()->load(nested);
  }
}

serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const std::shared_ptr<Module>& module) {
  TORCH_CHECK(module != nullptr, "Cannot serialize empty module");
  module->save(archive);
  return archive;
}

serialize::InputArchive& operator>>(serialize::InputArchive& archive, const std::shared_ptr<Module>& module) {
  TORCH_CHECK(module != nullptr, "Cannot deserialize empty module");
  module->load(archive);
  return archive;
}

} // namespace torch::nn
