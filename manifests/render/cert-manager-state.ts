import type { CertManagerCertificate } from './cert-manager-certificate.ts';

/** A machine reason and a sentence of cert-manager's or its issuer's, cut to what fits a condition of ours. */
export interface Said {
  readonly reason: string;
  readonly message: string;
}

export type CertificateState =
  /** Its Secret is written. `renewalFailed`: the next one could not be had; this one still serves. */
  | {
      readonly state: 'ready';
      readonly notAfter?: string;
      readonly renewalTime?: string;
      readonly revision?: number;
      readonly renewalFailed?: Said;
    }
  | ({ readonly state: 'issuing' } & Said)
  /** The issuer refused, or another Certificate is in its way; cert-manager tries again, at first after an hour. */
  | ({ readonly state: 'failed' } & Said);

const longestReason = 64;
const longestMessage = 256;

/**
 * Reads cert-manager's conditions. `Ready` is about the Secret; `Issuing` is True while a certificate is being made,
 * False after a failure and gone after a success. A condition of an earlier generation says nothing.
 */
export function certificateState(found: CertManagerCertificate): CertificateState {
  const { generation = 0, namespace, name } = found.metadata;
  const { conditions = [], notAfter, renewalTime, revision } = found.status ?? {};
  const current = conditions.filter(({ observedGeneration }) => (observedGeneration ?? generation) >= generation);
  const ready = current.find(({ type }) => type === 'Ready');
  const issuing = current.find(({ type }) => type === 'Issuing');
  const failure = issuing?.status === 'False' ? said(issuing) : undefined;

  if (ready?.status === 'True') {
    return {
      state: 'ready',
      ...(notAfter !== undefined && { notAfter }),
      ...(renewalTime !== undefined && { renewalTime }),
      ...(revision !== undefined && { revision }),
      ...(failure && { renewalFailed: failure }),
    };
  }
  if (failure) return { state: 'failed', ...failure };
  // Two Certificates with one Secret: cert-manager would write it in turn, for ever.
  if (ready?.reason === 'IncorrectCertificate') return { state: 'failed', ...said(ready) };
  const latest = issuing ?? ready;
  if (latest) return { state: 'issuing', ...said(latest) };
  return {
    state: 'issuing',
    reason: 'NotObserved',
    message: `cert-manager has not looked at Certificate ${namespace ?? ''}/${name} yet: see that it is installed and runs`,
  };
}

export function said({ reason = '', message = '' }: { readonly reason?: string; readonly message?: string }): Said {
  // A reason of ours must be CamelCase, and an issuer's controller may write what it likes.
  const word = /^[A-Za-z][A-Za-z0-9_]*$/.test(reason) ? reason.slice(0, longestReason) : 'Unknown';
  return { reason: word, message: shortened(message.replace(/[\p{C}\s]+/gu, ' ').trim()) };
}

function shortened(message: string): string {
  if (message.length <= longestMessage) return message;
  // toWellFormed: the cut may go through a character of two code units.
  return `${message.slice(0, longestMessage - 1).toWellFormed()}…`;
}
