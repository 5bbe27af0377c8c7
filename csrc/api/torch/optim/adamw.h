#pragma once

#include <csrc/optim/adamw.h>
