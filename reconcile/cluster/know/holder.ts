/** The invocation that acts: its pod, or, where there is none, an ID of its own. */
export interface Holder {
  /** `<namespace>/<pod>` inside a cluster. */
  readonly pod: string;
  readonly uid: string;
  /** Whether the invocation with this uid is known to be over: a process knows that of the invocations that it made. */
  readonly knowsOver?: (uid: string) => boolean;
}
