#pragma once

#include <csrc/optim/optimizer.h>
