"""The rules of memory as frozen values and pure functions: no await, no clock, no I/O."""
