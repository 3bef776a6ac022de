/** Why an object does not count as signed. Each is the reason of a fleet, too (git/error.ts). */
export type SignatureReason = 'CommitNotSigned' | 'SignerNotTrusted' | 'SignatureInvalid';

/** Its message is a clause whose subject is the commit or tag: `is not signed`. It repeats no word of the object. */
export class SignatureRefusal extends Error {
  readonly reason: SignatureReason;

  constructor(reason: SignatureReason, message: string) {
    super(message);
    this.name = 'SignatureRefusal';
    this.reason = reason;
  }
}

/** The signature, or its object, can't be read, or must not count. */
export function invalid(message: string): SignatureRefusal {
  return new SignatureRefusal('SignatureInvalid', message);
}

/** By whom, and with which key: for people. */
export interface Signer {
  /** As the trusted keys call it: principals, or a user ID. */
  readonly by: string;
  /** As `ssh-keygen -l` and `gpg` write fingerprints. */
  readonly key: string;
}
