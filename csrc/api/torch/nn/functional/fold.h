#pragma once

#include <csrc/nn/functional/fold.h>
