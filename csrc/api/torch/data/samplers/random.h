#pragma once

#include <csrc/data/samplers/random.h>
