#pragma once

#include <csrc/nn/functional.h>
