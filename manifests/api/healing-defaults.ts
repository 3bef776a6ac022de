/**
 * What holds where `spec.healing`, or a field of it, is left out; apart from the schema, which not every invocation
 * loads.
 */
export const healingDefaults = { mode: 'Automatic', podGracePeriod: '2m', memberGracePeriod: '10m' } as const;

/** The same of `spec.volumeRetention.whenReplaced`. */
export const replacedDefaults = { policy: 'Delete', keepFor: '24h' } as const;
