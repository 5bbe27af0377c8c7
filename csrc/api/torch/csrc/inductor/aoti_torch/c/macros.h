#pragma once
#include <csrc/stable/shim.h>
