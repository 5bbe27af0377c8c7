// Quantized tensors in pickles.
#include <csrc/serialize/pickle_global.h>
#include <csrc/serialize/unpickler.h>

#include <aten/Functions.h>
#include <aten/quantized/QTensorImpl.h>
#include <c10/util/safe_numerics.h>

#include <fmt/format.h>

#include <vector>

namespace torch::serialize {

// torch._utils._rebuild_qtensor(storage, storage_offset, size, stride, (scheme, scale, zero_point) or (scheme, scales,
// zero_points, axis), requires_grad, backward_hooks)
c10::IValue Unpickler::rebuild_quantized(c10::ArrayRef<c10::IValue> arguments) {
  constexpr const char* kTakes =
      "torch._utils._rebuild_qtensor takes (storage, storage_offset, size, stride, quantizer, requires_grad, "
      "backward_hooks), with a quantizer of (scheme, scale, zero_point) or (scheme, scales, zero_points, axis)";
  const auto* storage = arguments.size() >= 6 ? held<PickleStorage>(arguments[0]) : nullptr;
  if (!storage || !arguments[4].isTuple()) {
    fail(kTakes);
  }
  if (!c10::isQIntType(storage->dtype)) {
    fail(fmt::format("a quantized tensor cannot lie in a storage of {}", c10::toString(storage->dtype)));
  }
  const auto& numbers = arguments[4].toTupleRef().elements();
  if (numbers.empty() || !numbers[0].isInt()) {
    fail(kTakes);
  }
  at::QuantizerPtr quantizer;
  if (numbers[0].toInt() == static_cast<int64_t>(c10::kPerTensorAffine)) {
    if (numbers.size() != 3 || !numbers[1].isDouble() || !numbers[2].isInt()) {
      fail(kTakes);
    }
    quantizer = at::Quantizer::per_tensor(numbers[1].toDouble(), numbers[2].toInt(), storage->dtype);
  } else {
    const auto is_vector = [](const c10::IValue& value) {
      return value.isTensor() && value.toTensor().defined() && value.toTensor().dim() == 1 &&
          value.toTensor().device().is_cpu() && !value.toTensor().is_quantized();
    };
    if (numbers.size() != 4 || !is_vector(numbers[1]) || !is_vector(numbers[2]) || !numbers[3].isInt()) {
      fail(kTakes);
    }
    quantizer =
        at::Quantizer::per_channel(numbers[1].toTensor(), numbers[2].toTensor(), numbers[3].toInt(), storage->dtype);
  }
  const PickleGlobal integers(
      PickleGlobal::Kind::RebuildTensorWithDtype, "torch._utils._rebuild_qtensor", storage->dtype);
  std::vector<c10::IValue> members{
      arguments[0],
      arguments[1],
      arguments[2],
      arguments[3],
      false,
      c10::IValue(),
      static_cast<int64_t>(c10::toUnderlying(storage->dtype))};
  if (!quantizer->is_packed()) {
    return at::make_quantized(rebuild_tensor(integers, members).toTensor(), std::move(quantizer));
  }
  const std::vector<int64_t> sizes = int_vector(arguments[2], "size");
  int64_t count = 1;
  for (const int64_t size : sizes) {
    if (size < 0 || c10::mul_overflows(count, size, &count)) {
      fail(kTakes);
    }
  }
  members[2] = c10::ivalue::Tuple::create({c10::IValue((count + 1) / 2)});
  members[3] = c10::ivalue::Tuple::create({c10::IValue(int64_t(1))});
  return at::make_quantized_packed(rebuild_tensor(integers, members).toTensor(), sizes, std::move(quantizer));
}

} // namespace torch::serialize
