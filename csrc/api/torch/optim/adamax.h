#pragma once

#include <csrc/optim/adamax.h>
