#pragma once

#include <csrc/nn/functional/detail.h>
#include <csrc/nn/functional/dropout.h>
