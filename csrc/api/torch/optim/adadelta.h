#pragma once

#include <csrc/optim/adadelta.h>
