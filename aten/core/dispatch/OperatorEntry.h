#pragma once

#include <aten/core/boxing/KernelFunction.h>
#include <aten/core/dispatch/BuiltinKernelRuns.h>
#include <aten/core/dispatch/CppSignature.h>
#include <aten/core/dispatch/DispatchKeyExtractor.h>
#include <aten/core/enum_tag.h>
#include <aten/core/function_schema.h>
#include <aten/core/operator_name.h>
#include <c10/core/DispatchKey.h>
#include <c10/util/Indirect.h>
#include <c10/util/OwnedPtr.h>

#include <array>
#include <atomic>
#include <bitset>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace c10 {

class Dispatcher;
class OperatorHandle;

namespace impl {

struct BuiltinDefinition;
struct BuiltinKernelRow;
struct BuiltinName;

/// One registered kernel with what is known about it.
struct AnnotatedKernel final {
  AnnotatedKernel() = default;
  AnnotatedKernel(KernelFunction kernel, std::unique_ptr<FunctionSchema> inferred_schema, std::string debug);
  KernelFunction kernel;
  /// From the kernel's C++ type, to be checked against the schema whichever comes first.
  OwnedPtr<FunctionSchema> inferred_function_schema;
  std::string debug;
};

struct AnnotatedSchema final {
  AnnotatedSchema(FunctionSchema schema, std::string debug) : schema(std::move(schema)), debug(std::move(debug)) {}
  FunctionSchema schema;
  std::string debug;
};

/// Kernels by runtime key. An empty slot means that nobody has asked yet.
// The last two slots are for calls of the fast path, see Note [Fast path of calls].
constexpr size_t kUsualSlot = num_runtime_entries;
constexpr size_t kFastPathSlot = num_runtime_entries + 1;
using DispatchTable = std::array<std::atomic<const KernelFunction*>, num_runtime_entries + 2>;

// Note [Lazy dispatch tables]
// Registering must be cheap: a library brings thousands of operators and kernels, and a program calls a few of them.
// So a registration only empties the operator's table and forgets its masks, and a call that finds an empty slot
// takes the slow path, which works out the masks and this one slot under the dispatcher's lock. All operators start
// with one shared empty table and get their own on the first call.
//
// A call reads mask, table and slot without lock. Slots are published with release order after the kernel is whole.
// A place for a key that falls through is never filled, so a call that still sees the masks of before lands in the slow
// path, which applies the right ones.

// Note [Fast path of calls]
// Most calls are alike: the tensors are dense ones on the CPU, and the thread has no guards. Then the keys of the call
// are a constant but for the operator's mask, and the kernel for them has a slot of its own, which saves to work out
// the index.
//
// The generated stubs of the library's operators go further. When, besides, nothing requires a gradient, the Autograd
// kernel, if it is the library's own, would find nothing to record, and go on with a guard down to the CPU kernel. The
// stub takes this from a second slot. It holds a kernel without code as soon as anybody has registered something on the
// way that must be asked. Factories without tensors do the same for their BackendSelect kernel. An Autograd kernel that
// records goes on with the CPU key alone, to the same slot.

/// Everything known about one operator. Entries live until the process ends, so handles never dangle.
class TORCH_API OperatorEntry final {
 public:
  explicit OperatorEntry(OperatorName name);
  /// Refers to the name's characters.
  explicit OperatorEntry(const BuiltinName& name);
  ~OperatorEntry();
  OperatorEntry(const OperatorEntry&) = delete;
  OperatorEntry& operator=(const OperatorEntry&) = delete;

  // --- the way of a call

