// All of torch::nn.
#pragma once

#include <csrc/nn/Module.h>
#include <csrc/nn/cloneable.h>
#include <csrc/nn/functional.h>
#include <csrc/nn/init.h>
#include <csrc/nn/modules.h>
#include <csrc/nn/options.h>
#include <csrc/nn/pimpl.h>
#include <csrc/nn/summary.h>
#include <csrc/nn/utils.h>
