#pragma once

#include <csrc/nn/modules/container/any_module_holder.h>
#include <torch/types.h>
