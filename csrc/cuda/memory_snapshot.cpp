#include <csrc/cuda/memory_snapshot.h>

#include <c10/cuda/CUDACachingAllocator.h>
#include <csrc/cuda/snapshot_format.h>

#include <utility>

namespace torch::cuda {
namespace {

using c10::cuda::CUDACachingAllocator::RecordContext;

detail::SnapshotContent content() {
  auto info = c10::cuda::CUDACachingAllocator::snapshot();
  return {
      std::move(info.segments), std::move(info.device_traces), info.settings, std::move(info.last_allocator_settings)};
}

RecordContext level(const std::optional<std::string>& context) {
  if (!context) {
    return RecordContext::NEVER;
  }
  TORCH_CHECK(
      *context == "state" || *context == "alloc" || *context == "all",
      "expected context to be 'state', 'alloc', 'all', or None, got '", *context, "'");
  return *context == "state" ? RecordContext::STATE : *context == "alloc" ? RecordContext::ALLOC : RecordContext::ALL;
}

} // namespace

void _record_memory_history(
    std::optional<std::string> enabled,
    std::optional<std::string> context,
    const std::string& stacks,
    size_t max_entries,
    bool clearHistory,
    bool /*compileContext*/,
    bool /*globalRecordAllocations*/,
    const std::vector<std::string>& skip_actions) {
  TORCH_CHECK(
      !enabled || *enabled == "state" || *enabled == "all", "expected enabled to be 'state', 'all', or None, got '",
      enabled.value_or(""), "'");
  TORCH_CHECK(
      stacks == "python" || stacks == "all" || stacks == "cpp",
      "expected stacks to be 'python', 'cpp', or 'all', got '", stacks, "'");
  const RecordContext when = enabled ? level(context) : RecordContext::NEVER;
  c10::cuda::CUDACachingAllocator::recordHistory(
      enabled.has_value(), when == RecordContext::NEVER ? nullptr : &detail::gather_stack,
      enabled == "state" ? 0 : max_entries, when, clearHistory, skip_actions);
}

std::string _memory_snapshot_pickled() {
  return detail::snapshot_as_pickle(content());
}

std::string memory_snapshot_json() {
  return detail::snapshot_as_json(content());
}

} // namespace torch::cuda
