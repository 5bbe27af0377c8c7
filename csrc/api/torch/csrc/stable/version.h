#pragma once
#include <csrc/stable/version.h>
