// Tensors: their properties, and new ones from numbers and nested lists.
#include <csrc/jit/runtime/ops/rows.h>

#include <aten/Functions.h>
#include <aten/core/jit_type.h>
#include <c10/core/DefaultDtype.h>

namespace torch::jit::ops {

namespace {

// ---- several tensors

// Tensors and, behind them, a dimension.
template <Tensor (*combine)(at::TensorList, int64_t)>
void of_several(Stack& stack) {
  const size_t count = static_cast<size_t>(pop(stack).toInt());
  TORCH_CHECK(count >= 1, "expected tensors and a dimension, got nothing");
  const int64_t dim = pop(stack).toInt();
  std::vector<Tensor> tensors;
  for (size_t i = 0; i + 1 < count; ++i) {
    tensors.push_back(peek(stack, i, count - 1).toTensor());
  }
  drop(stack, count - 1);
  stack.emplace_back(combine(tensors, dim));
}

// ---- new tensors

c10::ScalarType dtype_of(const Scalar& value) {
  if (value.isComplex()) {
    return c10::typeMetaToScalarType(c10::get_default_complex_dtype());
  }
  if (value.isFloatingPoint()) {
    return c10::get_default_dtype_as_scalartype();
  }
  return value.isBoolean() ? c10::ScalarType::Bool : c10::ScalarType::Long;
}

Tensor from_number(Scalar value, std::optional<int64_t> dtype, std::optional<c10::Device> device) {
  const c10::ScalarType type = dtype ? static_cast<c10::ScalarType>(*dtype) : dtype_of(value);
  return at::scalar_tensor(value, at::TensorOptions().dtype(type).device(device.value_or(at::kCPU)));
}
Tensor tensor_of_number(
    Scalar value, std::optional<int64_t> dtype, std::optional<c10::Device> device, bool requires_grad) {
  Tensor out = from_number(value, dtype, device);
  out.set_requires_grad(requires_grad);
  return out;
}

// The types of nested lists are bounded by the program's text; values follow them.
constexpr size_t kMostDimensions = 64;

void append_numbers(const IValue& data, at::ArrayRef<int64_t> sizes, size_t dim, std::vector<Scalar>& out) {
  const c10::ArrayRef<IValue> elements = data.toListRef();
  TORCH_CHECK_VALUE(
      static_cast<int64_t>(elements.size()) == sizes[dim], "Expected sequence of length ", sizes[dim], " at dim ", dim,
      " (got ", elements.size(), ")");
  for (const IValue& element : elements) {
    if (dim + 1 < sizes.size()) {
      append_numbers(element, sizes, dim + 1, out);
    } else {
      out.push_back(element.toScalar());
    }
  }
}

// Lengths along the first elements, and the type of the innermost.
std::vector<int64_t> nested_sizes(const IValue& data, c10::TypePtr& innermost) {
  std::vector<int64_t> sizes;
  IValue level = data;
  innermost = data.toList().elementType();
  while (true) {
    TORCH_CHECK(sizes.size() < kMostDimensions, "too many dimensions in a nested list: at most ", kMostDimensions);
    const AnyList list = level.toList();
    sizes.push_back(static_cast<int64_t>(list.size()));
    innermost = list.elementType();
    if (list.empty()) {
      break;
    }
    IValue first = list.get(0);
    if (!first.isList()) {
      break;
    }
    level = std::move(first);
  }
  while (innermost->kind() == c10::TypeKind::ListType) {
    innermost = innermost->expectRef<c10::ListType>().getElementType();
  }
  return sizes;
}

c10::ScalarType dtype_of(const c10::TypePtr& number) {
  switch (number->kind()) {
    case c10::TypeKind::IntType:
      return c10::ScalarType::Long;
    case c10::TypeKind::FloatType:
      return c10::get_default_dtype_as_scalartype();
    case c10::TypeKind::ComplexType:
      return c10::typeMetaToScalarType(c10::get_default_complex_dtype());
    case c10::TypeKind::BoolType:
      return c10::ScalarType::Bool;
    default:
      TORCH_CHECK(false, "Input must be of ints, floats, or bools, got ", number->repr_str());
  }
}

template <class T>
Tensor filled(const std::vector<Scalar>& numbers, c10::ScalarType type) {
  Tensor out = at::empty({static_cast<int64_t>(numbers.size())}, at::TensorOptions().dtype(type));
  T* const data = out.mutable_data_ptr<T>();
  for (size_t i = 0; i < numbers.size(); ++i) {
    data[i] = numbers[i].to<T>();
  }
  return out;
}
Tensor filled(const std::vector<Scalar>& numbers, const c10::TypePtr& number) {
  switch (number->kind()) {
    case c10::TypeKind::IntType:
      return filled<int64_t>(numbers, c10::ScalarType::Long);
    case c10::TypeKind::BoolType:
      return filled<bool>(numbers, c10::ScalarType::Bool);
    case c10::TypeKind::FloatType:
      return filled<double>(numbers, c10::ScalarType::Double);
    default:
      return filled<Complex>(numbers, c10::ScalarType::ComplexDouble);
  }
}

Tensor from_list(IValue& data, std::optional<int64_t> dtype, std::optional<c10::Device> device) {
  c10::TypePtr number;
  const std::vector<int64_t> sizes = nested_sizes(data, number);
  const c10::ScalarType inferred = dtype_of(number);
  std::vector<Scalar> numbers;
  append_numbers(data, sizes, 0, numbers);
  const c10::ScalarType type = dtype ? static_cast<c10::ScalarType>(*dtype) : inferred;
  return filled(numbers, number).view(sizes).to(at::TensorOptions().dtype(type).device(device.value_or(at::kCPU)));
}
Tensor tensor_of_list(
    IValue& data, std::optional<int64_t> dtype, std::optional<c10::Device> device, bool requires_grad) {
  Tensor out = from_list(data, dtype, device);
  out.set_requires_grad(requires_grad);
  return out;
}
// ---- properties

int64_t length(const Tensor& t) {
  TORCH_CHECK_TYPE(t.dim() > 0, "len() of a 0-d tensor");
  return t.size(0);
}
IValue gradient(const Tensor& a) {
  return a.grad();
}
int64_t bytes(const Tensor& a) {
  return static_cast<int64_t>(a.nbytes());
}

template <c10::DeviceType kType>
bool is_on(const Tensor& a) {
  return a.device().type() == kType;
}

constexpr OperatorRow kRows[] = {
    {"aten::tensor.int(int t, *, ScalarType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor",
     call<tensor_of_number>},
    {"aten::tensor.float(float t, *, ScalarType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor",
     call<tensor_of_number>},
    {"aten::tensor.bool(bool t, *, ScalarType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor",
     call<tensor_of_number>},
    {"aten::tensor.complex(complex t, *, ScalarType? dtype=None, Device? device=None, bool requires_grad=False) -> "
     "Tensor",
     call<tensor_of_number>},
    {"aten::tensor(t[] data, *, ScalarType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor",
     call<tensor_of_list>},
    {"aten::as_tensor.int(int t, *, ScalarType? dtype=None, Device? device=None) -> Tensor", call<from_number>},
    {"aten::as_tensor.float(float t, *, ScalarType? dtype=None, Device? device=None) -> Tensor", call<from_number>},
    {"aten::as_tensor.bool(bool t, *, ScalarType? dtype=None, Device? device=None) -> Tensor", call<from_number>},
    {"aten::as_tensor.complex(complex t, *, ScalarType? dtype=None, Device? device=None) -> Tensor", call<from_number>},
    {"aten::as_tensor.list(t[] data, *, ScalarType? dtype=None, Device? device=None) -> Tensor", call<from_list>},
    {"aten::size(Tensor self) -> int[]", call<[](const Tensor& self) { return self.sizes(); }>},
    {"aten::stride(Tensor self) -> int[]", call<[](const Tensor& self) { return self.strides(); }>},
    {"aten::sym_size(Tensor self) -> SymInt[]", call<[](const Tensor& self) { return self.sizes(); }>},
    {"aten::sym_stride(Tensor self) -> SymInt[]", call<[](const Tensor& self) { return self.strides(); }>},
    {"aten::Size(int[] sizes) -> int[]", call<[](AnyList sizes) { return sizes; }>},
    {"aten::len.Tensor(Tensor t) -> int", call<length>},
    {"prim::VarConcat(...) -> Tensor", of_several<at::cat>},
    {"prim::VarStack(...) -> Tensor", of_several<at::stack>},
    {"aten::element_size(Tensor self) -> int",
     call<[](const Tensor& self) { return static_cast<int64_t>(self.element_size()); }>},
    {"prim::itemsize(Tensor a) -> int", call<[](const Tensor& a) { return static_cast<int64_t>(a.itemsize()); }>},
    {"prim::nbytes(Tensor a) -> int", call<bytes>},
    {"prim::dtype(Tensor a) -> int", call<[](const Tensor& a) { return a.scalar_type(); }>},
    {"prim::device(Tensor a) -> Device", call<[](const Tensor& a) { return a.device(); }>},
    {"prim::layout(Tensor a) -> Layout", call<[](const Tensor& a) { return a.layout(); }>},
    {"prim::requires_grad(Tensor a) -> bool", call<[](const Tensor& a) { return a.requires_grad(); }>},
    {"prim::grad(Tensor a) -> Tensor(*)", call<gradient>},
    {"prim::data(Tensor(a) a) -> Tensor(a)", call<[](const Tensor& a) { return a.variable_data(); }>},
    {"prim::name(Tensor a) -> str?",
     call<[](const Tensor& a) { return a.name().empty() ? IValue() : IValue(a.name()); }>},
    {"prim::is_cpu(Tensor a) -> bool", call<[](const Tensor& a) { return a.is_cpu(); }>},
    {"prim::is_cuda(Tensor a) -> bool", call<[](const Tensor& a) { return a.is_cuda(); }>},
    {"prim::is_sparse(Tensor a) -> bool", call<[](const Tensor& a) { return a.is_sparse(); }>},
    {"prim::is_sparse_csr(Tensor a) -> bool", call<[](const Tensor& a) { return a.layout() == at::kSparseCsr; }>},
    {"prim::is_quantized(Tensor a) -> bool", call<[](const Tensor& a) { return a.is_quantized(); }>},
    {"prim::is_nested(Tensor a) -> bool", call<[](const Tensor& a) { return a.is_nested(); }>},
    {"prim::is_meta(Tensor a) -> bool", call<[](const Tensor& a) { return a.is_meta(); }>},
    {"prim::is_ipu(Tensor a) -> bool", call<is_on<at::kIPU>>},
    {"prim::is_maia(Tensor a) -> bool", call<is_on<at::kMAIA>>},
    {"prim::is_mps(Tensor a) -> bool", call<is_on<at::kMPS>>},
    {"prim::is_mtia(Tensor a) -> bool", call<is_on<at::kMTIA>>},
    {"prim::is_vulkan(Tensor a) -> bool", call<is_on<at::kVulkan>>},
    {"prim::is_xla(Tensor a) -> bool", call<is_on<at::kXLA>>},
    {"prim::is_xpu(Tensor a) -> bool", call<is_on<at::kXPU>>},
    {"prim::is_mkldnn(Tensor a) -> bool", call<[](const Tensor& a) { return a.layout() == at::kMkldnn; }>},
};

} // namespace

at::ArrayRef<OperatorRow> tensor_rows() {
  return kRows;
}

} // namespace torch::jit::ops
