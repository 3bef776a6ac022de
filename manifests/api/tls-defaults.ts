/**
 * What holds where `spec.tls`, or a field of it, is left out; apart from the schema, which not every invocation loads.
 */
export const tlsDefaults = {
  mode: 'Managed',
  certificateLifetime: '2160h',
  authorityLifetime: '87600h',
  rotationOverlap: '10m',
} as const;
