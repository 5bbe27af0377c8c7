#pragma once

#include <csrc/optim/sgd.h>
