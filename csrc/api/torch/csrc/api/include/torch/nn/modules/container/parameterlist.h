#pragma once

#include <torch/nn/modules/container/parameterlist.h>
