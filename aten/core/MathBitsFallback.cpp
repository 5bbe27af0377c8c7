// Lazy conjugation and negation: what operators do with a tensor whose elements are to be read with a sign changed.
//
// Tensor::conj() and _neg_view() only set a dispatch key. Views keep it. Every other operator gets here, is given a
// tensor with the change carried out, and never knows; what it writes into such a tensor is written back the other way.
#include <aten/core/LegacyTypeDispatch.h>
#include <aten/core/Tensor.h>
#include <aten/core/dispatch/BuiltinRegistration.h>
#include <aten/core/dispatch/Dispatcher.h>
#include <aten/core/function_schema.h>
#include <aten/core/ivalue.h>
#include <aten/library/library.h>

#include <array>
#include <span>
#include <utility>
#include <vector>

namespace at {

namespace {

using Stack = std::vector<c10::IValue>;

bool is_view(const c10::FunctionSchema& schema) {
  for (const c10::Argument& ret : schema.returns()) {
    if (ret.alias_info() != nullptr && !ret.alias_info()->isWrite()) {
      return true;
    }
  }
  return false;
}

template <c10::DispatchKey Key>
bool has_bit(const Tensor& t) {
  return t.defined() && t.key_set().has(Key);
}

// copy_ reads the source with its bits and leaves a fresh tensor without them.
Tensor resolved(const Tensor& t) {
  const AutoDispatchBelowADInplaceOrView below;
  return t.clone();
}

template <c10::DispatchKey Key>
void math_bit_fallback(const c10::OperatorHandle& op, c10::DispatchKeySet keys, Stack* stack) {
  const c10::FunctionSchema& schema = op.schema();
  const c10::DispatchKeySet below = keys & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, Key);
  if (is_view(schema)) {
    op.redispatchBoxed(below, stack);
    return;
  }
  const std::size_t count = schema.arguments().size();
  const std::size_t first = stack->size() - count;
  std::vector<std::pair<Tensor, Tensor>> written; // the caller's tensor and what stands for it
  for (std::size_t i = 0; i < count; ++i) {
    c10::IValue& value = (*stack)[first + i];
    const c10::AliasInfo* alias = schema.arguments()[i].alias_info();
    const auto replacement = [&](const Tensor& t) {
      Tensor plain = resolved(t);
      if (alias != nullptr && alias->isWrite()) {
        written.emplace_back(t, plain);
      }
      return plain;
    };
    if (value.isTensor()) {
      if (const Tensor t = value.toTensor(); has_bit<Key>(t)) {
        value = replacement(t);
      }
    } else if (value.isTensorList()) {
      std::vector<Tensor> tensors = value.toTensorVector();
      bool changed = false;
      for (Tensor& t : tensors) {
        if (has_bit<Key>(t)) {
          t = replacement(t);
          changed = true;
        }
      }
      if (changed) {
        value = std::move(tensors);
      }
    } else if (value.isOptionalTensorList()) {
      const c10::List<std::optional<Tensor>> given = value.toOptionalTensorList();
      c10::List<std::optional<Tensor>> plain;
      plain.reserve(given.size());
      bool changed = false;
      for (const std::optional<Tensor> t : given) {
        const bool resolves = t.has_value() && has_bit<Key>(*t);
        plain.push_back(resolves ? std::optional<Tensor>(replacement(*t)) : t);
        changed |= resolves;
      }
      if (changed) {
        value = std::move(plain);
      }
    }
  }
  op.redispatchBoxed(below, stack);
  for (const auto& [original, plain] : written) {
    {
      const AutoDispatchBelowADInplaceOrView guard;
      if (original.sizes() != plain.sizes()) {
        original.resize_(plain.sizes());
      }
      original.copy_(plain);
    }
    for (std::size_t i = stack->size() - schema.returns().size(); i < stack->size(); ++i) {
      c10::IValue& result = (*stack)[i];
      if (result.isTensor() && result.toTensor().is_same(plain)) {
        result = original;
      }
    }
  }
}

constexpr c10::impl::BuiltinKernel kFallthrough{nullptr, &c10::fallthrough_kernel, nullptr, false};

struct OperatorId {
  const char* name;
  const char* overload_name;
};
template <size_t N>
constexpr auto fallthrough_rows(c10::DispatchKey key, const OperatorId (&operators)[N]) {
  std::array<c10::impl::BuiltinKernelRow, N> rows{};
  for (size_t i = 0; i < N; ++i) {
    rows[i] = {operators[i].name, operators[i].overload_name, key, &kFallthrough, "aten/core/MathBitsFallback.cpp"};
  }
  return rows;
}

// These read the bits themselves, or only sizes and dtypes.
constexpr OperatorId kReadBits[] = {
    {"aten::copy_", ""},
    {"aten::clone", ""},
    {"aten::empty_like", ""},
    {"aten::zeros_like", ""},
    {"aten::ones_like", ""},
    {"aten::full_like", ""},
    {"aten::rand_like", ""},
    {"aten::randn_like", ""},
    {"aten::resize_", ""},
    {"aten::resize_as_", ""},
    {"aten::detach_", ""},
    {"aten::as_strided_", ""},
    {"aten::squeeze_", ""},
    {"aten::squeeze_", "dim"},
    {"aten::unsqueeze_", ""},
    {"aten::transpose_", ""},
    {"aten::t_", ""},
    {"aten::set_", ""},
    {"aten::set_", "source_Tensor"},
    {"aten::set_", "source_Storage"},
    {"aten::set_", "source_Storage_storage_offset"},
    {"aten::requires_grad_", ""},
    {"aten::_has_compatible_shallow_copy_type", ""},
    {"aten::is_same_size", ""},
    {"aten::is_set_to", ""},
};
// Kernels of matrix products and triangular systems read a conjugated operand as such; the others lead to those.
constexpr OperatorId kReadConjugates[] = {
    {"aten::mm", ""},
    {"aten::addmm", ""},
    {"aten::bmm", ""},
    {"aten::baddbmm", ""},
    {"aten::addbmm", ""},
    {"aten::mv", ""},
    {"aten::addmv", ""},
    {"aten::dot", ""},
    {"aten::vdot", ""},
    {"aten::matmul", ""},
    {"aten::linear", ""},
    {"aten::inner", ""},
    {"aten::tensordot", ""},
    {"aten::einsum", ""},
    {"aten::linalg_vecdot", ""},
    {"aten::linalg_multi_dot", ""},
    {"aten::linalg_matmul", ""},
    {"aten::linalg_solve_triangular", ""},
};
constinit const auto kConjugateRows = fallthrough_rows(c10::DispatchKey::Conjugate, kReadBits);
constinit const auto kConjugateProductRows = fallthrough_rows(c10::DispatchKey::Conjugate, kReadConjugates);
constinit const auto kNegativeRows = fallthrough_rows(c10::DispatchKey::Negative, kReadBits);

struct BitsRegistration {
  BitsRegistration() {
    for (const auto& rows : {std::span(kConjugateRows), std::span(kNegativeRows)}) {
      c10::impl::BuiltinRegistrar::implement(rows.data(), rows.size());
    }
    c10::impl::BuiltinRegistrar::implement(kConjugateProductRows.data(), kConjugateProductRows.size());
  }
} const bits_registered;

} // namespace

TORCH_LIBRARY_IMPL(_, Conjugate, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&math_bit_fallback<c10::DispatchKey::Conjugate>>());
}
TORCH_LIBRARY_IMPL(_, Negative, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&math_bit_fallback<c10::DispatchKey::Negative>>());
}

} // namespace at
