// Looks for NaN in what collectives are given.
#pragma once

#include <csrc/distributed/c10d/ProcessGroup.h>

#include <memory>

namespace c10d {

/// Before each operation of a group, throws if a floating-point tensor that this rank gives away has a NaN.
class TORCH_API NanCheckHook : public std::enable_shared_from_this<NanCheckHook> {
 public:
  /// The group keeps the hook until remove().
  static std::shared_ptr<NanCheckHook> attach(const c10::intrusive_ptr<ProcessGroup>& pg);
  NanCheckHook(const NanCheckHook&) = delete;
  NanCheckHook& operator=(const NanCheckHook&) = delete;

  void remove();

 private:
  explicit NanCheckHook(const c10::intrusive_ptr<ProcessGroup>& pg);
  bool gives_away(const PreHookArgs& args) const;
  void check(const PreHookArgs& args) const;

  c10::weak_intrusive_ptr<ProcessGroup> group_;
  const int rank_;
};

} // namespace c10d
