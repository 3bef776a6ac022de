import { readdirSync } from 'node:fs';
import { setPriority } from 'node:os';

/**
 * Preloaded into the process of each test file that runs beside others that measure: it and all that it starts take the
 * processors that those leave. Linux gives each thread a priority of its own, and those of V8 are there already.
 */
for (const thread of readdirSync('/proc/self/task')) setPriority(Number(thread), 15);
