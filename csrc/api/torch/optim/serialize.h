#pragma once

#include <csrc/optim/serialize.h>
