#pragma once

#include <csrc/linalg.h>
