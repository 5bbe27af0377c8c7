// What the classes and functions in a pickle stand for. Nothing but these is known; no code is ever run.
#include <csrc/serialize/pickle_global.h>
#include <csrc/serialize/storage_types.h>
#include <csrc/serialize/type_annotation.h>
#include <csrc/serialize/unpickler.h>

#include <aten/Functions.h>
#include <aten/core/enum_type.h>
#include <c10/util/Exception.h>

#include <fmt/format.h>

#include <cstring>

namespace torch::serialize {

namespace {

using Kind = PickleGlobal::Kind;

struct Known {
  std::string_view name;
  Kind kind;
};

constexpr Known kKnown[] = {
    {"collections.OrderedDict", Kind::OrderedDict},
    {"builtins.complex", Kind::Complex},
    {"__builtin__.complex", Kind::Complex},
    {"_codecs.encode", Kind::Encode},
    {"torch.device", Kind::Device},
    {"torch.Size", Kind::Size},
    {"torch.serialization._get_layout", Kind::Layout},
    {"torch.Tensor", Kind::TensorClass},
    {"torch.nn.parameter.Parameter", Kind::TensorClass},
    {"torch.storage.UntypedStorage", Kind::UntypedStorageClass},
    {"torch._utils._rebuild_tensor_v2", Kind::RebuildTensor},
    {"torch._utils._rebuild_tensor_v3", Kind::RebuildTensorWithDtype},
    {"torch._utils._rebuild_sparse_tensor", Kind::RebuildSparse},
    {"torch._utils._rebuild_sparse_csr_tensor", Kind::RebuildSparse},
    {"torch._utils._rebuild_meta_tensor_no_storage", Kind::RebuildMeta},
    {"torch._utils._rebuild_qtensor", Kind::RebuildQuantized},
    {"torch._utils._rebuild_parameter", Kind::RebuildParameter},
    {"torch._utils._rebuild_parameter_with_state", Kind::RebuildParameter},
    {"torch._tensor._rebuild_from_type_v2", Kind::RebuildFromType},
    {"torch.jit._pickle.build_intlist", Kind::IntList},
    {"torch.jit._pickle.build_doublelist", Kind::FloatList},
    {"torch.jit._pickle.build_boollist", Kind::BoolList},
    {"torch.jit._pickle.build_tensorlist", Kind::TensorList},
    {"torch.jit._pickle.build_tensor_from_id", Kind::TensorFromTable},
    {"torch.jit._pickle.restore_type_tag", Kind::RestoreTypeTag},
};

} // namespace

void Unpickler::push_global(std::string_view module, std::string_view name) {
  const auto push_known = [&](Kind kind, std::string full_name, c10::ScalarType dtype = c10::ScalarType::Byte) {
    push(c10::IValue::make_capsule(c10::make_intrusive<PickleGlobal>(kind, std::move(full_name), dtype)));
  };
  std::string full_name = fmt::format("{}.{}", module, name);
  for (const Known& known : kKnown) {
    if (known.name == full_name) {
      return push_known(known.kind, std::move(full_name));
    }
  }
  if (module == "torch") {
    // A dtype is a value, and an int here.
    if (const auto dtype = dtype_of_python_name(name)) {
      return push(*dtype);
    }
    if (const auto dtype = dtype_of_storage_class(name)) {
      return push_known(Kind::StorageClass, std::move(full_name), *dtype);
    }
    if (const auto scheme = qscheme_of_python_name(name)) {
      return push(static_cast<int64_t>(*scheme));
    }
  }
  if (style_ == Style::TorchScript && (module == "__torch__" || module.substr(0, 10) == "__torch__.")) {
    if (classes_) {
      c10::TypePtr type = classes_->find_class(full_name);
      return push(c10::IValue::make_capsule(
          c10::make_intrusive<PickleGlobal>(Kind::Object, std::move(full_name), std::move(type))));
    }
    return push_known(Kind::Object, std::move(full_name));
  }
  fail(fmt::format(
      "class or function '{}' is not known here, and nothing from a file is ever run. Supported are tensors, "
      "parameters, numbers, strings, tuples, lists and dicts: save a state_dict, not the object itself",
      full_name));
}

// ("storage", class, key, location, number of elements)
void Unpickler::push_persistent() {
  const Item id = pop();
  if (!id.value.isTuple()) {
    fail("a persistent id must be a tuple, is " + id.value.tagKind());
  }
  const auto& fields = id.value.toTupleRef().elements();
  const auto* type = fields.size() >= 5 ? global_of(fields[1]) : nullptr;
  if (!type || (type->kind != Kind::StorageClass && type->kind != Kind::UntypedStorageClass) || !fields[0].isString() ||
      fields[0].toStringRef() != "storage" || !fields[2].isString() || !fields[3].isString() || !fields[4].isInt()) {
    fail("a persistent id must be ('storage', storage class, key, device, number of elements)");
  }
  const bool untyped = type->kind == Kind::UntypedStorageClass;
  const c10::ScalarType dtype = untyped ? c10::ScalarType::Byte : type->dtype;
  uint64_t nbytes = 0;
  const int64_t count = fields[4].toInt();
  if (count < 0 || __builtin_mul_overflow(uint64_t(count), uint64_t(c10::elementSize(dtype)), &nbytes)) {
    fail(fmt::format("a storage of {} elements is impossible", count));
  }
  c10::Storage storage = load_storage_(fields[2].toStringRef(), fields[3].toStringRef(), nbytes);
  push(c10::IValue::make_capsule(c10::make_intrusive<PickleStorage>(std::move(storage), dtype)));
}

void Unpickler::reduce() {
  const Item arguments = pop();
  const Item function = pop();
  const PickleGlobal* global = global_of(function.value);
  if (!global) {
    fail("what is called must be a class or function, is " + function.value.tagKind());
  }
  if (global->type && global->type->kind() == c10::TypeKind::EnumType) {
    return push_enum(*global, arguments.value);
  }
  if (!arguments.value.isTuple()) {
    fail("arguments must be a tuple, are " + arguments.value.tagKind());
  }
  stack_.push_back(call(*global, arguments));
}

// The member of an enumeration is written as its value; Python puts that into a tuple.
void Unpickler::push_enum(const PickleGlobal& global, const c10::IValue& value) {
  const bool in_tuple = value.isTuple() && value.toTupleRef().size() == 1;
  const c10::IValue wanted = in_tuple ? value.toTupleRef().elements()[0] : value;
  const auto type = global.type->expect<c10::EnumType>();
  if (wanted.isInt() || wanted.isDouble() || wanted.isString()) {
    spend(type->enumNamesValues().size());
    for (const c10::EnumNameValue& member : type->enumNamesValues()) {
      if (member.second.tag() == wanted.tag() && member.second == wanted) {
        return push(c10::IValue(c10::make_intrusive<c10::ivalue::EnumHolder>(type, member.first, member.second)));
      }
    }
  }
  fail(fmt::format("enumeration '{}' has no member of this value", global.name));
}

Unpickler::Item Unpickler::call(const PickleGlobal& global, const Item& tuple) {
  const auto& elements = tuple.value.toTupleRef().elements();
  const c10::ArrayRef<c10::IValue> arguments(elements.data(), elements.size());
  const auto expect = [&](bool good, const char* what) {
    if (!good) {
      fail(fmt::format("{} takes {}", global.name, what));
    }
  };
  // A container among the arguments keeps its record, so that its depth stays known.
  const auto same = [&](const c10::IValue& value) {
    const auto record = static_cast<uint32_t>(records_.size());
    records_.push_back(Record{records_[tuple.record].depth, /*frozen=*/true, false});
    return Item{value, record};
  };
  switch (global.kind) {
    case Kind::OrderedDict:
      return ordered_dict(arguments);
    case Kind::Complex:
      expect(arguments.size() == 2 && arguments[0].isDouble() && arguments[1].isDouble(), "two floats");
      return Item{c10::complex<double>(arguments[0].toDouble(), arguments[1].toDouble())};
    case Kind::Device:
      expect(
          arguments.size() >= 1 && arguments.size() <= 2 && arguments[0].isString() &&
              (arguments.size() == 1 || arguments[1].isInt()),
          "the name of a device, and an int");
      if (arguments.size() == 1) {
        return Item{c10::Device(arguments[0].toStringRef())};
      }
      return Item{c10::Device(fmt::format("{}:{}", arguments[0].toStringRef(), arguments[1].toInt()))};
    case Kind::Size:
      expect(arguments.size() == 1 && arguments[0].isTuple(), "a tuple");
      if (records_[tuple.record].holds_globals) {
        fail("torch.Size takes a tuple of ints");
      }
      return same(arguments[0]);
    case Kind::Encode:
      expect(!arguments.empty() && arguments[0].isString(), "a str");
      return Item{arguments[0]};
    case Kind::Layout: {
      expect(arguments.size() == 1 && arguments[0].isString(), "the name of a layout");
      const auto layout = layout_of_python_name(arguments[0].toStringRef());
      if (!layout) {
        fail(fmt::format("layout '{}' is not known here", arguments[0].toStringRef()));
      }
      return Item{static_cast<int64_t>(*layout)};
    }
    case Kind::RebuildSparse:
      return Item{rebuild_sparse(arguments)};
    case Kind::RebuildMeta:
      return Item{rebuild_meta(arguments)};
    case Kind::RebuildQuantized:
      return Item{rebuild_quantized(arguments)};
    case Kind::RebuildTensor:
    case Kind::RebuildTensorWithDtype:
      return Item{rebuild_tensor(global, arguments)};
    case Kind::RebuildParameter:
      return Item{rebuild_parameter(arguments)};
    case Kind::RebuildFromType:
      return rebuild_from_type(arguments, tuple);
    case Kind::IntList:
    case Kind::FloatList:
    case Kind::BoolList:
    case Kind::TensorList:
      expect(arguments.size() == 1 && arguments[0].isList(), "a list");
      set_list_type(
          arguments[0],
          global.kind == Kind::IntList         ? c10::TypePtr(c10::IntType::get())
              : global.kind == Kind::FloatList ? c10::TypePtr(c10::FloatType::get())
              : global.kind == Kind::BoolList  ? c10::TypePtr(c10::BoolType::get())
                                               : c10::TypePtr(c10::TensorType::get()));
      return same(arguments[0]);
    case Kind::TensorFromTable: {
      expect(arguments.size() == 1 && arguments[0].isInt(), "the number of a tensor");
      const int64_t index = arguments[0].toInt();
      if (index < 0 || static_cast<uint64_t>(index) >= tensor_table_.size()) {
        fail(fmt::format("tensor {} is not in the table, which has {}", index, tensor_table_.size()));
      }
      return Item{tensor_table_[static_cast<size_t>(index)]};
    }
    case Kind::RestoreTypeTag:
      expect(arguments.size() == 2 && arguments[1].isString(), "a value and the name of its type");
      if (records_[tuple.record].holds_globals) {
        fail("restore_type_tag takes a value");
      }
      restore_type_tag(arguments[0], arguments[1].toStringRef());
      return same(arguments[0]);
    case Kind::StorageClass:
    case Kind::UntypedStorageClass:
    case Kind::TensorClass:
    case Kind::Object:
    case Kind::NewObject:
      break;
  }
  fail(fmt::format("class '{}' cannot be called", global.name));
}

Unpickler::Item Unpickler::ordered_dict(c10::ArrayRef<c10::IValue> arguments) {
  c10::Dict<c10::IValue, c10::IValue> dict(c10::AnyType::get(), c10::AnyType::get());
  const auto record = static_cast<uint32_t>(records_.size());
  records_.emplace_back();
  // Python 2 gave the items as a list of lists; nothing newer does.
  if (!arguments.empty()) {
    fail("collections.OrderedDict takes no arguments here");
  }
  return Item{std::move(dict), record};
}

std::vector<int64_t> Unpickler::int_vector(const c10::IValue& tuple, const char* what) {
  if (!tuple.isTuple()) {
    fail(fmt::format("{} of a tensor must be a tuple, is {}", what, tuple.tagKind()));
  }
  const auto& elements = tuple.toTupleRef().elements();
  spend(elements.size() * 2);
  std::vector<int64_t> values;
  values.reserve(elements.size());
  for (const c10::IValue& element : elements) {
    if (!element.isInt() || element.toInt() < 0) {
      fail(fmt::format("{} of a tensor must be ints that are not negative", what));
    }
    values.push_back(element.toInt());
  }
  return values;
}

namespace {

// Elements that a storage must have for these sizes and strides; -1 on overflow.
int64_t needed_elements(int64_t offset, const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides) {
  int64_t last = offset, count = 1;
  for (const int64_t size : sizes) {
    if (size == 0) {
      return 0;
    }
  }
  for (size_t dim = 0; dim < sizes.size(); ++dim) {
    int64_t reach = 0;
    if (__builtin_mul_overflow(sizes[dim] - 1, strides[dim], &reach) || __builtin_add_overflow(last, reach, &last) ||
        __builtin_mul_overflow(count, sizes[dim], &count)) {
      return -1;
    }
  }
  return last == INT64_MAX ? -1 : last + 1;
}

bool is_dtype(const c10::IValue& value) {
  return value.isInt() && value.toInt() >= 0 && value.toInt() < static_cast<int64_t>(c10::ScalarType::NumOptions) &&
      python_dtype(static_cast<c10::ScalarType>(value.toInt())).has_value();
}

} // namespace

c10::IValue Unpickler::rebuild_tensor(const PickleGlobal& global, c10::ArrayRef<c10::IValue> arguments) {
  const bool with_dtype = global.kind == Kind::RebuildTensorWithDtype;
  const auto* storage = arguments.size() >= (with_dtype ? 7u : 6u) ? held<PickleStorage>(arguments[0]) : nullptr;
  if (!storage || !arguments[1].isInt() || !arguments[4].isBool()) {
    fail(fmt::format(
        "{} takes (storage, storage_offset, size, stride, requires_grad, backward_hooks{})", global.name,
        with_dtype ? ", dtype" : ""));
  }
  c10::ScalarType dtype = storage->dtype;
  if (with_dtype) {
    if (!is_dtype(arguments[6])) {
      fail(global.name + ": the last argument must be a dtype");
    }
    dtype = arguments[6].toScalarType();
  }
  const int64_t offset = arguments[1].toInt();
  const std::vector<int64_t> sizes = int_vector(arguments[2], "size"), strides = int_vector(arguments[3], "stride");
  if (sizes.size() != strides.size()) {
    fail(fmt::format("a tensor of {} sizes has {} strides", sizes.size(), strides.size()));
  }
  const int64_t needed = offset < 0 ? -1 : needed_elements(offset, sizes, strides);
  const auto available = static_cast<int64_t>(storage->storage.nbytes() / c10::elementSize(dtype));
  if (needed < 0 || needed > available) {
    fail(fmt::format(
        "a tensor of {} with size [{}], stride [{}] and offset {} reaches past its storage of {} elements",
        c10::toString(dtype), fmt::join(sizes, ", "), fmt::join(strides, ", "), offset, available));
  }
  at::Tensor tensor = at::empty({0}, at::TensorOptions(dtype).device(storage->storage.device()));
  tensor.set_(storage->storage, offset, sizes, strides);
  if (arguments[4].toBool()) {
    tensor.set_requires_grad(true);
  }
  const size_t metadata = with_dtype ? 7 : 6;
  if (arguments.size() > metadata && arguments[metadata].isGenericDict()) {
    // Conjugated and negated views.
    for (const auto& entry : arguments[metadata].toGenericDict()) {
      if (!entry.key().isString() || !entry.value().isBool() || !entry.value().toBool()) {
        continue;
      }
      const std::string& key = entry.key().toStringRef();
      if (key == "conj") {
        tensor._set_conj(true);
      }
      if (key == "neg") {
        tensor._set_neg(true);
      }
    }
  }
  return tensor;
}

// torch._utils._rebuild_meta_tensor_no_storage(dtype, size, stride, requires_grad)
c10::IValue Unpickler::rebuild_meta(c10::ArrayRef<c10::IValue> arguments) {
  if (arguments.size() != 4 || !is_dtype(arguments[0]) || !arguments[3].isBool()) {
    fail("torch._utils._rebuild_meta_tensor_no_storage takes (dtype, size, stride, requires_grad)");
  }
  const std::vector<int64_t> sizes = int_vector(arguments[1], "size"), strides = int_vector(arguments[2], "stride");
  if (sizes.size() != strides.size()) {
    fail(fmt::format("a tensor of {} sizes has {} strides", sizes.size(), strides.size()));
  }
  at::Tensor tensor =
      at::empty_strided(sizes, strides, at::TensorOptions(arguments[0].toScalarType()).device(at::kMeta));
  if (arguments[3].toBool()) {
    tensor.set_requires_grad(true);
  }
  return tensor;
}

// torch._utils._rebuild_parameter(data, requires_grad, backward_hooks[, state])
c10::IValue Unpickler::rebuild_parameter(c10::ArrayRef<c10::IValue> arguments) {
  if (arguments.size() < 2 || !arguments[0].isTensor() || !arguments[1].isBool()) {
    fail("torch._utils._rebuild_parameter takes (data, requires_grad, backward_hooks)");
  }
  at::Tensor parameter = arguments[0].toTensor().detach();
  parameter.set_requires_grad(arguments[1].toBool());
  return parameter;
}

// torch._tensor._rebuild_from_type_v2(function, type, arguments, state): tensors with Python attributes, which are left
// out.
Unpickler::Item Unpickler::rebuild_from_type(c10::ArrayRef<c10::IValue> arguments, const Item& tuple) {
  const auto* function = arguments.size() == 4 ? global_of(arguments[0]) : nullptr;
  const auto* type = function ? global_of(arguments[1]) : nullptr;
  const bool rebuilds = function &&
      (function->kind == Kind::RebuildTensor || function->kind == Kind::RebuildTensorWithDtype ||
       function->kind == Kind::RebuildSparse || function->kind == Kind::RebuildMeta ||
       function->kind == Kind::RebuildParameter);
  if (!rebuilds || !type || type->kind != Kind::TensorClass || !arguments[2].isTuple()) {
    fail("torch._tensor._rebuild_from_type_v2 takes (function, tensor class, arguments, state)");
  }
  return call(*function, Item{arguments[2], tuple.record});
}

// --- element types
// ------------------------------------------------------------------------------------------------------

void Unpickler::set_list_type(const c10::IValue& value, const c10::TypePtr& element) {
  const auto elements = value.toListRef();
  c10::List<c10::IValue> list = value.toList();
  if (*list.elementType() == *element) {
    return;
  }
  spend(elements.size() / 8);
  for (const c10::IValue& item : elements) {
    if (!may_be(item, *element)) {
      fail(fmt::format("a value of type {} lies in a List[{}]", item.tagKind(), element->annotation_str()));
    }
  }
  list.unsafeSetElementType(element);
}

const c10::TypePtr& Unpickler::tagged_type(const std::string& name) {
  const auto known = tagged_types_.find(name);
  if (known != tagged_types_.end()) {
    return known->second;
  }
  spend(name.size());
  return tagged_types_.emplace(name, classes_ ? classes_->parse_type(name) : parse_type_annotation(name)).first->second;
}

void Unpickler::restore_type_tag(const c10::IValue& value, const std::string& name) {
  const c10::TypePtr& type = tagged_type(name);
  if (classes_) {
    if (!value.isList() && !value.isGenericDict()) {
      fail(fmt::format("a value of type {} is tagged as {}", value.tagKind(), name));
    }
    classes_->restore_type(value, type);
    return;
  }
  // Types that are not known here (classes, enumerations) leave the value as it is.
  if (!type) {
    return;
  }
  if (!may_be(value, *type)) {
    fail(fmt::format("a value of type {} is tagged as {}", value.tagKind(), name));
  }
  if (const auto list_type = type->cast<c10::ListType>()) {
    set_list_type(value, list_type->getElementType());
  } else if (const auto dict_type = type->cast<c10::DictType>()) {
    c10::Dict<c10::IValue, c10::IValue> dict = value.toGenericDict();
    spend(dict.size() / 4);
    for (const auto& entry : dict) {
      if (!may_be(entry.key(), *dict_type->getKeyType()) || !may_be(entry.value(), *dict_type->getValueType())) {
        fail(fmt::format("an entry of type {}: {} lies in a {}", entry.key().tagKind(), entry.value().tagKind(), name));
      }
    }
    dict.unsafeSetKeyType(dict_type->getKeyType());
    dict.unsafeSetValueType(dict_type->getValueType());
  }
}

} // namespace torch::serialize
