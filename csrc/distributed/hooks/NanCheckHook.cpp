// Looks for NaN in what collectives are given.
#include <csrc/distributed/hooks/NanCheckHook.h>

#include <csrc/distributed/hooks/NanCheck.h>

namespace c10d {

NanCheckHook::NanCheckHook(const c10::intrusive_ptr<ProcessGroup>& pg) : group_(pg), rank_(pg->getRank()) {}

std::shared_ptr<NanCheckHook> NanCheckHook::attach(const c10::intrusive_ptr<ProcessGroup>& pg) {
  TORCH_CHECK_VALUE(pg, "NanCheckHook::attach: the group is null");
  const std::shared_ptr<NanCheckHook> hook(new NanCheckHook(pg));
  pg->registerPreHook(reinterpret_cast<int64_t>(hook.get()), [hook](const PreHookArgs& args) { hook->check(args); });
  return hook;
}

void NanCheckHook::remove() {
  if (const auto group = group_.lock()) {
    group->unregisterPreHook(reinterpret_cast<int64_t>(this));
  }
}

// What is only received may hold anything before.
bool NanCheckHook::gives_away(const PreHookArgs& args) const {
  const bool from_root = args.name == HookOpName::BROADCAST || args.name == HookOpName::SCATTER;
  return args.name != HookOpName::RECV && (!from_root || args.root == rank_);
}

void NanCheckHook::check(const PreHookArgs& args) const {
  if (gives_away(args)) {
    for (const auto& tensor : args.input_tensors) {
      checkForNan(tensor);
    }
  }
}

} // namespace c10d
