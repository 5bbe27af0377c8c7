#pragma once

#include <c10/core/InferenceMode.h>

namespace torch::autograd {

using InferenceMode = c10::InferenceMode;

} // namespace torch::autograd
