#pragma once

#include <torch/nn/modules/container/any_value.h>
