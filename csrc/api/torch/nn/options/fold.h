#pragma once

#include <csrc/nn/options/fold.h>
