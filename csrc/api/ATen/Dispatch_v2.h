#pragma once
#include <aten/Dispatch_v2.h>
