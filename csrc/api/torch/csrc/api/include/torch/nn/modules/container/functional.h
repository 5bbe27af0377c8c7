#pragma once

#include <torch/nn/modules/container/functional.h>
