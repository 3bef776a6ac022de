/** Carries the options to the invocation that is to die. */
export const mortalEnv = 'TEST_MORTAL';

/** On which side of a write an invocation dies. */
export type When = 'before' | 'after';

export interface MortalOptions {
  /** Whose members' names are of no account: what is written for one of them is the same place as for another. */
  readonly cluster: string;
  /** A file with a line for each place that was met, so that nobody dies twice in one. */
  readonly ledger: string;
  /**
   * `everywhere`: in each place that the ledger does not have; `nowhere`: they are only noted; else in the place of
   * this line.
   */
  readonly dies: 'everywhere' | 'nowhere' | string;
}
