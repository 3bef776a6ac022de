/** One rule in two languages: CEL for the API server, TypeScript without one. A test holds both against documents. */
export type Rule = StateRule | TransitionRule;

export interface StateRule {
  readonly message: string;
  /** Over `self`. It must not fail at run time on anything that the schema admits. */
  readonly cel: string;
  /** The same over a value that the schema, and every rule inside it, admits. */
  readonly holds: (value: never) => boolean;
  /** Where a person should look, below the value: a path like `.tls`. */
  readonly fieldPath?: string;
  /** More than the rule can say statically, offline only: which key it is. */
  readonly explain?: (value: never) => string | undefined;
  /** About what people may ask for: an EtcdPeer, which copies what its cluster has, is not judged by it. */
  readonly ofPeople?: true;
  /** The value is not repeated in the message: a credential may have been pasted there. */
  readonly hidesValue?: true;
}

/** Compares with what was before, so only the API server can judge it. */
export interface TransitionRule {
  readonly message: string;
  /** Over `self` and `oldSelf`. */
  readonly cel: string;
  readonly transition: true;
  /** Judged of a new object as well: `oldSelf` is an optional then. What an object has already may stay. */
  readonly optionalOldSelf?: true;
  readonly fieldPath?: string;
}

/** Types a rule's TypeScript half. The schema it hangs on is what makes the type true. */
export function rule<T>(parts: {
  message: string;
  cel: string;
  holds: (value: T) => boolean;
  fieldPath?: string;
  explain?: (value: T) => string | undefined;
  hidesValue?: true;
  ofPeople?: true;
}): StateRule {
  return parts as StateRule;
}

export function transitionRule(parts: Omit<TransitionRule, 'transition'>): TransitionRule {
  return { ...parts, transition: true };
}

/** A text that must match, with a message that says what to write. RE2 and JavaScript must read the pattern alike. */
export function matching(pattern: string, message: string, options: { hidesValue?: true } = {}): StateRule {
  const expression = new RegExp(pattern, 'u');
  return rule<string>({
    message,
    cel: `self.matches('${celEscape(pattern)}')`,
    holds: (value) => expression.test(value),
    ...options,
  });
}

/** For a single-quoted CEL string. */
export function celEscape(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll("'", "\\'");
}
