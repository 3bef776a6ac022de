/**
 * What holds where `spec.defragmentation`, or a field of it, is left out; apart from the schema, which not every
 * invocation loads.
 */
export const defragmentationDefaults = { mode: 'Enabled', minReclaim: '256Mi', maxUsedPercent: 50 } as const;
