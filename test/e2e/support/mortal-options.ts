/** Carries the options to the invocation that is to die. */
export const mortalEnv = 'TEST_MORTAL';

/** On which side of a write an invocation dies. */
export type When = 'before' | 'after';

export interface MortalOptions {
  /** What is asked for members whose names begin so is the same place, whoever it is for; absent: each has places of its own. */
  readonly alike?: string;
  /** A file with a line for each place that was met, so that nobody dies twice in one. */
  readonly ledger: string;
  /** `everywhere`: in each place that the ledger does not have; `nowhere`: they are only noted; else in the place of this line. */
  readonly dies: 'everywhere' | 'nowhere' | string;
}
