#pragma once

#include <csrc/optim/rprop.h>
