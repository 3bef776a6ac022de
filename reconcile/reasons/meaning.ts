export interface Meaning {
  /** One sentence: what is. */
  readonly means: string;
  /** What a person does about it; an imperative. */
  readonly cure: string;
  /** Absent: the reason says nothing about whether members run. */
  readonly course?: Course;
  /** Of the condition `Available`: clients that should be served are not. */
  readonly outage?: true;
  /** Its messages say that outage themselves: it is not put before them. */
  readonly tells?: string;
  /** The cluster rests because a person asked for it: this reason is then its word on the page. */
  readonly isAsked?: true;
}

/**
 * `rests`: the spec is fulfilled. `stopped`: a person suspended all steps. `rolls`: a member restarts on another
 * template. `disrupts`: the member list changes, or a member does not serve for a while.
 */
export type Course = 'rests' | 'stopped' | 'rolls' | 'disrupts';

/** A step that is being taken, or that waits. docs/reference/what-it-says.md does not list these one by one. */
export const goesOn = 'nothing: it goes on by itself';

/** Nor these. */
export const isWell = 'nothing: all is well';

/** A row for a step. */
export function step(means: string, course?: Course): Meaning {
  return { means, cure: goesOn, ...(course && { course }) };
}
