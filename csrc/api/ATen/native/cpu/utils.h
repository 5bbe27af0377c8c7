#pragma once

#include <aten/native/cpu/utils.h>
