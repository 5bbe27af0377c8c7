#pragma once

#include <csrc/nn/options/batchnorm.h>
