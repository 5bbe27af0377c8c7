#pragma once

#include <csrc/nn/cloneable.h>
#include <torch/nn/module.h>
