// Jacobians, Hessians and products with them: torch::autograd::functional.
#pragma once

#include <csrc/autograd/functional.h>
