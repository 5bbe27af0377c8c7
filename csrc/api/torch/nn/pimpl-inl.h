#pragma once

#include <csrc/nn/pimpl.h>
