#include <aten/native/support/recurrence.h>

#include <aten/native/support/cpu_isa.h>
#include <c10/util/Exception.h>

#include <array>
#include <atomic>

namespace at::native {

// aten/native/cpu/rnn.cpp for each instruction set.
namespace v2 {
void recurrence_steps(const Recurrence&);
void recurrence_backward_steps(const Recurrence&, const RecurrenceGrads&);
} // namespace v2
namespace v3 {
void recurrence_steps(const Recurrence&);
void recurrence_backward_steps(const Recurrence&, const RecurrenceGrads&);
} // namespace v3
namespace v4 {
void recurrence_steps(const Recurrence&);
void recurrence_backward_steps(const Recurrence&, const RecurrenceGrads&);
} // namespace v4

namespace {

/// Kernels trust these. What is saved for the way back may have come through hooks of the program.
void check(const Recurrence& r, const TensorBase& t, IntArrayRef sizes) {
  TORCH_CHECK(
      t.sizes() == sizes && t.is_contiguous() && t.device() == r.hx.device() && t.scalar_type() == r.hx.scalar_type(),
      "steps of a recurrent layer: expected a contiguous tensor of ", r.hx.scalar_type(), " and sizes ", sizes, " on ",
      r.hx.device(), ", got ", t.scalar_type(), " and ", t.sizes(), " on ", t.device());
}

void check_weights(const Recurrence& r, const TensorBase& w, IntArrayRef sizes) {
  TORCH_CHECK(
      w.sizes() == sizes && w.device() == r.hx.device() && w.scalar_type() == r.hx.scalar_type(),
      "steps of a recurrent layer: expected weights of ", r.hx.scalar_type(), " and sizes ", sizes, ", got ",
      w.scalar_type(), " and ", w.sizes());
}

void check(const Recurrence& r) {
  const int64_t count = r.cell == RecurrentCell::lstm ? 4 : r.cell == RecurrentCell::gru ? 3 : 1;
  TORCH_CHECK(
      steps_are_kernels(r.hx), "steps of a recurrent layer: there are no kernels for ", r.hx.scalar_type(), " on ",
      r.hx.device());
  const int64_t lead = r.batch_sizes.empty() ? 2 : 1;
  TORCH_CHECK(
      r.hx.dim() == 2 && r.gates.dim() == lead + 1 && r.gates.size(0) > 0,
      "steps of a recurrent layer: expected states of 2 and gates of ", lead + 1, " dimensions, got ", r.hx.sizes(),
      " and ", r.gates.sizes());
  const StepRows rows = r.rows();
  const int64_t batch = r.hx.size(0), width = r.hx.size(1), last = rows.steps() - 1;
  const int64_t size = r.w_hr.defined() && r.w_hr.dim() == 2 ? r.w_hr.size(1) : width;
  TORCH_CHECK(
      rows.batch() == batch && (lead == 2 || rows.first(last) + rows.live(last) == r.gates.size(0)),
      "steps of a recurrent layer: states of sizes ", r.hx.sizes(), " do not fit gates of sizes ", r.gates.sizes(),
      " and batch sizes ", r.batch_sizes);
  DimVector sizes(r.gates.sizes().begin(), r.gates.sizes().end());
  const auto wide = [&](int64_t elements) {
    sizes.back() = elements;
    return IntArrayRef(sizes);
  };
  check(r, r.hx, {batch, width});
  check(r, r.gates, wide(count * size));
  check(r, r.output, wide(width));
  check_weights(r, r.w_hh, {count * size, width});
  if (r.w_hr.defined()) {
    TORCH_CHECK(
        r.cell == RecurrentCell::lstm && !r.hx.is_cpu(),
        "steps of a recurrent layer: only an LSTM on another device than the CPU has a projection");
    check_weights(r, r.w_hr, {width, size});
    check(r, r.hidden, wide(size));
  }
  if (r.cell == RecurrentCell::lstm) {
    check(r, r.cx, {batch, size});
    check(r, r.cells, wide(size));
  }
  if (r.cell == RecurrentCell::gru) {
    check(r, r.recurrent, wide(size));
  }
}

constexpr size_t kDeviceTypes = static_cast<size_t>(c10::DeviceType::COMPILE_TIME_MAX_DEVICE_TYPES);
std::array<std::atomic<const DeviceRecurrence*>, kDeviceTypes> registered_recurrences{};

std::array<std::atomic<DeviceLayers>, kDeviceTypes> registered_layers{};

/// Null for the CPU.
const DeviceRecurrence* device_recurrence(const TensorBase& t) {
  return registered_recurrences[static_cast<size_t>(t.device().type())].load(std::memory_order_acquire);
}

} // namespace

void register_recurrence(c10::DeviceType device, const DeviceRecurrence* functions) {
  registered_recurrences[static_cast<size_t>(device)].store(functions, std::memory_order_release);
}

void register_recurrent_layers(c10::DeviceType device, DeviceLayers layers) {
  registered_layers[static_cast<size_t>(device)].store(layers, std::memory_order_release);
}

std::optional<RecurrentStates> layers_of_device(const RecurrentLayers& layers) {
  const DeviceLayers take =
      registered_layers[static_cast<size_t>(layers.input.device().type())].load(std::memory_order_acquire);
  return take == nullptr ? std::nullopt : take(layers);
}

bool steps_are_kernels(const TensorBase& t) {
  const c10::ScalarType dtype = t.scalar_type();
  return t.layout() == kStrided &&
      (t.is_cpu() ? dtype == kFloat || dtype == kDouble
                  : device_recurrence(t) != nullptr && c10::isFloatingType(dtype));
}

void recurrence(const Recurrence& r) {
  check(r);
  if (const DeviceRecurrence* const device = device_recurrence(r.hx)) {
    device->steps(r);
    return;
  }
  static constexpr decltype(&v2::recurrence_steps) kTable[] = {
      v2::recurrence_steps, v3::recurrence_steps, v4::recurrence_steps};
  kTable[cpu_isa_level()](r);
}

void recurrence_backward(const Recurrence& r, const RecurrenceGrads& grads) {
  check(r);
  if (grads.output.defined()) {
    check(r, grads.output, r.output.sizes());
  }
  if (grads.cells.defined()) {
    check(r, grads.cells, r.cells.sizes());
  }
  if (const DeviceRecurrence* const device = device_recurrence(r.hx)) {
    device->steps_back(r, grads);
    return;
  }
  static constexpr decltype(&v2::recurrence_backward_steps) kTable[] = {
      v2::recurrence_backward_steps, v3::recurrence_backward_steps, v4::recurrence_backward_steps};
  kTable[cpu_isa_level()](r, grads);
}

} // namespace at::native
