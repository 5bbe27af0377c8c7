#include <csrc/jit/frontend/bound_class.h>

#include <aten/core/custom_class_registry.h>

#include <algorithm>

namespace torch::jit {

c10::ClassTypePtr boundClass(const std::string& name) {
  constexpr std::string_view kPrefix = "__torch__.";
  const bool qualified = name.compare(0, kPrefix.size(), kPrefix) == 0;
  return torch::getCustomClass(qualified ? name : std::string(kPrefix) + name);
}

SugaredValuePtr BoundClasses::attr(const SourceRange& range, GraphFunction&, const std::string& field) {
  const std::string full_name = name + '.' + field;
  if (std::count(full_name.begin(), full_name.end(), '.') < 3) {
    return std::make_shared<BoundClasses>(full_name);
  }
  c10::ClassTypePtr type = boundClass(full_name);
  if (!type) {
    throw ErrorReport(range) << "Tried to access nonexistent class '" << full_name
                             << "': no library that has been loaded binds it by torch::class_";
  }
  return std::make_shared<ClassValue>(std::move(type));
}

} // namespace torch::jit
