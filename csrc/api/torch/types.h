#pragma once

#include <csrc/types.h>
