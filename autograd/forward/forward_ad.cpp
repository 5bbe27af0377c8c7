#include <autograd/forward/forward_ad.h>

#include <aten/core/dispatch/BuiltinRegistration.h>
#include <aten/functorch/level_values.h>
#include <aten/iterator/MemoryOverlap.h>
#include <autograd/forward/forward_grad.h>
#include <autograd/forward/levels.h>
#include <autograd/variable.h>
#include <c10/util/Exception.h>

#include <initializer_list>
#include <utility>

namespace torch::autograd::forward_ad {

namespace {

// The levels of vmap that this thread is inside of, among those of the tensors: tangents stand below them. A batch of
// tangents at a hidden level is one of the tangent alone.
at::functorch::VmapLevels entered_levels(std::initializer_list<at::Tensor> tensors) {
  at::functorch::VmapLevels levels, entered;
  for (const at::Tensor& tensor : tensors) {
    at::functorch::add_levels_of(tensor, levels);
  }
  for (const at::functorch::VmapLevelPtr& level : levels) {
    if (level->number <= at::functorch::vmap_depth() && at::functorch::find_vmap_level(level->number) == level) {
      entered.push_back(level);
    }
  }
  return entered;
}

} // namespace

DualLevel::~DualLevel() {
  // Only a level that was left by hand, or on another thread, is refused.
  try {
    exit_dual_level(level_);
  } catch (const c10::Error& error) {
    TORCH_WARN("DualLevel: ", error.what_without_backtrace());
  }
}

at::Tensor make_dual(const at::Tensor& primal, const at::Tensor& tangent, std::optional<uint64_t> level) {
  TORCH_CHECK(primal.defined() && tangent.defined(), "make_dual: got an undefined primal or tangent");
  const std::optional<uint64_t> at = level.has_value() ? level : current_level();
  TORCH_CHECK(
      at.has_value(),
      "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first.");
  TORCH_CHECK_VALUE(
      isDifferentiableType(primal.scalar_type()),
      "Expected primal to be floating point or complex, but got: ", primal.scalar_type());
  TORCH_CHECK_VALUE(
      isDifferentiableType(tangent.scalar_type()),
      "Expected tangent to be floating point or complex, but got: ", tangent.scalar_type());
  if (const auto levels = entered_levels({primal, tangent}); !levels.empty()) {
    return above_levels(make_dual(below_levels(primal, levels), below_levels(tangent, levels), at), levels);
  }
  TORCH_CHECK(
      !primal._fw_grad(*at).defined(),
      "Making a dual Tensor based on a Tensor that already has a forward gradient at the same level ", *at,
      " is not supported.");
  // Elements that share their memory have tangents of their own, which no view of that memory could find.
  const bool is_expanded = at::has_internal_overlap(primal) == at::MemOverlap::Yes;
  at::Tensor dual = is_expanded ? primal.clone(at::MemoryFormat::Contiguous) : primal.view_as(primal);
  dual._set_fw_grad(tangent, *at, /*is_inplace_op=*/false);
  return dual;
}

UnpackedDualTensor unpack_dual(const at::Tensor& tensor, std::optional<uint64_t> level) {
  TORCH_CHECK(tensor.defined(), "unpack_dual: got an undefined tensor");
  const std::optional<uint64_t> at = level.has_value() ? level : current_level();
  if (!at.has_value()) {
    return {tensor, at::Tensor()};
  }
  if (const auto levels = entered_levels({tensor}); !levels.empty()) {
    const auto [primal, tangent] = unpack_dual(below_levels(tensor, levels), at);
    return {above_levels(primal, levels), tangent.defined() ? above_levels(tangent, levels) : tangent};
  }
  at::Tensor tangent(tensor._fw_grad(*at));
  const HiddenLevel hidden(*at);
  at::Tensor primal = tensor.view_as(tensor);
  impl::materialize_forward_grad(primal); // so that it does not take over what its base has
  return {std::move(primal), std::move(tangent)};
}

} // namespace torch::autograd::forward_ad

namespace at {

namespace {

uint64_t checked_level(int64_t level) {
  TORCH_CHECK(level >= 0, "Invalid level given to forward mode: ", level, ". It must be one of enter_dual_level()");
  return static_cast<uint64_t>(level);
}

} // namespace

Tensor _make_dual(const Tensor& primal, const Tensor& tangent, int64_t level) {
  return torch::autograd::forward_ad::make_dual(primal, tangent, checked_level(level));
}

std::tuple<Tensor, Tensor> _unpack_dual(const Tensor& dual, int64_t level) {
  auto unpacked = torch::autograd::forward_ad::unpack_dual(dual, checked_level(level));
  return {std::move(unpacked.primal), std::move(unpacked.tangent)};
}

Tensor _fw_primal(const Tensor& self, int64_t level) {
  return std::get<0>(_unpack_dual(self, level));
}

namespace {

constexpr const char* kDualPlace = "autograd/forward/forward_ad.cpp";
c10::impl::BuiltinSlot dual_slots[3];
constexpr c10::impl::BuiltinDefinition kDualDefinitions[] = {
    {"aten::_make_dual", "", "_make_dual(Tensor(a) primal, Tensor tangent, int level) -> Tensor(a)", kDualPlace,
     &dual_slots[0]},
    {"aten::_unpack_dual", "", "_unpack_dual(Tensor(a) dual, int level) -> (Tensor(a) primal, Tensor tangent)",
     kDualPlace, &dual_slots[1]},
    {"aten::_fw_primal", "", "_fw_primal(Tensor(a) self, int level) -> Tensor(a)", kDualPlace, &dual_slots[2]},
};
constexpr c10::impl::BuiltinKernelRow dual_row(const char* name, const c10::impl::BuiltinKernel* kernel) {
  return {name, "", c10::DispatchKey::CompositeImplicitAutograd, kernel, kDualPlace};
}
constexpr c10::impl::BuiltinKernelRow kDualKernels[] = {
    dual_row("aten::_make_dual", c10::impl::builtin_kernel<&_make_dual>()),
    dual_row("aten::_unpack_dual", c10::impl::builtin_kernel<&_unpack_dual>()),
    dual_row("aten::_fw_primal", c10::impl::builtin_kernel<&_fw_primal>()),
};
const c10::impl::BuiltinDefinitions kDualDefined(kDualDefinitions);
const c10::impl::BuiltinKernels kDualImplemented(kDualKernels);

} // namespace

} // namespace at
