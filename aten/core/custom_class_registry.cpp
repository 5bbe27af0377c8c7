#include <aten/core/custom_class_registry.h>

#include <aten/core/dispatch/RegistrationHandleRAII.h>
#include <aten/core/function.h>
#include <aten/core/jit_type.h>
#include <c10/util/Exception.h>
#include <c10/util/Type.h>

#include <algorithm>
#include <iterator>
#include <mutex>
#include <unordered_map>

namespace torch {

namespace {

struct ClassEntry {
  c10::ClassTypePtr type;
  std::string debug;
  std::vector<std::unique_ptr<torch::jit::Function>> methods;
  bool bound = false;
};

struct Registry {
  std::mutex mutex;
  std::unordered_map<std::string, ClassEntry>
      by_name; // entries stay: schemas and getCustomClassType() refer to their types
  std::unordered_map<std::type_index, ClassEntry*> by_holder;
};

// Never destroyed: objects of bound classes may outlive the end of main().
Registry& registry() {
  static Registry* const instance = new Registry();
  return *instance;
}

// The caller holds the mutex.
ClassEntry& entry_of(const std::string& qualified_name) {
  ClassEntry& entry = registry().by_name[qualified_name];
  if (!entry.type) {
    entry.type = c10::ClassType::create(c10::QualifiedName(qualified_name));
  }
  return entry;
}

} // namespace

c10::ClassTypePtr getCustomClass(const std::string& qualified_name) {
  Registry& all = registry();
  const std::lock_guard<std::mutex> lock(all.mutex);
  const auto found = all.by_name.find(qualified_name);
  return found == all.by_name.end() ? nullptr : found->second.type;
}

c10::ClassTypePtr declareCustomClass(const std::string& qualified_name) {
  const std::lock_guard<std::mutex> lock(registry().mutex);
  return entry_of(qualified_name).type;
}

std::vector<std::string> getAllCustomClassesNames() {
  Registry& all = registry();
  const std::lock_guard<std::mutex> lock(all.mutex);
  std::vector<std::string> names;
  for (const auto& [name, entry] : all.by_name) {
    if (entry.bound) {
      names.push_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

namespace detail {

c10::ClassTypePtr registerCustomClass(
    const std::string& qualified_name,
    const std::type_index& holder,
    const std::string& debug,
    const std::string& doc) {
  Registry& all = registry();
  const std::lock_guard<std::mutex> lock(all.mutex);
  ClassEntry& entry = entry_of(qualified_name);
  TORCH_CHECK(
      !entry.bound, "Custom class with name ", qualified_name,
      " is already registered. Ensure that registration with torch::class_ is only called once. First registration: ",
      entry.debug, "; second: ", debug);
  const auto [previous, fresh] = all.by_holder.emplace(holder, &entry);
  TORCH_CHECK(
      fresh, "C++ class ", c10::demangle(holder.name()), " is already registered as ", previous->second->type->str(),
      "; a class can be bound under one name only (", qualified_name, ", ", debug, ")");
  entry.bound = true;
  entry.debug = debug;
  entry.type->setDocString(doc);
  entry.type->addAttribute("capsule", c10::CapsuleType::get());
  return entry.type;
}

torch::jit::Function* registerCustomClassMethod(
    const c10::ClassTypePtr& type, std::unique_ptr<torch::jit::Function> method, bool is_static) {
  Registry& all = registry();
  const std::lock_guard<std::mutex> lock(all.mutex);
  torch::jit::Function* raw = method.get();
  if (is_static) {
    type->addStaticMethod(raw);
  } else {
    type->addMethod(raw);
  }
  entry_of(type->name()->qualifiedName()).methods.push_back(std::move(method));
  return raw;
}

c10::RegistrationHandleRAII bound_class(const std::string& class_namespace, const std::string& class_name) {
  return c10::RegistrationHandleRAII([name = "__torch__.torch.classes." + class_namespace + "." + class_name] {
    Registry& all = registry();
    const std::lock_guard<std::mutex> lock(all.mutex);
    ClassEntry& entry = entry_of(name);
    // The code of methods, and the type_info that the index is made of, may be about to be unmapped.
    for (auto found = all.by_holder.begin(); found != all.by_holder.end();) {
      found = found->second == &entry ? all.by_holder.erase(found) : std::next(found);
    }
    entry.type->clearMembers();
    entry.methods.clear();
    entry.bound = false;
  });
}

} // namespace detail

} // namespace torch

namespace c10 {

const ClassTypePtr& getCustomClassTypeImpl(const std::type_index& tindex) {
  torch::Registry& all = torch::registry();
  const std::lock_guard<std::mutex> lock(all.mutex);
  const auto found = all.by_holder.find(tindex);
  TORCH_CHECK(
      found != all.by_holder.end(), "Can't find class id in custom class type map for ", c10::demangle(tindex.name()),
      ". Register the class with torch::class_ before it is used.");
  return found->second->type;
}

} // namespace c10
