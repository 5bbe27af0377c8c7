#pragma once

#include <torch/nn/modules/container/any.h>
