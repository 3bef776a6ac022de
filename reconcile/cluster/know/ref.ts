/** An object as it was observed: a namesake that was created later is another object. */
export interface Ref {
  readonly name: string;
  readonly uid: string;
}
