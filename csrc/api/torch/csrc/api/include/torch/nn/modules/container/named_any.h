#pragma once

#include <torch/nn/modules/container/named_any.h>
