#pragma once

#include <csrc/optim/sparse_adam.h>
