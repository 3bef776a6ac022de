import { inspect } from 'node:util';
import { printable } from '../manifests/printable.ts';
import type { Log } from '../reconcile/stepping/traced.ts';

export type { Log };

interface LogTarget {
  readonly isTTY?: boolean;
  readonly fd: number;
  write(text: string): void;
}

/** Lines of text for a person at a terminal, JSON for log collectors. */
export async function createLog(target: LogTarget): Promise<Log> {
  if (target.isTTY) return (fields, message) => target.write(`${asText(fields, message)}\n`);
  // Its default export, because a bundle of a CommonJS package has no other.
  const { default: pino } = await import('pino');
  // Synchronous: what is said last before the process leaves is what matters most.
  const destination = pino.destination({ dest: target.fd, sync: true });
  // JSON leaves what turns or hides text as it is, and a person reads these lines at a terminal, too.
  const lines = { write: (line: string) => void destination.write(`${printable(line.replace(/\n$/, ''))}\n`) };
  const logger = pino({ base: null, timestamp: pino.stdTimeFunctions.isoTime }, lines);
  return (fields, message) => {
    if (fields.problem === undefined) logger.info(fields, message);
    else logger.warn(fields, message);
  };
}

function asText(fields: Readonly<Record<string, unknown>>, message: string): string {
  const { cluster, fleet, reason, outcome, problem } = fields;
  const subject = cluster ?? fleet;
  const words = [subject, reason, message, outcome === 'none' ? undefined : outcome && `(${outcome})`, problem];
  const said = words.filter((word) => word !== undefined && word !== '');
  return printable(said.map((word) => (typeof word === 'string' ? word : inspect(word))).join('  '));
}
