// Operators of dictionaries, one set for each type of key.
#include <csrc/jit/runtime/ops/rows.h>

#include <aten/core/jit_type.h>

#include <sstream>

namespace torch::jit::ops {

void throw_key_error(const IValue& key) {
  std::ostringstream printed;
  printed << key;
  TORCH_CHECK_INDEX(false, "KeyError: ", printed.str());
}

namespace {

IValue element(AnyDict self, IValue& key) {
  const auto found = self.find(key);
  if (found == self.end()) {
    throw_key_error(key);
  }
  return found->value();
}
IValue get(AnyDict self, IValue& key) {
  const auto found = self.find(key);
  return found == self.end() ? IValue() : IValue(found->value());
}
IValue get_or(AnyDict self, IValue& key, IValue& otherwise) {
  const auto found = self.find(key);
  return found == self.end() ? std::move(otherwise) : IValue(found->value());
}
IValue setdefault(AnyDict self, IValue& key, IValue& value) {
  return self.insert(std::move(key), std::move(value)).first->value();
}
void set_item(AnyDict self, IValue& key, IValue& value) {
  self.insert_or_assign(std::move(key), std::move(value));
}
void erase(AnyDict self, IValue& key) {
  if (self.erase(key) == 0) {
    throw_key_error(key);
  }
}
IValue pop(AnyDict self, IValue& key) {
  const auto found = self.find(key);
  if (found == self.end()) {
    throw_key_error(key);
  }
  IValue value = found->value();
  self.erase(found);
  return value;
}
IValue pop_or(AnyDict self, IValue& key, IValue& otherwise) {
  const auto found = self.find(key);
  if (found == self.end()) {
    return std::move(otherwise);
  }
  IValue value = found->value();
  self.erase(found);
  return value;
}
IValue pop_item(AnyDict self) {
  TORCH_CHECK_INDEX(!self.empty(), "popitem(): dictionary is empty");
  const auto first = self.begin();
  IValue item(c10::ivalue::Tuple::create(IValue(first->key()), IValue(first->value())));
  self.erase(first);
  return item;
}
AnyList keys(AnyDict self) {
  AnyList out(self.keyType());
  out.reserve(self.size());
  for (const auto& entry : self) {
    out.push_back(entry.key());
  }
  return out;
}
AnyList values(AnyDict self) {
  AnyList out(self.valueType());
  out.reserve(self.size());
  for (const auto& entry : self) {
    out.push_back(entry.value());
  }
  return out;
}
AnyList items(AnyDict self) {
  AnyList out(c10::TupleType::create({self.keyType(), self.valueType()}));
  out.reserve(self.size());
  for (const auto& entry : self) {
    out.push_back(c10::ivalue::Tuple::create(IValue(entry.key()), IValue(entry.value())));
  }
  return out;
}
void update(AnyDict self, AnyDict other) {
  if (self.is(other)) {
    return;
  }
  for (const auto& entry : other) {
    self.insert_or_assign(IValue(entry.key()), IValue(entry.value()));
  }
}
AnyDict from_items(AnyList pairs) {
  const auto type = pairs.elementType()->expectRef<c10::TupleType>().elements();
  AnyDict out(type[0], type[1]);
  out.reserve(pairs.size());
  for (size_t i = 0; i < pairs.size(); ++i) {
    const IValue pair = pairs.get(i);
    const auto& parts = pair.toTupleRef().elements();
    out.insert_or_assign(parts[0], parts[1]);
  }
  return out;
}
AnyDict empty_dict() {
  return AnyDict(c10::StringType::get(), c10::TensorType::get());
}

// clang-format off
#define DICT_ROWS(K)                                                                                                  \
  {"aten::len.Dict_" K "(Dict(" K ", t) self) -> int", call<[](AnyDict self) { return static_cast<int64_t>(self.size()); }>}, \
  {"aten::keys." K "(Dict(" K ", t) self) -> " K "[](*)", call<keys>},                                                \
  {"aten::values." K "(Dict(" K ", t) self) -> t[](*)", call<values>},                                                \
  {"aten::items." K "(Dict(" K ", t) self) -> ((" K ", t)[])", call<items>},                                          \
  {"aten::__getitem__.Dict_" K "(Dict(" K ", t) self, " K " key) -> t(*)", call<element>},                            \
  {"aten::get." K "(Dict(" K ", t) self, " K " key) -> t(*)?", call<get>},                                            \
  {"aten::get.default_" K "(Dict(" K ", t) self, " K " key, t default_value) -> t(*)", call<get_or>},                 \
  {"aten::setdefault." K "(Dict(" K ", t)(a!) self, " K "(b -> *) key, t(c -> *) default_value) -> t(*)", call<setdefault>}, \
  {"aten::Delete.Dict_" K "(Dict(" K ", t)(a!) self, " K " key) -> ()", call<erase>},                                 \
  {"aten::pop.Dict_" K "(Dict(" K ", t)(a!) self, " K " key) -> t(*)", call<pop>},                                    \
  {"aten::pop.Dict_default_" K "(Dict(" K ", t)(a!) self, " K " key, t default_value) -> t(*)", call<pop_or>},        \
  {"aten::popitem." K "(Dict(" K ", t)(a!) self) -> ((" K ", t))", call<pop_item>},                                   \
  {"aten::clear." K "(Dict(" K ", t)(a!) self) -> ()", call<[](AnyDict self) { self.clear(); }>},                     \
  {"aten::update." K "(Dict(" K ", t)(a!) self, Dict(" K ", t)(a!) to_add) -> ()", call<update>},                     \
  {"aten::copy.Dict_" K "(Dict(" K ", t)(a) self) -> Dict(" K ", t)", call<[](AnyDict self) { return self.copy(); }>}, \
  {"aten::__contains__." K "(Dict(" K ", t) dict, " K " key) -> bool", call<[](AnyDict self, IValue& key) { return self.contains(key); }>}, \
  {"aten::_set_item." K "(Dict(" K ", t)(a!) l, " K "(b -> *) idx, t(c -> *) v) -> ()", call<set_item>},              \
  {"aten::dict." K "((" K ", tVal)[] inputs) -> Dict(" K ", tVal)", call<from_items>},                                \
  {"aten::dict.Dict_" K "(Dict(" K ", t)(a) self) -> Dict(" K ", t)", call<[](AnyDict self) { return self.copy(); }>},
// clang-format on

constexpr OperatorRow kRows[] = {
    {"aten::dict() -> Dict(str, Tensor)", call<empty_dict>},
    DICT_ROWS("str") DICT_ROWS("int") DICT_ROWS("bool") DICT_ROWS("float") DICT_ROWS("complex") DICT_ROWS("Tensor")};
#undef DICT_ROWS

} // namespace

at::ArrayRef<OperatorRow> dict_rows() {
  return kRows;
}

} // namespace torch::jit::ops
