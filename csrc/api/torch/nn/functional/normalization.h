#pragma once

#include <csrc/nn/functional/normalization.h>
