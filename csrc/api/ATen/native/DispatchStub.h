#pragma once

#include <aten/native/DispatchStub.h>
