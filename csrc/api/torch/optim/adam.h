#pragma once

#include <csrc/optim/adam.h>
