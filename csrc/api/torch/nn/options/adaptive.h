#pragma once

#include <csrc/nn/options/adaptive.h>