  template <class... Args>
  C10_ALWAYS_INLINE DispatchKeySet keysUnboxed(const Args&... args) const {
    return extractor_.getDispatchKeySetUnboxed(args...);
  }
  /// The kernel for the set's highest key. May take keys out of the set that fall through.
  C10_ALWAYS_INLINE const KernelFunction& lookup(DispatchKeySet& ks) const {
    const DispatchTable& table = *table_.load(std::memory_order_acquire);
    const KernelFunction* kernel =
        table[static_cast<uint32_t>(ks.getDispatchTableIndexForDispatchKeySet())].load(std::memory_order_acquire);
    if (C10_UNLIKELY(kernel == nullptr)) {
      const Resolved resolved = resolve(ks);
      ks = resolved.keys;
      return *resolved.kernel;
    }
    return *kernel;
  }
  /// The kernel of a call whose tensors have plain_cpu_keys, on a thread without guards, and its keys; null if it is
  /// not known yet.
  C10_ALWAYS_INLINE const KernelFunction* usualKernel(DispatchKeySet& ks) const {
    ks = extractor_.applySharedMask((plain_cpu_keys | default_included_set) - default_excluded_set);
    return (*table_.load(std::memory_order_acquire))[kUsualSlot].load(std::memory_order_acquire);
  }
  /// The kernel of calls of the fast path; one without code if they go the usual way. See Note [Fast path of calls].
  C10_ALWAYS_INLINE const KernelFunction& fastPathKernel() const {
    const KernelFunction* kernel =
        (*table_.load(std::memory_order_acquire))[kFastPathSlot].load(std::memory_order_acquire);
    if (C10_UNLIKELY(kernel == nullptr)) {
      kernel = &resolveFastPath();
    }
    return *kernel;
  }
  /// The same, or null before the first call that asked for it.
  C10_ALWAYS_INLINE const KernelFunction* knownPlainKernel() const {
    return (*table_.load(std::memory_order_acquire))[kFastPathSlot].load(std::memory_order_acquire);
  }
  const DispatchKeyExtractor& dispatchKeyExtractor() const {
    return extractor_;
  }
  /// The keys of the arguments at the end of the stack. Throws c10::TypeError if they do not fit the schema.
  DispatchKeySet keysBoxed(const Stack& stack) const;

  // --- what is known

  const OperatorName& operator_name() const {
    const OperatorName* const known = name_.load(std::memory_order_acquire);
    return C10_LIKELY(known != nullptr) ? *known : makeName();
  }
  /// The same without strings.
  const OperatorNameView& name_view() const {
    return name_view_;
  }
  bool hasSchema() const {
    return builtin_ != nullptr || schema_.load(std::memory_order_acquire) != nullptr;
  }
  /// Throws if there is none. Parses the text of built-in operators on first use.
  const FunctionSchema& schema() const {
    return annotated_schema().schema;
  }
  /// Where the schema was registered.
  std::string debug() const;
  const std::vector<at::Tag>& getTags() const;
  bool hasTag(at::Tag tag) const;
  /// Throws if a kernel of another C++ type is registered.
  template <class FuncType>
  void assertSignatureIsCorrect() const {
    assertSignatureIsCorrect(CppSignature::make<FuncType>(), fn_has_symint<FuncType>::value);
  }
  void assertSignatureIsCorrect(const CppSignature& call_signature, bool has_symint) const;
  bool hasKernelForDispatchKey(DispatchKey k) const;
  bool hasKernelForAnyDispatchKey(DispatchKeySet ks) const;
  bool isKernelForDispatchKeyFallthroughKernel(DispatchKey k) const;
  bool hasComputedKernelForDispatchKey(DispatchKey k) const;
  const KernelFunction& getComputedKernelForDispatchKey(DispatchKey k) const;
  std::string listAllDispatchKeys() const;
  std::string dumpState() const;
  std::string dumpComputedTable() const;
  /// Throws an internal error if tables and registrations contradict each other.
  void checkInvariants() const;

  // --- registration; the caller holds the dispatcher's lock

  /// Valid until the kernel is deregistered.
  using KernelHandle = const AnnotatedKernel*;
  void registerSchema(FunctionSchema schema, std::string debug, std::vector<at::Tag> tags);
  void deregisterSchema();
  void registerBuiltin(const BuiltinDefinition& definition);
  KernelHandle registerKernel(
      DispatchKey key,
      KernelFunction kernel,
      std::optional<CppSignature> cpp_signature,
      std::unique_ptr<FunctionSchema> inferred_schema,
      std::string debug);
  void deregisterKernel(DispatchKey key, KernelHandle kernel);
  void registerBuiltinKernels(BuiltinKernelRun run);
  /// Empties the table: something that may change its contents has been registered.
  void invalidate();

