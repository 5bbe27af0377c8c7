#pragma once

#include <csrc/nn/options/normalization.h>
