#pragma once

#include <c10/macros/Macros.h>
#include <c10/util/Exception.h>
#include <c10/util/Type.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

namespace c10 {

namespace detail {
template <typename KeyType>
std::string KeyStrRepr(const KeyType& key) {
  if constexpr (HasPrint<KeyType>::value || std::is_same_v<KeyType, std::string> || std::is_arithmetic_v<KeyType>) {
    return str(key);
  } else {
    return "[key type printing not supported]";
  }
}
} // namespace detail

enum RegistryPriority { REGISTRY_FALLBACK = 1, REGISTRY_DEFAULT = 2, REGISTRY_PREFERRED = 3 };

/// Makes objects by key. Creators are registered by static initialisers all over the program; of two for one key the
/// one of higher priority stays, and two of the same priority are an error.
template <class SrcType, class ObjectPtrType, class... Args>
class Registry {
 public:
  using Creator = std::function<ObjectPtrType(Args...)>;

  explicit Registry(bool warning = true) : warning_(warning) {}
  C10_DISABLE_COPY_AND_ASSIGN(Registry);

  void Register(const SrcType& key, Creator creator, const RegistryPriority priority = REGISTRY_DEFAULT) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = entries_.find(key);
    if (found == entries_.end()) {
      entries_.emplace(key, Entry{std::move(creator), priority, {}});
      return;
    }
    if (priority == found->second.priority) {
      const std::string message = c10::str(
          "Key ", detail::KeyStrRepr(key), " already registered with the same priority ", static_cast<int>(priority));
      TORCH_CHECK(!terminate_, message);
      throw std::runtime_error(message);
    }
    if (warning_ && priority != found->second.priority) {
      TORCH_WARN("Key ", detail::KeyStrRepr(key), " is registered twice; the one of higher priority stays");
    }
    if (priority > found->second.priority) {
      found->second.creator = std::move(creator);
      found->second.priority = priority;
    }
  }
  void Register(
      const SrcType& key,
      Creator creator,
      const std::string& help_msg,
      const RegistryPriority priority = REGISTRY_DEFAULT) {
    Register(key, std::move(creator), priority);
    const std::lock_guard<std::mutex> lock(mutex_);
    entries_[key].help = help_msg;
  }

  bool Has(const SrcType& key) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return entries_.count(key) != 0;
  }
  /// A new object, or null when nobody registered the key.
  ObjectPtrType Create(const SrcType& key, Args... args) {
    Creator creator;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      const auto found = entries_.find(key);
      if (found == entries_.end()) {
        return nullptr;
      }
      creator = found->second.creator;
    }
    return creator(args...);
  }
  std::vector<SrcType> Keys() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<SrcType> keys;
    keys.reserve(entries_.size());
    for (const auto& entry : entries_) {
      keys.push_back(entry.first);
    }
    return keys;
  }
  std::unordered_map<SrcType, std::string> HelpMessage() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::unordered_map<SrcType, std::string> messages;
    for (const auto& entry : entries_) {
      if (!entry.second.help.empty()) {
        messages.emplace(entry.first, entry.second.help);
      }
    }
    return messages;
  }
  const char* HelpMessage(const SrcType& key) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = entries_.find(key);
    return found == entries_.end() ? nullptr : found->second.help.c_str();
  }
  /// Whether registering a key twice at the same priority throws c10::Error (default) or std::runtime_error.
  void SetTerminate(bool terminate) {
    terminate_ = terminate;
  }

 private:
  struct Entry {
    Creator creator;
    RegistryPriority priority;
    std::string help;
  };
  std::unordered_map<SrcType, Entry> entries_;
  bool terminate_ = true;
  const bool warning_;
  mutable std::mutex mutex_;
};

template <class SrcType, class ObjectPtrType, class... Args>
class Registerer {
 public:
  explicit Registerer(
      const SrcType& key,
      Registry<SrcType, ObjectPtrType, Args...>* registry,
      typename Registry<SrcType, ObjectPtrType, Args...>::Creator creator,
      const std::string& help_msg = "") {
    registry->Register(key, std::move(creator), help_msg);
  }
  explicit Registerer(
      const SrcType& key,
      const RegistryPriority priority,
      Registry<SrcType, ObjectPtrType, Args...>* registry,
      typename Registry<SrcType, ObjectPtrType, Args...>::Creator creator,
      const std::string& help_msg = "") {
    registry->Register(key, std::move(creator), help_msg, priority);
  }

  template <class DerivedType>
  static ObjectPtrType DefaultCreator(Args... args) {
    return ObjectPtrType(new DerivedType(args...));
  }
};

} // namespace c10

// Declaring (in a header), defining (in one source) and filling a registry.

#define C10_DECLARE_TYPED_REGISTRY(RegistryName, SrcType, ObjectType, PtrType, ...)     \
  C10_API ::c10::Registry<SrcType, PtrType<ObjectType>, ##__VA_ARGS__>* RegistryName(); \
  typedef ::c10::Registerer<SrcType, PtrType<ObjectType>, ##__VA_ARGS__> Registerer##RegistryName

