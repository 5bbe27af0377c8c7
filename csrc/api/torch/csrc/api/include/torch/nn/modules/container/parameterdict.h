#pragma once

#include <torch/nn/modules/container/parameterdict.h>
