import { withoutMentions } from '../../reconcile/reasons/runbook-mention.ts';

/** The first sentence of a message, of at most so many characters: for a table. */
export function firstSentence(message: string, longest: number): string {
  const [sentence = ''] = withoutMentions(message).split(/[.;] /, 1);
  return sentence.length > longest ? `${sentence.slice(0, longest - 1)}…` : sentence;
}
