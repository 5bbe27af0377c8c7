#pragma once

#include <csrc/nn/pimpl.h>
#include <torch/types.h>
