/**
 * Keeps the last answers to a question that has the same answer for a key at any time.
 *
 * @param most that are kept; the one that was asked for longest ago goes first
 */
export function lastAnswers<T>(most: number): (key: string, ask: () => T) => T {
  const answers = new Map<string, { readonly answer: T }>();
  return (key, ask) => {
    const known = answers.get(key) ?? { answer: ask() };
    answers.delete(key);
    answers.set(key, known);
    const [oldest] = answers.keys();
    if (answers.size > most && oldest !== undefined) answers.delete(oldest);
    return known.answer;
  };
}
