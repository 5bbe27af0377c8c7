// The thread that does the device's work, so that nothing of the thread that waits (autocast, inference mode, a
// profiler) touches it.
#pragma once

namespace emulated {

/// Calls f(argument) there and waits for it. One caller at a time.
void on_device_thread(void (*f)(void*), void* argument);

} // namespace emulated
