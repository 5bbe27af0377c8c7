#pragma once

#include <csrc/nn/functional/batchnorm.h>
#include <csrc/nn/functional/detail.h>
