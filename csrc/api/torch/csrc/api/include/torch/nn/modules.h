#pragma once

#include <torch/nn/modules.h>
