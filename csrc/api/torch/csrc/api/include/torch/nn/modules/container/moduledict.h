#pragma once

#include <torch/nn/modules/container/moduledict.h>
