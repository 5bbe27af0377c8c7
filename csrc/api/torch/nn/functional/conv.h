#pragma once

#include <csrc/nn/functional/conv.h>
#include <csrc/nn/functional/detail.h>
