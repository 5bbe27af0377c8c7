#pragma once

#include <aten/cpu/Utils.h>
