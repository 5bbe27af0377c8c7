#pragma once

#include <csrc/nn/options/distance.h>
