#pragma once

#include <csrc/optim/adagrad.h>
