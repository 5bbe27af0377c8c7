#pragma once

#include <csrc/special.h>
