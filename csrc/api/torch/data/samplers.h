#pragma once

#include <csrc/data/samplers.h>
