#pragma once

#include <csrc/data/samplers/distributed.h>