#define TORCH_DECLARE_TYPED_REGISTRY(RegistryName, SrcType, ObjectType, PtrType, ...) \
  C10_DECLARE_TYPED_REGISTRY(RegistryName, SrcType, ObjectType, PtrType, ##__VA_ARGS__)

// Never destroyed: what it made may unregister late.
#define C10_DEFINE_TYPED_REGISTRY_(RegistryName, SrcType, ObjectType, PtrType, warning, ...)           \
  ::c10::Registry<SrcType, PtrType<ObjectType>, ##__VA_ARGS__>* RegistryName() {                       \
    static auto* registry = new ::c10::Registry<SrcType, PtrType<ObjectType>, ##__VA_ARGS__>(warning); \
    return registry;                                                                                   \
  }
#define C10_DEFINE_TYPED_REGISTRY(RegistryName, SrcType, ObjectType, PtrType, ...) \
  C10_DEFINE_TYPED_REGISTRY_(RegistryName, SrcType, ObjectType, PtrType, true, ##__VA_ARGS__)
#define C10_DEFINE_TYPED_REGISTRY_WITHOUT_WARNING(RegistryName, SrcType, ObjectType, PtrType, ...) \
  C10_DEFINE_TYPED_REGISTRY_(RegistryName, SrcType, ObjectType, PtrType, false, ##__VA_ARGS__)

#define C10_REGISTER_TYPED_CREATOR(RegistryName, key, ...) \
  static Registerer##RegistryName C10_ANONYMOUS_VARIABLE(g_##RegistryName)(key, RegistryName(), ##__VA_ARGS__);
#define C10_REGISTER_TYPED_CREATOR_WITH_PRIORITY(RegistryName, key, priority, ...) \
  static Registerer##RegistryName C10_ANONYMOUS_VARIABLE(g_##RegistryName)(        \
      key, priority, RegistryName(), ##__VA_ARGS__);
#define C10_REGISTER_TYPED_CLASS(RegistryName, key, ...)                          \
  static Registerer##RegistryName C10_ANONYMOUS_VARIABLE(g_##RegistryName)(       \
      key, RegistryName(), Registerer##RegistryName::DefaultCreator<__VA_ARGS__>, \
      ::c10::demangle_type<__VA_ARGS__>());
#define C10_REGISTER_TYPED_CLASS_WITH_PRIORITY(RegistryName, key, priority, ...)            \
  static Registerer##RegistryName C10_ANONYMOUS_VARIABLE(g_##RegistryName)(                 \
      key, priority, RegistryName(), Registerer##RegistryName::DefaultCreator<__VA_ARGS__>, \
      ::c10::demangle_type<__VA_ARGS__>());

#define C10_DECLARE_REGISTRY(RegistryName, ObjectType, ...) \
  C10_DECLARE_TYPED_REGISTRY(RegistryName, std::string, ObjectType, std::unique_ptr, ##__VA_ARGS__)
#define TORCH_DECLARE_REGISTRY(RegistryName, ObjectType, ...) \
  C10_DECLARE_REGISTRY(RegistryName, ObjectType, ##__VA_ARGS__)
#define C10_DEFINE_REGISTRY(RegistryName, ObjectType, ...) \
  C10_DEFINE_TYPED_REGISTRY(RegistryName, std::string, ObjectType, std::unique_ptr, ##__VA_ARGS__)
#define C10_DEFINE_REGISTRY_WITHOUT_WARNING(RegistryName, ObjectType, ...) \
  C10_DEFINE_TYPED_REGISTRY_WITHOUT_WARNING(RegistryName, std::string, ObjectType, std::unique_ptr, ##__VA_ARGS__)
#define C10_DECLARE_SHARED_REGISTRY(RegistryName, ObjectType, ...) \
  C10_DECLARE_TYPED_REGISTRY(RegistryName, std::string, ObjectType, std::shared_ptr, ##__VA_ARGS__)
#define TORCH_DECLARE_SHARED_REGISTRY(RegistryName, ObjectType, ...) \
  C10_DECLARE_SHARED_REGISTRY(RegistryName, ObjectType, ##__VA_ARGS__)
#define C10_DEFINE_SHARED_REGISTRY(RegistryName, ObjectType, ...) \
  C10_DEFINE_TYPED_REGISTRY(RegistryName, std::string, ObjectType, std::shared_ptr, ##__VA_ARGS__)

#define C10_REGISTER_CREATOR(RegistryName, key, ...) C10_REGISTER_TYPED_CREATOR(RegistryName, #key, __VA_ARGS__)
#define C10_REGISTER_CREATOR_WITH_PRIORITY(RegistryName, key, priority, ...) \
  C10_REGISTER_TYPED_CREATOR_WITH_PRIORITY(RegistryName, #key, priority, __VA_ARGS__)
#define C10_REGISTER_CLASS(RegistryName, key, ...) C10_REGISTER_TYPED_CLASS(RegistryName, #key, __VA_ARGS__)
#define C10_REGISTER_CLASS_WITH_PRIORITY(RegistryName, key, priority, ...) \
  C10_REGISTER_TYPED_CLASS_WITH_PRIORITY(RegistryName, #key, priority, __VA_ARGS__)
