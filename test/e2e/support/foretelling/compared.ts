/** Stories whose warm ticks foretell each step, and that fail when what happens is not what was foretold. */
export const compared: readonly string[] = ['drains', 'labels', 'priority', 'storage-class', 'take-back', 'tls-modes'];
