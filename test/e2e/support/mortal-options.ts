/** Carries the options to the invocation that is to die. */
export const mortalEnv = 'TEST_MORTAL';

/** On which side of a write an invocation dies. */
export type When = 'before' | 'after';

export interface MortalOptions {
  /** A file with a line for each death, so that nobody dies twice in one place. */
  readonly ledger: string;
  /** The only line that may be added to it. */
  readonly only?: string;
  /** Members by the part they play, where their names differ between lives that are to be compared. */
  readonly names: Readonly<Record<string, string>>;
}
