/** What a command has of the world: where it says what, and when it is. */
export interface Terminal {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Whether results go to a terminal that shows colours. */
  readonly colours: boolean;
  /** Empties the screen; absent where results go to no terminal. */
  readonly clear?: () => void;
  /** Whether the reader of results has gone. */
  readonly isClosed?: () => boolean;
  /** Asks the person, and resolves with what was typed ('' at the end of input); absent where no person can answer. */
  readonly ask?: (question: string) => Promise<string>;
  readonly now: () => Date;
  /** A person's Ctrl-C. */
  readonly stop: AbortSignal;
}
