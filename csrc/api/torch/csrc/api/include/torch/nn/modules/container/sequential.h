#pragma once

#include <torch/nn/modules/container/sequential.h>
