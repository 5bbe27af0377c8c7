#include <csrc/serialize/pickler.h>

#include <csrc/serialize/storage_types.h>
#include <aten/quantized/QTensorImpl.h>
#include <aten/Functions.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>

#include <bit>
#include <cstring>

namespace torch::serialize {

namespace {

// Python's own limit is about the same.
constexpr int kMaxSavedDepth = 900;

struct DepthGuard {
  explicit DepthGuard(int& depth) : depth(depth) {
    TORCH_CHECK(
        ++depth <= kMaxSavedDepth, "a value is nested more than ", kMaxSavedDepth,
        " levels deep, or contains itself: it cannot be saved");
  }
  ~DepthGuard() {
    --depth;
  }
  int& depth;
};

} // namespace

std::string node_module_name(size_t number) {
  return number == 0 ? "__torch__" : "__torch__.___torch_mangle_" + std::to_string(number - 1);
}

Pickler::Pickler(Style style, std::vector<at::Tensor>* tensor_table, c10::TypePrinter type_printer)
    : style_(style), tensor_table_(tensor_table), type_printer_(std::move(type_printer)) {
  op(Opcode::Proto);
  number(uint8_t(2));
}

std::string Pickler::finish() {
  op(Opcode::Stop);
  return std::move(out_);
}

template <class T>
void Pickler::number(T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out_.append(bytes, sizeof value);
}

void Pickler::put() {
  const uint32_t memo = memo_count_++;
  if (memo <= 0xff) {
    op(Opcode::BinPut);
    number(static_cast<uint8_t>(memo));
  } else {
    op(Opcode::LongBinPut);
    number(memo);
  }
}

void Pickler::get(uint32_t memo) {
  if (memo <= 0xff) {
    op(Opcode::BinGet);
    number(static_cast<uint8_t>(memo));
  } else {
    op(Opcode::LongBinGet);
    number(memo);
  }
}

bool Pickler::may_be_shared(const c10::IValue& value) const {
  if (style_ != Style::TorchScript || !value.isPtrType() || value.use_count() < 2) {
    return false;
  }
  return value.isTensor() ? !tensor_table_
                          : value.isList() || value.isGenericDict() || value.isTuple() || value.isObject();
}

void Pickler::push(const c10::IValue& value) {
  const DepthGuard guard(depth_);
  if (!may_be_shared(value)) {
    return push_unshared(value);
  }
  if (const auto known = shared_.find(value.internalToPointer()); known != shared_.end()) {
    return get(known->second);
  }
  push_unshared(value);
  shared_.emplace(value.internalToPointer(), memo_count_);
  kept_.push_back(value);
  put();
}

void Pickler::push_unshared(const c10::IValue& value) {
  switch (value.tag()) {
    case c10::IValue::Tag::None:
      return op(Opcode::None);
    case c10::IValue::Tag::Bool:
      return op(value.toBool() ? Opcode::NewTrue : Opcode::NewFalse);
    case c10::IValue::Tag::Int:
      return push_int(value.toInt());
    case c10::IValue::Tag::UInt:
      return push_long(value.toUInt());
    case c10::IValue::Tag::Double:
      return push_double(value.toDouble());
    case c10::IValue::Tag::ComplexDouble:
      return push_complex(value.toComplexDouble());
    case c10::IValue::Tag::String:
      return push_string(value.toStringRef());
    case c10::IValue::Tag::Device:
      return push_device(value.toDevice());
    case c10::IValue::Tag::Tensor:
      return push_tensor(value.toTensor());
    case c10::IValue::Tag::Tuple:
      return push_tuple(value.toTupleRef());
    case c10::IValue::Tag::GenericList:
      return push_list(value);
    case c10::IValue::Tag::GenericDict:
      return push_dict(value);
    case c10::IValue::Tag::Capsule:
      if (const c10::intrusive_ptr<ArchiveNode> node = node_of(value); node && style_ == Style::TorchScript) {
        return push_node(*node);
      }
      break;
    case c10::IValue::Tag::Object:
      if (style_ == Style::TorchScript) {
        return push_object(value);
      }
      break;
    case c10::IValue::Tag::Enum:
      if (style_ == Style::TorchScript) {
        return push_enum(*value.toEnumHolder());
      }
      break;
    default:
      break;
  }
  TORCH_CHECK(
      style_ == Style::Python, "Unknown IValue type for pickling: ", value.tagKind(),
      ". Attributes of this type cannot be saved");
  TORCH_CHECK(
      false, "a value of type ", value.tagKind(), " cannot be saved; supported: None, bool, int, float, complex, ",
      "str, Device, Tensor, and tuples, lists and dicts of these");
}

void Pickler::push_int(int64_t value) {
  if (value >= 0 && value <= 0xff) {
    op(Opcode::BinInt1);
    number(static_cast<uint8_t>(value));
  } else if (value >= 0 && value <= 0xffff) {
    op(Opcode::BinInt2);
    number(static_cast<uint16_t>(value));
  } else if (value >= INT32_MIN && value <= INT32_MAX) {
    op(Opcode::BinInt);
    number(static_cast<int32_t>(value));
  } else {
    op(Opcode::Long1);
    number(uint8_t(8));
    number(value);
  }
}

void Pickler::push_long(std::string_view bytes) {
  TORCH_CHECK(
      bytes.size() <= UINT8_MAX, "an integer of ", bytes.size(), " bytes cannot be saved: at most 255 are possible");
  op(Opcode::Long1);
  number(static_cast<uint8_t>(bytes.size()));
  out_ += bytes;
}

// Beyond int64: two's complement needs a ninth byte for the sign.
void Pickler::push_long(uint64_t value) {
  op(Opcode::Long1);
  number(uint8_t(9));
  number(value);
  number(uint8_t(0));
}

void Pickler::push_double(double value) {
  op(Opcode::BinFloat);
  number(__builtin_bswap64(std::bit_cast<uint64_t>(value))); // the one big-endian number of the format
}

void Pickler::push_string(const std::string& value) {
  if (const auto known = strings_.find(value); known != strings_.end()) {
    return get(known->second);
  }
  TORCH_CHECK(
      value.size() <= UINT32_MAX, "a string of ", value.size(), " bytes cannot be saved: at most 4 GiB are possible");
  op(Opcode::BinUnicode);
  number(static_cast<uint32_t>(value.size()));
  out_ += value;
  strings_.emplace(value, memo_count_);
  put();
}

void Pickler::push_global(std::string_view module, std::string_view name) {
  std::string text = std::string(module) + '\n' + std::string(name) + '\n';
  if (const auto known = globals_.find(text); known != globals_.end()) {
    return get(known->second);
  }
  op(Opcode::Global);
  out_ += text;
  globals_.emplace(std::move(text), memo_count_);
  put();
}

void Pickler::push_device(c10::Device device) {
  push_global("torch", "device");
  push_string(device.str());
  op(Opcode::Tuple1);
  op(Opcode::Reduce);
}

void Pickler::push_complex(c10::complex<double> value) {
  push_global("builtins", "complex");
  push_double(value.real());
  push_double(value.imag());
  op(Opcode::Tuple2);
  op(Opcode::Reduce);
}

void Pickler::push_tuple(const c10::ivalue::Tuple& tuple) {
  const std::vector<c10::IValue>& elements = tuple.elements();
  if (elements.empty()) {
    return op(Opcode::EmptyTuple);
  }
  if (elements.size() > 3) {
    op(Opcode::Mark);
  }
  for (const c10::IValue& element : elements) {
    push(element);
  }
  constexpr Opcode kShort[] = {Opcode::Tuple1, Opcode::Tuple2, Opcode::Tuple3};
  op(elements.size() > 3 ? Opcode::Tuple : kShort[elements.size() - 1]);
}

void Pickler::begin_type_tag() {
  if (style_ == Style::TorchScript) {
    push_global("torch.jit._pickle", "restore_type_tag");
  }
}

void Pickler::end_type_tag(const c10::IValue& value) {
  if (style_ != Style::TorchScript) {
    return;
  }
  push_string(value.type()->annotation_str(type_printer_));
  op(Opcode::Tuple2);
  op(Opcode::Reduce);
}

void Pickler::push_list(const c10::IValue& value) {
  // TorchScript has builders for the commonest lists.
  const char* builder = nullptr;
  if (style_ == Style::TorchScript) {
    builder = value.isIntList() ? "build_intlist"
        : value.isTensorList()  ? "build_tensorlist"
        : value.isDoubleList()  ? "build_doublelist"
        : value.isBoolList()    ? "build_boollist"
                                : nullptr;
  }
  if (builder) {
    push_global("torch.jit._pickle", builder);
    op(Opcode::Mark);
  } else {
    begin_type_tag();
  }
  op(Opcode::EmptyList);
  op(Opcode::Mark);
  for (const c10::IValue& element : value.toListRef()) {
    push(element);
  }
  op(Opcode::Appends);
  if (builder) {
    op(Opcode::Tuple);
    op(Opcode::Reduce);
  } else {
    end_type_tag(value);
  }
}

void Pickler::push_dict(const c10::IValue& value) {
  begin_type_tag();
  op(Opcode::EmptyDict);
  op(Opcode::Mark);
  for (const auto& entry : value.toGenericDict()) {
    push(entry.key());
    push(entry.value());
  }
  op(Opcode::SetItems);
  end_type_tag(value);
}

void Pickler::push_int_tuple(c10::IntArrayRef values) {
  op(Opcode::Mark);
  for (const int64_t value : values) {
    push_int(value);
  }
  op(Opcode::Tuple);
}

// torch._utils._rebuild_tensor_v2(storage, storage_offset, size, stride, requires_grad, backward_hooks); _v3 takes the
// dtype as well. Python needs it for dtypes without a storage class, and where tensors of two dtypes share a storage.
void Pickler::push_tensor(const at::Tensor& tensor) {
  if (tensor_table_) {
    tensor_table_->push_back(tensor);
    push_global("torch.jit._pickle", "build_tensor_from_id");
    op(Opcode::Mark);
    push_int(static_cast<int64_t>(tensor_table_->size()) - 1);
    op(Opcode::Tuple);
    return op(Opcode::Reduce);
  }
  if (!tensor.defined()) {
    return op(Opcode::None);
  }
  const c10::ScalarType dtype = tensor.scalar_type();
  TORCH_CHECK(python_dtype(dtype), "a tensor of dtype ", dtype, " cannot be saved");
  if (tensor.layout() != c10::kStrided) {
    return push_sparse(tensor);
  }
  if (tensor.is_quantized()) {
    return push_quantized(tensor);
  }
  if (tensor.is_meta() && style_ == Style::Python) {
    return push_meta(tensor, *python_dtype(dtype));
  }
  const at::Tensor plain = tensor.resolve_conj().resolve_neg();
  const SavedStorage& saved = number_storage(plain);
  const bool untyped = style_ == Style::Python && (!python_has_storage_class(dtype) || saved.first_dtype != dtype);
  push_global("torch._utils", untyped ? "_rebuild_tensor_v3" : "_rebuild_tensor_v2");
  op(Opcode::Mark);
  push_storage(plain, saved.number, untyped);
  push_int(plain.storage_offset());
  push_int_tuple(plain.sizes());
  push_int_tuple(plain.strides());
  op(tensor.requires_grad() ? Opcode::NewTrue : Opcode::NewFalse);
  push_global("collections", "OrderedDict");
  op(Opcode::EmptyTuple);
  op(Opcode::Reduce);
  if (untyped) {
    push_global("torch", *python_dtype(dtype));
  }
  op(Opcode::Tuple);
  op(Opcode::Reduce);
}

// Python's torch._utils._rebuild_sparse_tensor takes (layout, (indices, values, size, is_coalesced)), with two tensors
// of indices and no flag for compressed layouts; libtorch's takes (layout, size, requires_grad, indices..., values).
void Pickler::push_sparse(const at::Tensor& tensor) {
  const c10::NoGradGuard no_grad;
  const c10::Layout layout = tensor.layout();
  const bool python = style_ == Style::Python;
  TORCH_CHECK(
      python ? python_layout(layout).has_value() : layout == c10::kSparse || layout == c10::kSparseCsr,
      "a tensor of layout ", layout, " cannot be saved",
      python ? "" : " in an archive: convert it with to_sparse_csr()");
  const at::Tensor plain = tensor.detach();
  std::vector<at::Tensor> members;
  if (layout == c10::kSparse) {
    members = {plain._indices(), plain._values()};
  } else if (layout == c10::kSparseCsr || layout == c10::kSparseBsr) {
    members = {plain.crow_indices(), plain.col_indices(), plain.values()};
  } else {
    members = {plain.ccol_indices(), plain.row_indices(), plain.values()};
  }
  push_global("torch._utils", "_rebuild_sparse_tensor");
  if (!python) {
    op(Opcode::Mark);
    push_int(static_cast<int64_t>(layout));
    push_int_tuple(plain.sizes());
    op(tensor.requires_grad() ? Opcode::NewTrue : Opcode::NewFalse);
    for (const at::Tensor& member : members) {
      push_tensor(member);
    }
    op(Opcode::Tuple);
    return op(Opcode::Reduce);
  }
  push_global("torch.serialization", "_get_layout");
  push_string(std::string(*python_layout(layout)));
  op(Opcode::Tuple1);
  op(Opcode::Reduce);
  op(Opcode::Mark);
  for (const at::Tensor& member : members) {
    push_tensor(member);
  }
  push_global("torch", "Size");
  push_int_tuple(plain.sizes());
  op(Opcode::Tuple1);
  op(Opcode::Reduce);
  if (layout == c10::kSparse) {
    op(plain.is_coalesced() ? Opcode::NewTrue : Opcode::NewFalse);
  }
  op(Opcode::Tuple);
  op(Opcode::Tuple2);
  op(Opcode::Reduce);
}

// torch._utils._rebuild_meta_tensor_no_storage(dtype, size, stride, requires_grad). Archives have a storage of nothing.
void Pickler::push_meta(const at::Tensor& tensor, std::string_view dtype) {
  push_global("torch._utils", "_rebuild_meta_tensor_no_storage");
  op(Opcode::Mark);
  push_global("torch", dtype);
  push_int_tuple(tensor.sizes());
  push_int_tuple(tensor.strides());
  op(tensor.requires_grad() ? Opcode::NewTrue : Opcode::NewFalse);
  op(Opcode::Tuple);
  op(Opcode::Reduce);
}

// torch._utils._rebuild_qtensor(storage, storage_offset, size, stride, (scheme, scale, zero_point) or (scheme, scales,
// zero_points, axis), requires_grad, backward_hooks)
void Pickler::push_quantized(const at::Tensor& tensor) {
  const at::QuantizerPtr& quantizer = at::get_quantizer(tensor);
  push_global("torch._utils", "_rebuild_qtensor");
  op(Opcode::Mark);
  push_storage(tensor, number_storage(tensor).number, /*untyped=*/false);
  push_int(tensor.storage_offset());
  push_int_tuple(tensor.sizes());
  push_int_tuple(tensor.strides());
  op(Opcode::Mark);
  push_global("torch", python_qscheme(quantizer->scheme));
  if (quantizer->is_per_channel()) {
    push_tensor(quantizer->scales);
    push_tensor(quantizer->zero_points);
    push_int(quantizer->axis);
  } else {
    push_double(quantizer->scale);
    push_int(quantizer->zero_point);
  }
  op(Opcode::Tuple);
  op(Opcode::NewFalse);
  push_global("collections", "OrderedDict");
  op(Opcode::EmptyTuple);
  op(Opcode::Reduce);
  op(Opcode::Tuple);
  op(Opcode::Reduce);
}

const Pickler::SavedStorage& Pickler::number_storage(const at::Tensor& tensor) {
  const c10::Storage& storage = tensor.storage();
  const auto [place, is_new] = saved_storages_.try_emplace(
      storage.unsafeGetStorageImpl(), SavedStorage{static_cast<uint32_t>(storages_.size()), tensor.scalar_type()});
  if (is_new) {
    storages_.push_back(storage);
  }
  return place->second;
}

// The persistent id ("storage", class, number of the storage, device, elements).
void Pickler::push_storage(const at::Tensor& tensor, uint32_t storage_number, bool untyped) {
  const c10::Storage& storage = tensor.storage();
  const std::string type = untyped ? "UntypedStorage" : storage_class(tensor.scalar_type());
  const std::string key = std::to_string(storage_number);
  std::string reference = key + type;
  if (const auto known = storage_references_.find(reference); known != storage_references_.end()) {
    return get(known->second);
  }
  op(Opcode::Mark);
  push_string("storage");
  push_global(untyped ? "torch.storage" : "torch", type);
  push_string(key);
  push_string(storage.device().str());
  push_int(static_cast<int64_t>(storage.nbytes() / (untyped ? 1 : tensor.itemsize())));
  op(Opcode::Tuple);
  op(Opcode::BinPersistentId);
  storage_references_.emplace(std::move(reference), memo_count_);
  put();
}

void Pickler::push_node(const ArchiveNode& node) {
  if (const auto known = nodes_seen_.find(&node); known != nodes_seen_.end()) {
    return get(known->second);
  }
  push_global(node_module_name(nodes_.size()), "Module");
  nodes_.push_back(&node);
  op(Opcode::EmptyTuple);
  op(Opcode::NewObj);
  op(Opcode::EmptyDict);
  op(Opcode::Mark);
  for (const ArchiveNode::Entry& entry : node.entries) {
    push_string(entry.name);
    push(entry.value);
  }
  op(Opcode::SetItems);
  op(Opcode::Build);
  nodes_seen_.emplace(&node, memo_count_);
  put();
}

} // namespace torch::serialize
