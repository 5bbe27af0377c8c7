// Operators of TorchScript that belong to nodes: elements of tuples, printing, exceptions, conversions, waiting. Those
// that the interpreter has instructions for (prim::If, prim::TupleConstruct, prim::GetAttr, ...) are not among them.
#include <csrc/jit/runtime/jit_exception.h>
#include <csrc/jit/runtime/ops/tables.h>
#include <csrc/jit/runtime/print_handler.h>
#include <csrc/jit/runtime/run.h>

#include <aten/core/ScalarOps.h>
#include <aten/core/tensor_type.h>
#include <csrc/jit/ir/ir.h>

#include <c10/core/GradMode.h>

#include <sstream>

namespace torch::jit::ops {

namespace {

void tuple_index(Stack& stack) {
  int64_t index = pop(stack).toInt();
  const c10::intrusive_ptr<c10::ivalue::Tuple> tuple = pop(stack).toTuple();
  const int64_t size = static_cast<int64_t>(tuple->size());
  index += index < 0 ? size : 0;
  TORCH_CHECK_INDEX(index >= 0 && index < size, "Tuple index out of range");
  stack.push_back(tuple->elements()[static_cast<size_t>(index)]);
}

void tuple_unpack(Stack& stack) {
  const c10::intrusive_ptr<c10::ivalue::Tuple> tuple = pop(stack).toTuple();
  for (const IValue& element : tuple->elements()) {
    stack.push_back(element);
  }
}

void print(Stack& stack) {
  const size_t count = static_cast<size_t>(pop(stack).toInt());
  std::ostringstream text;
  for (size_t i = 0; i < count; ++i) {
    text << (i > 0 ? " " : "") << peek(stack, i, count);
  }
  drop(stack, count);
  text << '\n';
  getPrintHandler()(text.str());
}

void raise_exception(Stack& stack) {
  const std::optional<std::string> class_name = pop(stack).toOptional<std::string>();
  const std::string message = pop(stack).toStringRef();
  throw JITException(message, class_name);
}

void if_then_else(Stack& stack) {
  const IValue otherwise = pop(stack);
  const IValue then = pop(stack);
  stack.back() = stack.back().toBool() ? then : otherwise;
}

bool has_type(const at::Tensor& tensor, const TensorType& type) {
  if (!tensor.defined()) {
    return type.undefined() != false;
  }
  const auto agrees = [](const auto& known, const auto& actual) { return !known || *known == actual; };
  const bool requires_grad = c10::GradMode::is_enabled() && tensor.requires_grad();
  return type.undefined() != true && agrees(type.scalarType(), tensor.scalar_type()) &&
      agrees(type.device(), tensor.device()) && agrees(type.requiresGrad(), requires_grad) &&
      agrees(type.dim(), static_cast<size_t>(tensor.dim())) &&
      agrees(type.sizes().concrete_sizes(), tensor.sizes().vec()) &&
      (!type.strides().isComplete() || agrees(type.strides().concrete_sizes(), tensor.strides().vec()));
}

/// Leaves its tensors, and whether they have the types that the node lists.
Operation type_check(const Node* node) {
  const std::vector<TypePtr> types = node->tys(attr::types);
  TORCH_CHECK(
      types.size() == node->inputs().size() && types.size() + 1 == node->outputs().size(),
      "prim::TypeCheck gives its inputs and a bool, and has a type for each input; this one has ", types.size(),
      " types, ", node->inputs().size(), " inputs and ", node->outputs().size(), " outputs");
  for (const TypePtr& type : types) {
    TORCH_CHECK(type->kind() == TypeKind::TensorType, "prim::TypeCheck checks tensors, not ", type->repr_str());
  }
  return [types](Stack& stack) {
    bool all = true;
    for (size_t i = 0; i < types.size() && all; ++i) {
      all = has_type(peek(stack, i, types.size()).toTensor(), types[i]->expectRef<TensorType>());
    }
    stack.emplace_back(all);
  };
}

void number_to_tensor(Stack& stack) {
  stack.back() = at::scalar_to_tensor(stack.back().toScalar());
}

// ---- tensors as lists -----------------------------------------------------------------------------------------------

// As prim::tolist has them: the kinds of numbers a list may be wanted of.
enum class ListElement : int64_t { Int, Float, Complex, Bool };

bool holds(const at::Tensor& tensor, ListElement element) {
  switch (element) {
    case ListElement::Int:
      return tensor.scalar_type() == at::kLong;
    case ListElement::Float:
      return tensor.is_floating_point();
    case ListElement::Complex:
      return tensor.is_complex();
    case ListElement::Bool:
      return tensor.scalar_type() == at::kBool;
  }
  TORCH_CHECK(false, "not an element type of tolist: ", static_cast<int64_t>(element));
}

template <class T>
IValue nested_list(const T* data, at::IntArrayRef sizes, const TypePtr& element) {
  if (sizes.empty()) {
    return *data;
  }
  if (sizes.size() == 1) {
    return c10::List<T>(at::ArrayRef<T>(data, static_cast<size_t>(sizes[0])));
  }
  TypePtr inner = element;
  int64_t step = 1;
  for (size_t i = 1; i < sizes.size(); ++i) {
    inner = ListType::create(inner);
    step *= sizes[i];
  }
  c10::impl::GenericList list(inner);
  for (int64_t i = 0; i < sizes[0]; ++i) {
    list.push_back(nested_list(data + i * step, sizes.slice(1), element));
  }
  return list;
}

template <class T>
IValue list_of(const at::Tensor& tensor, at::ScalarType dtype, const TypePtr& element) {
  const at::Tensor values = tensor.detach().to(at::kCPU, dtype).contiguous();
  return nested_list(values.const_data_ptr<T>(), values.sizes(), element);
}

void tolist(Stack& stack) {
  drop(stack, 1); // the number of inputs, always three
  const ListElement element = static_cast<ListElement>(pop(stack).toInt());
  const int64_t depth = pop(stack).toInt();
  const at::Tensor tensor = pop(stack).toTensor();
  TORCH_CHECK(
      holds(tensor, element),
      "Output annotation element type and runtime tensor element type must match for tolist(): ", "the tensor's is ",
      tensor.scalar_type());
  TORCH_CHECK(
      depth == tensor.dim(),
      "Output annotation list dimension and runtime tensor dimension must match for tolist(): ", depth, " and ",
      tensor.dim());
  switch (element) {
    case ListElement::Int:
      stack.push_back(list_of<int64_t>(tensor, at::kLong, IntType::get()));
      break;
    case ListElement::Float:
      stack.push_back(list_of<double>(tensor, at::kDouble, FloatType::get()));
      break;
    case ListElement::Complex:
      stack.push_back(list_of<c10::complex<double>>(tensor, at::kComplexDouble, ComplexType::get()));
      break;
    case ListElement::Bool:
      stack.push_back(list_of<bool>(tensor, at::kBool, BoolType::get()));
      break;
  }
}

// ---- members of module containers -----------------------------------------------------------------------------------

size_t number_of_modules(const ClassType& type) {
  size_t modules = 0;
  for (const c10::ClassAttribute& attribute : type.getAttributes()) {
    modules += attribute.getType()->is_module() ? 1 : 0;
  }
  return modules;
}

void module_of_list(Stack& stack) {
  int64_t index = pop(stack).toInt();
  const c10::intrusive_ptr<c10::ivalue::Object> container = pop(stack).toObject();
  const int64_t size = static_cast<int64_t>(number_of_modules(*container->type()));
  index += index < 0 ? size : 0;
  TORCH_CHECK_INDEX(index >= 0 && index < size, "Index ", index, " is out of range of a list of ", size, " modules");
  stack.push_back(container->getAttr(std::to_string(index)));
}

void module_of_dict(Stack& stack) {
  const std::string key = pop(stack).toStringRef();
  const c10::intrusive_ptr<c10::ivalue::Object> container = pop(stack).toObject();
  TORCH_CHECK_INDEX(container->type()->hasAttribute(key), "Key error, ", key);
  stack.push_back(container->getAttr(key));
}

// ---- waiting --------------------------------------------------------------------------------------------------------

void wait(Stack& stack) {
  stack.back() = wait_for(stack.back().toFuture());
}
void await_wait(Stack& stack) {
  stack.back() = stack.back().toAwait()->wait();
}
void await_nowait(Stack& stack) {
  IValue value = pop(stack);
  auto await = c10::make_intrusive<c10::ivalue::Await>(value.type());
  await->markCompleted(std::move(value));
  stack.emplace_back(std::move(await));
}

void unchanged(Stack&) {}

} // namespace

void for_each_node_operator(const std::function<void(Operator&&)>& add) {
  using Code = void (*)(Stack&);
  const auto row = [&](const char* schema, Code code, AliasAnalysisKind alias_analysis) {
    add(Operator(std::string(schema), Operation(code), alias_analysis));
  };
  constexpr AliasAnalysisKind kSpecial = AliasAnalysisKind::INTERNAL_SPECIAL_CASE;
  constexpr AliasAnalysisKind kFromSchema = AliasAnalysisKind::FROM_SCHEMA;
  row("prim::TupleIndex(Any tup, int i) -> Any", tuple_index, kSpecial);
  row("prim::TupleUnpack(Any tup) -> ...", tuple_unpack, kSpecial);
  row(
      "prim::Uninitialized() -> Any", [](Stack& stack) { stack.push_back(IValue::uninitialized()); }, kSpecial);
  row("prim::unchecked_cast(t x) -> t", unchanged, kSpecial);
  row("prim::IfThenElse(bool cond, Any(a) x, Any(b) y) -> Any(a|b)", if_then_else, kFromSchema);
  row("prim::RaiseException(str msg, str? cls=None) -> ()", raise_exception, kFromSchema);
  row("prim::NumToTensor.Scalar(Scalar a) -> Tensor", number_to_tensor, kFromSchema);
  row("prim::NumToTensor.bool(bool a) -> Tensor", number_to_tensor, kFromSchema);
  row("prim::ModuleContainerIndex.list(Any self, int ind) -> Any", module_of_list, kFromSchema);
  row("prim::ModuleContainerIndex.dict(Any self, str ind) -> Any", module_of_dict, kFromSchema);
  row("aten::wait(Future(t) self) -> t", wait, kSpecial);
  row("prim::awaitable_wait(Await(t) self) -> t", await_wait, kSpecial);
  row("prim::awaitable_nowait(t self) -> Await(t)", await_nowait, kSpecial);
  add(Operator(prim::TypeCheck, OperationCreator(type_check), kSpecial));
  add(Operator(prim::Print, Operation(Code(print)), kFromSchema));
  add(Operator(prim::tolist, Operation(Code(tolist)), kFromSchema));
}

} // namespace torch::jit::ops
