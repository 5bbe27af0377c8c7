#pragma once

#include <csrc/nn/functional/activation.h>
#include <csrc/nn/functional/detail.h>
