/**
 * What holds where `spec.defragmentation`, or a field of it, is left out; apart from the schema, which not every
 * invocation loads.
 */
export const defragmentationDefaults = { minReclaim: '256Mi', maxUsedRatio: 0.5 } as const;
