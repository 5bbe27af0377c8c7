#pragma once

#include <aten/native/ConvUtils.h>
