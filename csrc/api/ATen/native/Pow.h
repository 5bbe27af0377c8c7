#pragma once

#include <aten/native/Pow.h>
