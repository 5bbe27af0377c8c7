#include <csrc/serialize/unpickler.h>

#include <csrc/serialize/archive_node.h>
#include <csrc/serialize/pickle_global.h>
#include <c10/util/Exception.h>

#include <fmt/format.h>

#include <algorithm>

namespace torch::serialize {

namespace {

constexpr uint32_t kMaxLoadedDepth = 1000;
constexpr uint64_t kWorkPerByte = 64;
constexpr uint64_t kFreeWork = 1 << 16;

} // namespace

ProgramClasses::~ProgramClasses() = default;

Unpickler::Unpickler(
    std::string_view pickle,
    std::string where,
    Style style,
    LoadStorage load_storage,
    c10::ArrayRef<at::Tensor> tensor_table,
    ProgramClasses* classes)
    : PickleMachine(pickle),
      where_(std::move(where)),
      style_(style),
      load_storage_(std::move(load_storage)),
      tensor_table_(tensor_table),
      classes_(classes) {}

void Unpickler::fail(const std::string& what) const {
  TORCH_CHECK(false, "Unpickler: ", where_, ", offset ", position(), ": ", what);
}

void Unpickler::spend(uint64_t work) {
  work_ += work;
  if (work_ > kFreeWork + kWorkPerByte * pickle_size()) {
    fail("the pickle asks for far more work than its length explains; it is damaged or hostile");
  }
}

// --- containers
// ---------------------------------------------------------------------------------------------------------

void Unpickler::push_container(c10::IValue value) {
  stack_.push_back(Item{std::move(value), static_cast<uint32_t>(records_.size())});
  records_.emplace_back();
}

void Unpickler::enter(const Item& child, uint32_t parent_record) {
  if (child.record == 0) {
    return;
  }
  if (child.record == parent_record) {
    fail("values that contain themselves are not supported");
  }
  Record& record = records_[child.record];
  record.frozen = true;
  Record& parent = records_[parent_record];
  parent.depth = std::max(parent.depth, record.depth + 1);
  if (parent.depth > kMaxLoadedDepth) {
    fail(fmt::format("values are nested more than {} levels deep", kMaxLoadedDepth));
  }
}

// An item as it may lie in a list, a dict or an object, or be the result.
c10::IValue Unpickler::settle(Item item, uint32_t parent_record) {
  if (item.value.isCapsule()) {
    const c10::intrusive_ptr<torch::CustomClassHolder> holder = item.value.toCapsule();
    if (const auto* global = dynamic_cast<const PickleGlobal*>(holder.get())) {
      fail(fmt::format("class or function '{}' stands where a value must stand", global->name));
    }
    if (const auto* storage = dynamic_cast<const PickleStorage*>(holder.get())) {
      return c10::IValue(storage->storage);
    }
  }
  if (item.record != 0) {
    if (records_[item.record].holds_globals) {
      fail("a tuple that holds classes or storages stands where a value must stand");
    }
    if (!records_[item.record].frozen) {
      infer_types(item.value);
    }
    enter(item, parent_record);
  }
  return std::move(item.value);
}

namespace {

// The type of values that all are of one simple kind, else Any.
template <class Values, class Get>
c10::TypePtr common_type(const Values& values, Get get) {
  bool first = true;
  c10::IValue::Tag tag = c10::IValue::Tag::None;
  for (const auto& value : values) {
    const c10::IValue::Tag next = get(value).tag();
    if (!first && next != tag) {
      return c10::AnyType::get();
    }
    tag = next;
    first = false;
  }
  switch (tag) {
    case c10::IValue::Tag::Int:
      return c10::IntType::get();
    case c10::IValue::Tag::Double:
      return c10::FloatType::get();
    case c10::IValue::Tag::Bool:
      return c10::BoolType::get();
    case c10::IValue::Tag::String:
      return c10::StringType::get();
    case c10::IValue::Tag::ComplexDouble:
      return c10::ComplexType::get();
    case c10::IValue::Tag::Tensor:
      return c10::TensorType::get();
    default:
      return c10::AnyType::get();
  }
}

} // namespace

// Python's lists and dicts say nothing of their elements; a list of ints shall be a List[int].
void Unpickler::infer_types(const c10::IValue& value) {
  if (value.isList()) {
    c10::List<c10::IValue> list = value.toList();
    if (list.elementType()->kind() != c10::TypeKind::AnyType) {
      return;
    }
    list.unsafeSetElementType(common_type(value.toListRef(), [](const c10::IValue& element) { return element; }));
  } else if (value.isGenericDict()) {
    c10::Dict<c10::IValue, c10::IValue> dict = value.toGenericDict();
    if (dict.keyType()->kind() != c10::TypeKind::AnyType || dict.valueType()->kind() != c10::TypeKind::AnyType) {
      return;
    }
    dict.unsafeSetKeyType(common_type(dict, [](const auto& entry) { return entry.key(); }));
    dict.unsafeSetValueType(common_type(dict, [](const auto& entry) { return entry.value(); }));
  }
}

void Unpickler::check_open(const Item& container) {
  if (records_[container.record].frozen) {
    fail("values that contain themselves are not supported: a container is changed that lies in another one");
  }
}

void Unpickler::make_tuple(size_t first) {
  std::vector<c10::IValue> elements;
  elements.reserve(stack_.size() - first);
  const auto record = static_cast<uint32_t>(records_.size());
  records_.emplace_back();
  for (size_t i = first; i < stack_.size(); ++i) {
    Item& item = stack_[i];
    const bool is_global = item.value.isCapsule() && !node_of(item.value);
    if (is_global || (item.record != 0 && records_[item.record].holds_globals)) {
      records_[record].holds_globals = true;
      enter(item, record);
      elements.push_back(std::move(item.value));
    } else {
      elements.push_back(settle(std::move(item), record));
    }
  }
  stack_.resize(first);
  stack_.push_back(Item{c10::ivalue::Tuple::create(std::move(elements)), record});
}

void Unpickler::append_from(size_t first) {
  if (first == 0 || first <= floor()) {
    fail("there is no list to append to");
  }
  const Item list = stack_[first - 1];
  if (!list.value.isList()) {
    fail("what is appended to must be a list, is " + list.value.tagKind());
  }
  check_open(list);
  c10::List<c10::IValue> elements = list.value.toList();
  for (size_t i = first; i < stack_.size(); ++i) {
    elements.push_back(settle(std::move(stack_[i]), list.record));
  }
  stack_.resize(first);
}

void Unpickler::set_items_from(size_t first) {
  if (first == 0 || first <= floor()) {
    fail("there is no dict to add to");
  }
  if ((stack_.size() - first) % 2 != 0) {
    fail("a key of a dict has no value");
  }
  const Item target = stack_[first - 1];
  if (!target.value.isGenericDict()) {
    fail("what items are added to must be a dict, is " + target.value.tagKind());
  }
  check_open(target);
  c10::Dict<c10::IValue, c10::IValue> dict = target.value.toGenericDict();
  for (size_t i = first; i < stack_.size(); i += 2) {
    const c10::IValue key = settle(std::move(stack_[i]), target.record);
    switch (key.tag()) {
      case c10::IValue::Tag::String:
        spend(key.toStringRef().size() / 8);
        break;
      case c10::IValue::Tag::Int:
      case c10::IValue::Tag::Double:
      case c10::IValue::Tag::Bool:
      case c10::IValue::Tag::ComplexDouble:
      case c10::IValue::Tag::Device:
        break;
      default:
        fail("a key of a dict must be a str, int, float, bool, complex or device, is " + key.tagKind());
    }
    dict.insert_or_assign(key, settle(std::move(stack_[i + 1]), target.record));
  }
  stack_.resize(first);
}

void Unpickler::new_object() {
  const Item arguments = pop();
  const Item type = pop();
  const auto* global = global_of(type.value);
  if (!global || global->kind != PickleGlobal::Kind::Object) {
    fail("a new object must be of a class __torch__.*");
  }
  if (!arguments.value.isTuple() || arguments.value.toTupleRef().size() != 0) {
    fail("a new object takes no arguments");
  }
  if (classes_) {
    const std::string& name = global->name;
    if (global->type->kind() != c10::TypeKind::ClassType) {
      fail(fmt::format("'{}' is no class of objects", name));
    }
    return push(c10::IValue::make_capsule(
        c10::make_intrusive<PickleGlobal>(PickleGlobal::Kind::NewObject, name, global->type)));
  }
  push_container(c10::IValue::make_capsule(c10::make_intrusive<ArchiveNode>()));
}

// The object comes into being with its state, so nothing can refer to it before, and it contains no cycles.
void Unpickler::build_object(const PickleGlobal& global, Item state) {
  const auto record = static_cast<uint32_t>(records_.size());
  records_.emplace_back();
  const c10::IValue settled = settle(std::move(state), record);
  const c10::ClassTypePtr type = global.type->expect<c10::ClassType>();
  spend(type->numAttributes());
  top() = Item{classes_->make_object(type, settled), record};
}

// Gives an object its state. A dict's own attributes (such as _metadata of Python's state dicts), and those of a
// tensor, are left out.
void Unpickler::build() {
  const Item state = pop();
  Item& target = top();
  if (const auto* global = global_of(target.value); global && global->kind == PickleGlobal::Kind::NewObject) {
    return build_object(*global, state);
  }
  const c10::intrusive_ptr<ArchiveNode> node = node_of(target.value);
  if (!node) {
    if (target.value.isGenericDict() || target.value.isTensor()) {
      return;
    }
    fail("a value of type " + target.value.tagKind() + " cannot take a state");
  }
  check_open(target);
  if (!node->entries.empty()) {
    fail("an object gets its state twice");
  }
  if (!state.value.isGenericDict()) {
    fail(
        "the state of an object must be a dict, is " + state.value.tagKind() +
        ": classes with __getstate__ are not supported");
  }
  const Item settled{settle(state, target.record), state.record};
  for (const auto& entry : settled.value.toGenericDict()) {
    if (!entry.key().isString()) {
      fail("the name of an attribute must be a str, is " + entry.key().tagKind());
    }
    const c10::IValue value = entry.value();
    const ArchiveNode::Kind kind = value.isTensor() ? ArchiveNode::Kind::Parameter
        : node_of(value)                            ? ArchiveNode::Kind::Archive
                                                    : ArchiveNode::Kind::Attribute;
    spend(1);
    node->put(entry.key().toStringRef(), value, kind);
  }
}

// --- instructions
// ---------------------------------------------------------------------------------------------------------

void Unpickler::push_number(const PickleInstruction& instruction) {
  if (instruction.is_unsigned) {
    push(c10::IValue(static_cast<uint64_t>(instruction.number)));
  } else {
    push(instruction.number);
  }
}

void Unpickler::push_empty(bool is_list) {
  if (is_list) {
    push_container(c10::List<c10::IValue>(c10::AnyType::get()));
  } else {
    push_container(c10::Dict<c10::IValue, c10::IValue>(c10::AnyType::get(), c10::AnyType::get()));
  }
}

// Of all behind the last mark.
void Unpickler::make_container(bool is_list) {
  const size_t mark = pop_mark();
  push_empty(is_list);
  std::rotate(stack_.begin() + static_cast<ptrdiff_t>(mark), stack_.end() - 1, stack_.end());
  is_list ? append_from(mark + 1) : set_items_from(mark + 1);
}

void Unpickler::carry_out(const PickleInstruction& instruction) {
  if (move_items(instruction)) {
    return;
  }
  const auto count = static_cast<size_t>(instruction.number);
  switch (instruction.opcode) {
    case Opcode::None:
      return push(c10::IValue());
    case Opcode::NewTrue:
      return push(instruction.number != 0);
    case Opcode::BinInt:
      return push_number(instruction);
    case Opcode::BinFloat:
      return push(instruction.real);
    case Opcode::BinUnicode:
      return push(std::string(instruction.text));
    case Opcode::Tuple1:
      need(count);
      return make_tuple(stack_.size() - count);
    case Opcode::Tuple:
      return make_tuple(pop_mark());
    case Opcode::EmptyList:
    case Opcode::EmptyDict:
      return push_empty(instruction.opcode == Opcode::EmptyList);
    case Opcode::List:
    case Opcode::Dict:
      return make_container(instruction.opcode == Opcode::List);
    case Opcode::Append:
      need(1);
      return append_from(stack_.size() - 1);
    case Opcode::Appends:
      return append_from(pop_mark());
    case Opcode::SetItem:
      need(3);
      return set_items_from(stack_.size() - 2);
    case Opcode::SetItems:
      return set_items_from(pop_mark());
    case Opcode::Global:
      return push_global(instruction.text, instruction.name);
    case Opcode::StackGlobal: {
      const Item name = pop(), module = pop();
      if (!name.value.isString() || !module.value.isString()) {
        fail("the name of a class or function must be a str");
      }
      return push_global(module.value.toStringRef(), name.value.toStringRef());
    }
    case Opcode::BinPersistentId:
      return push_persistent();
    case Opcode::Reduce:
      return reduce();
    case Opcode::NewObj:
      return new_object();
    default:
      return build();
  }
}

c10::IValue Unpickler::parse() {
  for (PickleInstruction instruction = next(); instruction.opcode != Opcode::Stop; instruction = next()) {
    carry_out(instruction);
  }
  const uint32_t root = static_cast<uint32_t>(records_.size());
  records_.emplace_back();
  Item result = pop();
  if (!stack_.empty() || !marks_.empty()) {
    fail("the pickle ends with more than one value");
  }
  return settle(std::move(result), root);
}

} // namespace torch::serialize
