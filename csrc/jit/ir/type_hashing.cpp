#include <csrc/jit/ir/type_hashing.h>

#include <functional>
#include <string>

namespace torch::jit {

size_t HashType::operator()(const c10::ConstTypePtr& type) const {
  return std::hash<std::string>()(type->annotation_str());
}

} // namespace torch::jit
