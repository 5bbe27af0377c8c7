#pragma once

#include <csrc/optim/rmsprop.h>
