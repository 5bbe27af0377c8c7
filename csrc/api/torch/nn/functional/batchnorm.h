#pragma once

#include <csrc/nn/functional/batchnorm.h>
