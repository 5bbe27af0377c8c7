// Regions that a program names for the profiler: what Python's torch.profiler.record_function becomes in TorchScript.
#include <aten/Functions.h>
#include <aten/library/custom_class.h>
#include <aten/observe/record_function.h>
#include <csrc/jit/runtime/ops/rows.h>

namespace torch::jit::ops {

namespace {

using FuturePtr = c10::intrusive_ptr<c10::ivalue::Future>;

/// A region between its begin and its end, which an object of a program holds.
struct Region final : torch::CustomClassHolder {
  at::RecordFunction record{at::RecordScope::USER_SCOPE};
};
using RegionPtr = c10::intrusive_ptr<Region>;

[[maybe_unused]] const auto kRegistered = torch::class_<Region>("profiler", "_RecordFunction");

RegionPtr begin(const std::string& name, std::optional<std::string> arguments) {
  auto region = c10::make_intrusive<Region>();
  if (!region->record.isActive()) {
    return region;
  }
  if (arguments) {
    const IValue inputs[] = {*arguments};
    region->record.before(name, inputs);
  } else {
    region->record.before(name);
  }
  return region;
}

void end(const RegionPtr& region) {
  region->record.end();
}

// The future's value, once the region has ended.
FuturePtr end_with(const RegionPtr& region, const FuturePtr& future) {
  return future->then(
      [region](c10::ivalue::Future& done) {
        end(region);
        return done.value();
      },
      future->elementType());
}

// Files of early versions hold the region in a tensor.
void release(void* region) {
  c10::raw::intrusive_ptr::decref(static_cast<c10::intrusive_ptr_target*>(region));
}

Tensor begin_in_tensor(const std::string& name, std::optional<std::string> arguments) {
  Region* region = begin(name, arguments).release();
  c10::DataPtr data(region, static_cast<c10::intrusive_ptr_target*>(region), &release, c10::kCPU);
  c10::Storage storage(c10::Storage::use_byte_size_t{}, sizeof(Region), std::move(data), nullptr, /*resizable=*/false);
  return at::empty({0}, at::kByte).set_(std::move(storage), 0, {0}, {1});
}

RegionPtr region_of(const Tensor& handle) {
  TORCH_CHECK(
      handle.defined() && handle.has_storage() && handle.storage().data_ptr().get_deleter() == &release,
      "profiler::_record_function_exit: expected the tensor that profiler::_record_function_enter returned");
  auto* region = static_cast<c10::intrusive_ptr_target*>(handle.storage().data_ptr().get_context());
  return RegionPtr::reclaim_copy(static_cast<Region*>(region));
}

const OperatorRow kRows[] = {
    {"profiler::_record_function_enter(str name, str? args=None) -> Tensor", call<begin_in_tensor>,
     AliasAnalysisKind::CONSERVATIVE},
    {"profiler::_record_function_enter_new(str name, str? args=None) -> "
     "__torch__.torch.classes.profiler._RecordFunction",
     call<begin>, AliasAnalysisKind::CONSERVATIVE},
    {"profiler::_record_function_exit(Tensor handle) -> ()", call<[](const Tensor& handle) { end(region_of(handle)); }>,
     AliasAnalysisKind::CONSERVATIVE},
    {"profiler::_record_function_exit._RecordFunction(__torch__.torch.classes.profiler._RecordFunction record) -> ()",
     call<[](RegionPtr region) { end(region); }>, AliasAnalysisKind::CONSERVATIVE},
    {"profiler::_call_end_callbacks_on_jit_fut(Tensor x, Future(t) y) -> Future(t)",
     call<[](const Tensor& handle, FuturePtr future) { return end_with(region_of(handle), future); }>,
     AliasAnalysisKind::CONSERVATIVE},
    {"profiler::_call_end_callbacks_on_jit_fut._RecordFunction("
     "__torch__.torch.classes.profiler._RecordFunction x, Future(t) y) -> Future(t)",
     call<[](RegionPtr region, FuturePtr future) { return end_with(region, future); }>,
     AliasAnalysisKind::CONSERVATIVE},
};

} // namespace

at::ArrayRef<OperatorRow> profiler_rows() {
  return kRows;
}

} // namespace torch::jit::ops
