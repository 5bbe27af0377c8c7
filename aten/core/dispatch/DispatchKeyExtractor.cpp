#include <aten/core/dispatch/DispatchKeyExtractor.h>

#include <aten/core/function_schema.h>

namespace c10 {

namespace detail {

namespace {

DispatchKeySet keys_of_value(const IValue& value) {
  if (value.isTensor()) {
    return value.toTensor().key_set();
  }
  DispatchKeySet ks;
  if (value.isList()) {
    for (const IValue& element : value.toListRef()) {
      if (element.isTensor()) {
        ks = ks | element.toTensor().key_set();
      }
    }
  }
  return ks;
}

DispatchKeySet keys_of_range(const IValue* first, size_t count) {
  DispatchKeySet ks;
  for (size_t i = 0; i < count; ++i) {
    ks = ks | keys_of_value(first[i]);
  }
  return ks;
}

} // namespace

bool may_hold_tensors(const Type& type) {
  if (type.kind() == TypeKind::TensorType) {
    return true;
  }
  const bool is_container = type.kind() == TypeKind::ListType || type.kind() == TypeKind::OptionalType;
  return is_container && may_hold_tensors(*type.containedType(0));
}

DispatchKeySet keys_of(const List<at::Tensor>& tensors) {
  return keys_of_range(impl::ptr_to_first_element(tensors), tensors.size());
}
DispatchKeySet keys_of(const List<std::optional<at::Tensor>>& tensors) {
  return keys_of_range(impl::ptr_to_first_element(tensors), tensors.size());
}

} // namespace detail

DispatchKeyExtractor::~DispatchKeyExtractor() {
  delete masks_.load();
}

void DispatchKeyExtractor::registerSchema(const FunctionSchema& schema) {
  const auto& arguments = schema.arguments();
  uint64_t bits = 0;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!detail::may_hold_tensors(*arguments[i].type())) {
      continue;
    }
    const size_t from_end = arguments.size() - 1 - i;
    TORCH_CHECK(
        from_end < 64, "The function schema has ", arguments.size(),
        " arguments but this build only supports tensors among the last 64: ", schema);
    bits |= uint64_t{1} << from_end;
  }
  tensor_args_from_end_ = bits;
  num_args_.store(static_cast<int32_t>(arguments.size()), std::memory_order_release);
}

DispatchKeySet DispatchKeyExtractor::getDispatchKeySetBoxed(const torch::jit::Stack* stack) const {
  DispatchKeySet ks;
  const IValue* const end = stack->data() + stack->size();
  for (uint64_t bits = tensor_args_from_end_; bits != 0; bits &= bits - 1) {
    const IValue& value = *(end - 1 - __builtin_ctzll(bits));
    ks = ks | (C10_LIKELY(value.isTensor()) ? value.toTensor().key_set() : detail::keys_of_value(value));
  }
  return threadKeys(ks);
}

void DispatchKeyExtractor::setMasks(const Masks& masks) {
  DispatchKeySet any = masks[0];
  bool differ = false;
  for (const DispatchKeySet mask : masks) {
    differ = differ || mask != masks[0];
    any = any | mask;
  }
  if (differ) {
    masks_.store(new Masks(masks), std::memory_order_release);
  }
  mask_.store(any.raw_repr(), std::memory_order_relaxed);
  masks_known_ = true;
}

void DispatchKeyExtractor::forgetMasks() {
  masks_known_ = false;
  mask_.store(~uint64_t{0}, std::memory_order_relaxed);
  if (const Masks* old = masks_.exchange(nullptr)) {
    // Calls on other threads may still be reading them. It takes a change of registrations while an operator with such
    // masks is in use to get here, so keeping them costs nothing worth counting.
    static auto& retired = *new std::vector<std::unique_ptr<const Masks>>();
    retired.emplace_back(old);
  }
}

std::string DispatchKeyExtractor::dumpState() const {
  std::string out;
  const int32_t count = num_args_.load();
  for (int32_t i = 0; i < count; ++i) {
    out += (tensor_args_from_end_ >> (count - 1 - i)) & 1 ? '1' : '0';
  }
  return out + " " + toString(DispatchKeySet::from_raw_repr(mask_.load()) & DispatchKeySet(DispatchKeySet::FULL)) +
      "\n";
}

} // namespace c10
