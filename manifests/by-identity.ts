/** The same answer for the same object: it is readonly, so the answer stays right, and goes with it. */
export function byIdentity<Asked extends object, Answer>(find: (asked: Asked) => Answer): (asked: Asked) => Answer {
  const known = new WeakMap<Asked, { readonly answer: Answer }>();
  return (asked) => {
    const found = known.get(asked) ?? { answer: find(asked) };
    known.set(asked, found);
    return found.answer;
  };
}
