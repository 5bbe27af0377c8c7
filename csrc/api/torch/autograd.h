// Gradients: torch::autograd::backward, grad and Function.
#pragma once

#include <aten/core/LegacyTypeDispatch.h>
#include <autograd/autograd.h>
#include <autograd/autograd_not_implemented_fallback.h>
#include <autograd/custom_function.h>
