import { type DnsAnswer, type DnsRecords, type LookUp, lookUp } from './dns-answers.ts';

/**
 * Looks names up, and remembers of one that was not there that it was not, as CoreDNS does: whoever asks too early is
 * told the same for a while after it has come.
 */
export function rememberingMisses(records: DnsRecords, ms: number, now: () => number = Date.now): LookUp {
  const missing = new Map<string, number>();
  return (question: string): DnsAnswer => {
    const name = question.toLowerCase();
    const until = missing.get(name) ?? 0;
    if (now() < until) return { kind: 'no-name' };
    const found = lookUp(records, question);
    if (found.kind === 'no-name') missing.set(name, now() + ms);
    else missing.delete(name);
    return found;
  };
}
