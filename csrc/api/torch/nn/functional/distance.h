#pragma once

#include <csrc/nn/functional/distance.h>
