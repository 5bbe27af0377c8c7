#pragma once

#include <csrc/mps.h>
