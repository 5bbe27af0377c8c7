#pragma once

#include <torch/nn/modules/container/any_module_holder.h>
