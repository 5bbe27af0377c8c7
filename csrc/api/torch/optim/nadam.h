#pragma once

#include <csrc/optim/nadam.h>
