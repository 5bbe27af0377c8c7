#pragma once

#include <csrc/expanding_array.h>
