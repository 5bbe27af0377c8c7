// The classes and functions that may occur in a pickle.
#pragma once

#include <aten/core/ivalue.h>

#include <string>
#include <string_view>

namespace torch::serialize {

/// A class or function on the unpickler's stack.
struct PickleGlobal final : torch::CustomClassHolder {
  enum class Kind {
    StorageClass,
    UntypedStorageClass,
    TensorClass,
    Object, // __torch__.*
    NewObject, // one that has not got its state yet
    OrderedDict,
    Complex,
    Device,
    Size,
    Layout,
    RebuildTensor, // torch._utils._rebuild_tensor_v2, and _v3 with the dtype behind
    RebuildTensorWithDtype,
    RebuildSparse,
    RebuildMeta,
    RebuildQuantized,
    RebuildParameter,
    RebuildFromType,
    Encode, // _codecs.encode, for bytes in protocol 2
    IntList,
    FloatList,
    BoolList,
    TensorList,
    TensorFromTable,
    RestoreTypeTag,
  };

  PickleGlobal(Kind kind, std::string name, c10::ScalarType dtype) : kind(kind), name(std::move(name)), dtype(dtype) {}
  PickleGlobal(Kind kind, std::string name, c10::TypePtr type)
      : kind(kind), name(std::move(name)), dtype(c10::ScalarType::Undefined), type(std::move(type)) {}
  Kind kind;
  std::string name;
  c10::ScalarType dtype; // of a StorageClass
  c10::TypePtr type; // of an Object, if classes are known
};

/// A storage on the unpickler's stack.
struct PickleStorage final : torch::CustomClassHolder {
  PickleStorage(c10::Storage storage, c10::ScalarType dtype) : storage(std::move(storage)), dtype(dtype) {}
  c10::Storage storage;
  c10::ScalarType dtype;
};

template <class Holder>
const Holder* held(const c10::IValue& value) {
  return value.isCapsule() ? dynamic_cast<const Holder*>(value.toCapsule().get()) : nullptr;
}

inline const PickleGlobal* global_of(const c10::IValue& value) {
  return held<PickleGlobal>(value);
}

} // namespace torch::serialize
