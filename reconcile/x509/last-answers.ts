/**
 * Answers to pure questions, the last ones: all leaves of a cluster name the same CAs, and a copy says what its
 * original does. To read a certificate or a key takes a tenth of a millisecond and more.
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
