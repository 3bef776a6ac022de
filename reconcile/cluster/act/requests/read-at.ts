export type ObjectKind =
  | 'peer'
  | 'volume'
  | 'configMap'
  | 'statefulSet'
  | 'pod'
  | 'job'
  | 'secret'
  | 'certificate'
  | 'certificateRequest'
  | 'headlessService'
  | 'clientService'
  | 'disruptionBudget'
  | 'networkPolicy'
  | 'externalService'
  | 'revocations';

/**
 * An object as it was read. To the programs it is opaque, and they pass it on: `at` is its resourceVersion, and to a
 * model `current` until the object is written to.
 */
export interface ReadAt {
  readonly object: ObjectKind;
  readonly name: string;
  readonly at: string;
}
