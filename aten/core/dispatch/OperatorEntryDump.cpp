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
    const KernelFunction* kernel = computeEntry(key).kernel;
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
    const ResolvedKernel resolved = computeEntry(key);
    if (!resolved.kernel || resolved.debug.empty()) {
      return;
    }
    out += std::string(toString(key)) + ": " + (resolved.kernel->isFallthrough() ? "fallthrough " : "") +
        resolved.debug + " [" + resolved.source + "]\n";
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
  out << "name: " << name_ << "\n";
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
    for (auto table = builtin_kernels_->rbegin(); table != builtin_kernels_->rend(); ++table) {
      for (size_t row = 0; row < table->second; ++row) {
        if (table->first[row].key != key) {
          continue;
        }
        kernel_line(
            key, *builtinKernel(table->first[row]), "(none)", std::string("defined in ") + table->first[row].debug,
            active);
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
        known->schema.operator_name() == name_, known->schema.operator_name(), " is registered as ", name_);
    TORCH_INTERNAL_ASSERT(extractor_.hasSchema());
  }
  for (const auto& [key, kernels] : *kernels_) {
    TORCH_INTERNAL_ASSERT(!kernels.empty(), "empty list of kernels for ", toString(key));
  }
  const DispatchTable& table = *table_.load();
  const auto check = [&](DispatchKey key) {
    const KernelFunction* filled = table[static_cast<size_t>(getDispatchTableIndexForDispatchKey(key))].load();
    const KernelFunction* expected = computeEntry(key).kernel;
    TORCH_INTERNAL_ASSERT(
        !filled || filled == expected, name_, ": the table has another kernel for ", toString(key),
        " than the registrations say\n", dumpState(), dumpComputedTable());
    TORCH_INTERNAL_ASSERT(
        !filled || !filled->isFallthrough(), name_, ": the table has a fallthrough kernel for ", toString(key));
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
  for (const auto& [rows, count] : *builtin_kernels_) {
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
