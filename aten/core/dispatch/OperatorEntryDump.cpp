#include <aten/core/dispatch/BuiltinRegistration.h>
#include <aten/core/dispatch/Dispatcher.h>
#include <aten/core/dispatch/OperatorEntry.h>

#include <aten/core/op_registration/infer_schema.h>
#include <c10/util/StringUtil.h>

#include <algorithm>
#include <mutex>
#include <sstream>

// What an operator tells about itself: dumps, lists of keys, checks of its own state, signatures.

namespace c10::impl {

std::string OperatorEntry::listAllDispatchKeys() const {
  const std::lock_guard<std::recursive_mutex> lock(registrationMutex());
  std::string out = "[";
  const char* separator = "";
  for (const DispatchKey key : DispatchKeySet(DispatchKeySet::FULL)) {
    const KernelFunction* kernel = computeEntry(key);
    if (!kernel || kernel->isFallthrough()) {
      continue;
    }
    out += separator;
    out += toString(key);
    separator = ", ";
  }
  return out + "]";
}

std::string OperatorEntry::dumpComputedTable() const {
  const std::lock_guard<std::recursive_mutex> lock(registrationMutex());
  std::string out;
  const auto line = [&](DispatchKey key) {
    const KernelSource source = findSource(key);
    const std::string debug = debugOf(source);
    if (!debug.empty()) {
      out += std::string(toString(key)) + ": " + (kernelOf(source)->isFallthrough() ? "fallthrough " : "") + debug +
          " [" + source.kind + "]\n";
    }
  };
  line(DispatchKey::Undefined);
  for (const DispatchKey key : DispatchKeySet(DispatchKeySet::FULL)) {
    line(key);
  }
  return out;
}

std::string OperatorEntry::dumpState() const {
  const std::lock_guard<std::recursive_mutex> lock(registrationMutex());
  std::ostringstream out;
  out << "name: " << operator_name() << "\n";
  if (hasSchema()) {
    out << "schema: " << schema() << "\n";
    out << "debug: " << debug() << "\n";
    out << "alias analysis kind: " << toString(schema().aliasAnalysis())
        << (schema().isDefaultAliasAnalysisKind() ? " (default)" : "") << "\n";
  } else {
    out << "schema: (none)\n";
  }
  const auto kernel_line = [&](DispatchKey key, const KernelFunction& kernel, const std::string& inferred,
                               const std::string& where, bool active) {
    out << toString(key) << (active ? "" : " (inactive)") << ": " << where << " :: " << inferred << " [ "
        << kernel.dumpState() << " ]\n";
  };
  for (size_t i = keys_._Find_first(); i < keys_.size(); i = keys_._Find_next(i)) {
    const DispatchKey key = static_cast<DispatchKey>(i);
    bool active = true;
    for (const auto& [have, kernels] : *kernels_) {
      if (have != key) {
        continue;
      }
      for (const AnnotatedKernel& kernel : kernels) {
        kernel_line(
            key, kernel.kernel, kernel.inferred_function_schema ? toString(*kernel.inferred_function_schema) : "(none)",
            kernel.debug, active);
        active = false;
      }
    }
    for (size_t run = builtin_kernels_.size(); run-- > 0;) {
      for (size_t i = 0; i < builtin_kernels_[run].count; ++i) {
        const BuiltinKernelRow& row = builtin_kernels_[run].rows[i];
        if (row.key != key) {
          continue;
        }
        kernel_line(key, *builtinKernel(row), "(none)", std::string("defined in ") + row.debug, active);
        active = false;
      }
    }
  }
  return out.str();
}

void OperatorEntry::checkInvariants() const {
  const std::lock_guard<std::recursive_mutex> lock(registrationMutex());
  if (const AnnotatedSchema* known = schema_.load()) {
    TORCH_INTERNAL_ASSERT(
        known->schema.operator_name() == operator_name(), known->schema.operator_name(), " is registered as ",
        operator_name());
    TORCH_INTERNAL_ASSERT(extractor_.hasSchema());
  }
  for (const auto& [key, kernels] : *kernels_) {
    TORCH_INTERNAL_ASSERT(!kernels.empty(), "empty list of kernels for ", toString(key));
  }
  const DispatchTable& table = *table_.load();
  const auto check = [&](DispatchKey key) {
    const KernelFunction* filled = table[static_cast<size_t>(getDispatchTableIndexForDispatchKey(key))].load();
    const KernelFunction* expected = computeEntry(key);
    TORCH_INTERNAL_ASSERT(
        !filled || filled == expected, operator_name(), ": the table has another kernel for ", toString(key),
        " than the registrations say\n", dumpState(), dumpComputedTable());
    TORCH_INTERNAL_ASSERT(
        !filled || !filled->isFallthrough(), operator_name(), ": the table has a fallthrough kernel for ",
        toString(key));
  };
  check(DispatchKey::Undefined);
  for (const DispatchKey key : DispatchKeySet(DispatchKeySet::FULL)) {
    check(key);
  }
}

void OperatorEntry::assertSignatureIsCorrect(const CppSignature& call_signature, bool has_symint) const {
  // What void() means: the caller will not call.
  static const CppSignature no_call = CppSignature::make<void()>();
  if (call_signature == no_call) {
    return;
  }
  const std::lock_guard<std::recursive_mutex> lock(registrationMutex());
  const auto check = [&](const CppSignature& correct, const std::string& where) {
    TORCH_CHECK(
        correct == call_signature,
        "\nTried to access or call an operator with a wrong signature.\n  operator: ", debugOrName(), "\n    ", debug(),
        "\n  correct signature:  ", correct.name(), "\n    ", where, "\n  accessed/called as: ", call_signature.name(),
        "\n  first difference:\n", markDifference(correct.name(), call_signature.name()),
        "\nThis likely happened in a call to OperatorHandle::typed<Return (Args...)>(). Please make sure that the "
        "function signature ",
        "matches the signature in the operator registration call.");
  };
  const auto& known = has_symint ? sym_cpp_signature_ : cpp_signature_;
  if (known) {
    check(known->signature, known->debug);
  }
  for (size_t run = 0; run < builtin_kernels_.size(); ++run) {
    const auto [rows, count] = builtin_kernels_[run];
    for (size_t i = 0; i < count; ++i) {
      // Kernels with a boxed form alone serve calls of any type and have no signature.
      if (rows[i].kernel->signature != nullptr && rows[i].kernel->has_symint == has_symint) {
        check(CppSignature(*rows[i].kernel->signature), std::string("defined in ") + rows[i].debug);
        return;
      }
    }
  }
}

} // namespace c10::impl
