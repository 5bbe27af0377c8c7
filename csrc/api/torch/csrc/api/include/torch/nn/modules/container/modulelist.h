#pragma once

#include <torch/nn/modules/container/modulelist.h>
