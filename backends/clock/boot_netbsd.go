package clock

// sinceBootClock is CLOCK_MONOTONIC. It is not said to count a suspend, and no other
// clock that never steps is, either (clock_gettime(2)): after one, a holder learns at
// its next heartbeat that it was broken, and not before.
const sinceBootClock = 3
