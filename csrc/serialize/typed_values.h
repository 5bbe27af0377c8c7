// Values from files as values of the types that a program gives them.
#pragma once

#include <aten/core/ivalue.h>
#include <aten/core/jit_type.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace torch::serialize {

/// Compares values with types down to the last element, so that programs may rely on them. Lists and dicts without an
/// element type get that of the type; tuples that shall be named tuples become such, in the containers that hold them,
/// too.
class TypedValues {
 public:
  /// `work` bounds how many elements are looked at in all; a value may hold one and the same list many times.
  explicit TypedValues(uint64_t work) : work_(work) {}

  /// The value as one of the type: the same but for tuples. Throws "expected ..., got ..." if it is none.
  c10::IValue restore(const c10::IValue& value, const c10::TypePtr& type);

 private:
  bool restore_in_place(c10::IValue& value, const c10::Type& type);
  bool restore_list(const c10::IValue& value, const c10::TypePtr& element);
  bool restore_dict(const c10::IValue& value, const c10::DictType& type);
  bool restore_tuple(c10::IValue& value, const c10::TupleType& type);
  void spend(uint64_t work);

  uint64_t work_;
  // Tuples are shared as lists are, but changed by replacement.
  std::map<std::pair<const void*, const c10::Type*>, c10::IValue> tuples_;
  std::vector<c10::IValue> replaced_; // kept so that no other tuple takes their place
};

} // namespace torch::serialize
