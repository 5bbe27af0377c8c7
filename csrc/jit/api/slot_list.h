// Lists of what modules hold: parameters, buffers, attributes, modules, with or without their names.
#pragma once

#include <aten/core/Tensor.h>
#include <aten/core/ivalue.h>

#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace torch::jit {

struct Module;

template <class T>
struct Named {
  std::string name; ///< from the module whose list it is: "layers.0.weight"
  T value;
};
using NameModule = Named<Module>;
using NameValue = Named<c10::IValue>;
using NameTensor = Named<at::Tensor>;

namespace detail {

/// A place in a module.
struct SlotCursor {
  c10::intrusive_ptr<c10::ivalue::Object> module;
  int64_t slot; ///< -1 for the module itself
};

/// Walks through the slots of a module, depth first, a module before what is in it.
class TORCH_API SlotWalk {
 public:
  /// Whether a slot of the class is one of the list.
  using Valid = bool (*)(const c10::ClassType& type, size_t slot, const c10::IValue& value);

  /// At the end.
  SlotWalk() = default;
  SlotWalk(c10::intrusive_ptr<c10::ivalue::Object> root, bool recurse, bool return_module, Valid valid);

  bool at_end() const {
    return cursors_.empty();
  }
  /// What is at this place: throws at the end.
  c10::IValue value() const;
  std::string name() const;
  /// Throws if a module contains itself.
  void next();

 private:
  bool is_valid() const;
  void step();

  std::vector<SlotCursor> cursors_;
  bool recurse_ = false;
  Valid valid_ = nullptr;
};

struct TORCH_API ModulePolicy {
  using value_type = Module;
  static Module create(const SlotWalk& walk);
  static bool valid(const c10::ClassType& type, size_t slot, const c10::IValue& value);
};
struct TORCH_API ParameterPolicy {
  using value_type = at::Tensor;
  static at::Tensor create(const SlotWalk& walk) {
    return walk.value().toTensor();
  }
  static bool valid(const c10::ClassType& type, size_t slot, const c10::IValue& value);
};
struct TORCH_API BufferPolicy {
  using value_type = at::Tensor;
  static at::Tensor create(const SlotWalk& walk) {
    return walk.value().toTensor();
  }
  static bool valid(const c10::ClassType& type, size_t slot, const c10::IValue& value);
};
struct TORCH_API AttributePolicy {
  using value_type = c10::IValue;
  static c10::IValue create(const SlotWalk& walk) {
    return walk.value();
  }
  static bool valid(const c10::ClassType& type, size_t slot, const c10::IValue& value);
};
template <class Policy>
struct NamedPolicy {
  using value_type = Named<typename Policy::value_type>;
  static value_type create(const SlotWalk& walk) {
    return value_type{walk.name(), Policy::create(walk)};
  }
  static bool valid(const c10::ClassType& type, size_t slot, const c10::IValue& value) {
    return Policy::valid(type, slot, value);
  }
};

} // namespace detail

/// Goes through a list. Its elements are made when they are read.
template <class Policy>
struct slot_iterator_impl {
  using value_type = typename Policy::value_type;
  using iterator_category = std::input_iterator_tag;
  using difference_type = std::ptrdiff_t;
  using reference = value_type;
  struct pointer {
    value_type value;
    value_type* operator->() {
      return &value;
    }
  };

  /// The end.
  slot_iterator_impl() = default;
  explicit slot_iterator_impl(detail::SlotWalk walk) : walk_(std::move(walk)) {}
  value_type operator*() const {
    return Policy::create(walk_);
  }
  pointer operator->() const {
    return {**this};
  }
  slot_iterator_impl& operator++() {
    walk_.next();
    return *this;
  }
  slot_iterator_impl operator++(int) {
    slot_iterator_impl old = *this;
    ++*this;
    return old;
  }
  /// Only tells whether one of them is at the end and the other is not.
  friend bool operator!=(const slot_iterator_impl& a, const slot_iterator_impl& b) {
    return a.walk_.at_end() != b.walk_.at_end();
  }
  friend bool operator==(const slot_iterator_impl& a, const slot_iterator_impl& b) {
    return !(a != b);
  }

 private:
  detail::SlotWalk walk_;
};

/// What a module holds of one kind: to be gone through.
template <class Policy>
struct slot_list_impl {
  using iterator = slot_iterator_impl<Policy>;
  using const_iterator = iterator;
  using value_type = typename iterator::value_type;

  slot_list_impl(const Module& module, bool recurse, bool return_module);
  slot_list_impl(c10::intrusive_ptr<c10::ivalue::Object> module, bool recurse, bool return_module)
      : module_(std::move(module)), recurse_(recurse), return_module_(return_module) {}

  iterator begin() const {
    return iterator(detail::SlotWalk(module_, recurse_, return_module_, &Policy::valid));
  }
  iterator end() const {
    return iterator();
  }
  /// Goes through the list when it is first asked for.
  size_t size() const {
    if (!size_) {
      size_t size = 0;
      detail::SlotWalk walk(module_, recurse_, return_module_, &Policy::valid);
      for (; !walk.at_end(); walk.next()) {
        ++size;
      }
      size_ = size;
    }
    return *size_;
  }

 private:
  c10::intrusive_ptr<c10::ivalue::Object> module_;
  bool recurse_;
  bool return_module_;
  mutable std::optional<size_t> size_;
};

using module_list = slot_list_impl<detail::ModulePolicy>;
using named_module_list = slot_list_impl<detail::NamedPolicy<detail::ModulePolicy>>;
using parameter_list = slot_list_impl<detail::ParameterPolicy>;
using named_parameter_list = slot_list_impl<detail::NamedPolicy<detail::ParameterPolicy>>;
using attribute_list = slot_list_impl<detail::AttributePolicy>;
using named_attribute_list = slot_list_impl<detail::NamedPolicy<detail::AttributePolicy>>;
using buffer_list = slot_list_impl<detail::BufferPolicy>;
using named_buffer_list = slot_list_impl<detail::NamedPolicy<detail::BufferPolicy>>;

} // namespace torch::jit
