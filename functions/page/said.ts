import { withoutMentions } from '../../reconcile/reasons/runbook.ts';

/** Messages that a page has shown: the same text stands on it once. */
export interface Said {
  has(message: string): boolean;
}

export const nothingSaid: Said = { has: () => false };

/** With another runbook it is the same message. */
export function saying(messages: readonly string[]): Said {
  const all = new Set(messages.map(withoutMentions));
  return { has: (message) => all.has(withoutMentions(message)) };
}
