#pragma once

#include <csrc/optim/lbfgs.h>
