import type fc from 'fast-check';

/** Something that strangers can reach, and what they may send. */
export interface Target<Input> {
  readonly name: string;
  readonly inputs: fc.Arbitrary<Input>;
  /** Inputs that follow from one, where making an input costs more than trying it. */
  readonly variants?: (input: Input) => readonly Input[];
  /** Everything of ours that an input goes through. What it throws is a finding. */
  readonly try: (input: Input) => Promise<void>;
}

/** Targets of all kinds of inputs in one list. */
export type AnyTarget = (check: <Input>(target: Target<Input>) => Promise<void>) => Promise<void>;

export function target<Input>(one: Target<Input>): AnyTarget {
  return (check) => check(one);
}
