#pragma once

#include <csrc/optim/asgd.h>
