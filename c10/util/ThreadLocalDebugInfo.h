#pragma once

#include <c10/util/SharedOf.h>
#include <c10/macros/Macros.h>

#include <cstdint>
#include <memory>
#include <utility>

namespace c10 {

enum class C10_API_ENUM DebugInfoKind : uint8_t {
  PRODUCER_INFO = 0,
  MOBILE_RUNTIME_INFO,
  PROFILER_STATE,
  INFERENCE_CONTEXT,
  PARAM_COMMS_INFO,
  TEST_INFO,
  TEST_INFO_2,
};

class C10_API DebugInfoBase {
 public:
  DebugInfoBase() = default;
  virtual ~DebugInfoBase() = default;
};

/// A stack of information that belongs to a thread and travels to the threads that work for it, such as backward ones.
class C10_API ThreadLocalDebugInfo {
 public:
  ThreadLocalDebugInfo(
      std::shared_ptr<DebugInfoBase> info, DebugInfoKind kind, std::shared_ptr<ThreadLocalDebugInfo> parent);

  /// The topmost information of a kind; null when there is none.
  static DebugInfoBase* get(DebugInfoKind kind);
  static std::shared_ptr<ThreadLocalDebugInfo> current();
  /// Replaces the whole stack of this thread.
  static void _forceCurrentDebugInfo(std::shared_ptr<ThreadLocalDebugInfo> info);
  static void _push(DebugInfoKind kind, std::shared_ptr<DebugInfoBase> info);
  /// Takes off the top, which must be of `kind`.
  static std::shared_ptr<DebugInfoBase> _pop(DebugInfoKind kind);
  /// The top, which must be of `kind`.
  static std::shared_ptr<DebugInfoBase> _peek(DebugInfoKind kind);

 private:
  SharedOf<DebugInfoBase> info_;
  DebugInfoKind kind_;
  SharedOf<ThreadLocalDebugInfo> parent_info_;
};

/// Adds information, or sets a whole stack, for the current scope. Does nothing when given null.
class C10_API DebugInfoGuard {
 public:
  DebugInfoGuard(DebugInfoKind kind, std::shared_ptr<DebugInfoBase> info);
  explicit DebugInfoGuard(std::shared_ptr<ThreadLocalDebugInfo> info);
  ~DebugInfoGuard();
  C10_DISABLE_COPY_AND_ASSIGN(DebugInfoGuard);

 private:
  bool active_ = false;
  SharedOf<ThreadLocalDebugInfo> previous_;
};

} // namespace c10
