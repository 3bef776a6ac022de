/** What must be on (`true`) and off (`false`), all of it. */
export type Switches = Readonly<Record<string, boolean>>;
/** One of these must hold. `[{}]`: always. */
export type Condition = readonly Switches[];

/** The same in fewer words: what holds whether a switch is on or off does not speak of it. */
export function simplified(condition: Condition): Condition {
  const terms = withoutImplied(condition);
  for (const [i, one] of terms.entries()) {
    for (const other of terms.slice(i + 1)) {
      const merged = mergedTerms(one, other);
      if (merged) return simplified([...terms.filter((term) => term !== one && term !== other), merged]);
    }
  }
  return terms;
}

/** The conditions that are left to check where `given` holds already. */
export function within(condition: Condition, given: Condition): Condition {
  const [sure, ...others] = given;
  if (!sure || others.length > 0) return condition;
  return simplified(
    condition.map((term) => Object.fromEntries(Object.entries(term).filter(([name, on]) => sure[name] !== on))),
  );
}

export function isAlways(condition: Condition): boolean {
  return condition.some((term) => Object.keys(term).length === 0);
}

/** As an argument of `if`. */
export function expression(condition: Condition, valueName: (name: string) => string): string {
  const terms = condition.map((term) => call('and', literals(term, valueName)));
  return call('or', terms);
}

function literals(term: Switches, valueName: (name: string) => string): string[] {
  return Object.entries(term).map(([name, on]) => (on ? valueName(name) : `not ${valueName(name)}`));
}

function call(name: 'and' | 'or', parts: readonly string[]): string {
  const [first, ...others] = parts;
  if (first === undefined) throw new Error('a condition that always holds needs no guard');
  return others.length === 0 ? first : [name, ...parts.map(inParentheses)].join(' ');
}

export function inParentheses(text: string): string {
  return text.includes(' ') ? `(${text})` : text;
}

function withoutImplied(condition: Condition): Switches[] {
  return condition.filter(
    (term, i) => !condition.some((other, j) => i !== j && implies(term, other) && (!implies(other, term) || j < i)),
  );
}

function implies(narrow: Switches, wide: Switches): boolean {
  return Object.entries(wide).every(([name, on]) => narrow[name] === on);
}

function mergedTerms(one: Switches, other: Switches): Switches | undefined {
  const names = Object.keys(one);
  if (names.length !== Object.keys(other).length || !names.every((name) => name in other)) return undefined;
  const [differs, ...more] = names.filter((name) => one[name] !== other[name]);
  if (differs === undefined || more.length > 0) return undefined;
  return Object.fromEntries(Object.entries(one).filter(([name]) => name !== differs));
}