  int def_count = 0;
  int def_and_impl_count = 0;

 private:
  /// Where the kernel for a key comes from: a registration, a row of a table, or the dispatcher itself.
  struct KernelSource {
    const AnnotatedKernel* registration = nullptr;
    const BuiltinKernelRow* row = nullptr;
    const KernelFunction* function = nullptr;
    /// For the dump: "kernel", "math kernel", "backend fallback"...
    const char* kind = "kernel";

    explicit operator bool() const {
      return registration || row || function;
    }
  };
  struct Signature {
    CppSignature signature;
    DispatchKey key;
    std::string debug;
  };

  // By value, so that a call's keys can stay in a register.
  struct Resolved {
    const KernelFunction* kernel;
    DispatchKeySet keys;
  };
  Resolved resolve(DispatchKeySet ks) const;
  const KernelFunction& resolveFastPath() const;
  void fillSlot(size_t place, const KernelFunction& kernel) const;
  const OperatorName& makeName() const;
  const AnnotatedSchema& annotated_schema() const;
  KernelSource findSource(DispatchKey key) const;
  /// What is registered for exactly this key, which may be an alias.
  KernelSource registered(DispatchKey key) const;
  const KernelFunction* kernelOf(const KernelSource& source) const;
  /// Where the kernel is defined.
  static std::string debugOf(const KernelSource& source);
  const KernelFunction* computeEntry(DispatchKey key) const {
    return kernelOf(findSource(key));
  }
  const KernelFunction* builtinKernel(const BuiltinKernelRow& row) const;
  void computeMasks() const;
  void checkKernelSchema(const AnnotatedSchema& schema, const AnnotatedKernel& kernel) const;
  [[noreturn]] void reportMissingKernel(DispatchKeySet ks) const;
  std::string debugOrName() const;
  friend class c10::Dispatcher;

  // Mutable: they are caches of what is registered, filled by calls.
  mutable DispatchKeyExtractor extractor_;
  mutable std::atomic<DispatchTable*> table_;

  // Made on first use for the library's own operators, as what follows.
  mutable std::atomic<const OperatorName*> name_;
  OperatorNameView name_view_;
  mutable std::atomic<const AnnotatedSchema*> schema_{nullptr};
  mutable std::atomic<const std::vector<at::Tag>*> tags_{nullptr};
  const BuiltinDefinition* builtin_ = nullptr;

  std::bitset<256> keys_; // with a kernel, alias keys too
  Indirect<std::vector<std::pair<DispatchKey, std::list<AnnotatedKernel>>>> kernels_; // newest first
  BuiltinKernelRuns builtin_kernels_;
  mutable Indirect<std::vector<std::pair<const BuiltinKernelRow*, std::unique_ptr<KernelFunction>>>> made_kernels_;
  OwnedPtr<Signature> cpp_signature_;
  OwnedPtr<Signature> sym_cpp_signature_;

  // What a boxed call has to know of an argument: the tags that its type allows, whether it may hold tensors, and for
  // lists the type of their elements.
  struct BoxedArgument {
    uint32_t tags;
    bool holds_tensors;
    const Type* element;
  };
  using BoxedArguments = std::vector<BoxedArgument>;
  const BoxedArguments& makeBoxedArguments() const;
  DispatchKeySet keysOfContainer(const IValue& value, const BoxedArgument& expected, size_t position) const;
  [[noreturn]] void reportBoxedArgument(const IValue& value, size_t position) const;
  mutable std::atomic<const BoxedArguments*> boxed_arguments_{nullptr};
};

/// The lock that all registrations and slow paths take.
TORCH_API std::recursive_mutex& registrationMutex();

} // namespace impl
} // namespace c10
