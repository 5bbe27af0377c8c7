#pragma once
// Convolutions by oneDNN.

#include <aten/native/cpu/conv.h>
#include <aten/native/onednn/Activation.h>
#include <c10/macros/Macros.h>

#include <cstddef>
#include <cstdint>

namespace at::native::onednn {

enum class ConvPass : int8_t { Forward, BackwardData, BackwardWeight };

/// Layouts of the operands: channels-last or plain. Image and result have the same one.
struct ConvLayout {
  bool images_channels_last = false;
  bool weight_channels_last = false;
};

/// What a forward pass does to its result before it stores it: `other`, of the same layout, is added to it, if it is
/// not null, and then the function is applied. `other` may be the result itself.
struct ConvEpilogue {
  const void* other = nullptr;
  Activation activation = Activation::None;

  bool is_empty() const {
    return other == nullptr && activation == Activation::None;
  }
};

/// Runs a pass on Float or BFloat16 data. Two of src, weight and dst are read and the third is written, as the pass
/// says; `bias` (forward pass only) is added to the result, or null. With an epilogue images are channels-last. Returns
/// false, with nothing written, when oneDNN has no fast kernel for the case on this CPU.
bool convolution(
    const ConvProblem& p,
    ConvPass pass,
    ConvLayout layout,
    void* src,
    void* weight,
    void* dst,
    const void* bias,
    const ConvEpilogue& epilogue = {});

} // namespace at::native::onednn
