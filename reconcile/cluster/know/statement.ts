import type { Condition } from '../../../manifests/api/metadata.ts';
import { type Reason, reasonIn } from '../../reasons/reasons.ts';

/** A condition's content; the time of its last change is derived from the condition before. */
export interface Statement {
  readonly type:
    | 'Ready'
    | 'Available'
    | 'Reconciling'
    | 'Stalled'
    | 'SetAside'
    | 'CertificatesReady'
    | 'AuthReady'
    | 'Drainable'
    | 'Drifted';
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: Reason;
  readonly message: string;
}

/** The last statement stands where the state could not be read again. */
export function keptStatement(type: Statement['type'], conditions: readonly Condition[] = []): readonly Statement[] {
  const before = conditions.find((condition) => condition.type === type);
  return before ? [{ type, status: before.status, reason: reasonIn(before.reason), message: before.message }] : [];
}
