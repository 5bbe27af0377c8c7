#pragma once

#include <csrc/nn/functional/detail.h>
#include <csrc/nn/functional/embedding.h>
