import type { SecretKey } from './inspect.ts';

type DefectReason =
  | 'SecretMissing'
  | 'KeysMissing'
  | 'Unreadable'
  | 'KeyMismatch'
  | 'WeakKey'
  | 'UnsupportedKey'
  | 'MissingUsages'
  | 'MissingNames'
  | 'WildcardPeerName'
  | 'HasCommonName'
  | 'NotACertificateAuthority'
  | 'NotYetValid'
  | 'Expired'
  | 'ChainBroken'
  | 'AuthoritiesDisagree'
  | 'Revoked'
  | 'ExpiresSoon';

export interface Defect {
  readonly reason: DefectReason;
  /** `fatal`: no member can run with it. `warning`: it works, for now. */
  readonly severity: 'fatal' | 'warning';
  readonly secretName: string;
  /** The Secret's key at which it shows; absent when the whole Secret is meant. */
  readonly key?: SecretKey;
  /** The problem, with the Secret and its key. */
  readonly message: string;
  readonly cure: string;
}

/** Whether no member can run with it. */
export function isFatal({ severity }: Defect): boolean {
  return severity === 'fatal';
}

interface Flaw {
  readonly reason: DefectReason;
  readonly secretName: string;
  readonly key?: SecretKey;
  /** A predicate: it follows the Secret and its key. */
  readonly problem: string;
  readonly cure: string;
}

export function fatal(flaw: Flaw): Defect {
  return defectOf('fatal', flaw);
}

export function warning(flaw: Flaw): Defect {
  return defectOf('warning', flaw);
}

function defectOf(severity: Defect['severity'], { problem, ...flaw }: Flaw): Defect {
  const where = flaw.key === undefined ? `Secret ${flaw.secretName}` : `${flaw.key} of Secret ${flaw.secretName}`;
  return { ...flaw, severity, message: `${where} ${problem}` };
}
