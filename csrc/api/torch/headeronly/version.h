#pragma once
#include <csrc/stable/version.h>
#include <csrc/version.h>
