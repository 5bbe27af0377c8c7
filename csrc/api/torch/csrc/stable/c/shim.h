#pragma once
#include <csrc/stable/shim.h>
#include <csrc/stable/version.h>
