#pragma once

#include <csrc/optim/radam.h>
