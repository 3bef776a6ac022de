import { setTimeout as pause } from 'node:timers/promises';
import { printable } from '../../manifests/printable.ts';
import { KubeError } from '../../reconcile/interfaces/kube.ts';
import type { Asked, ExitCode } from './command.ts';

export interface Watching {
  readonly watch: boolean;
  /** Seconds between two looks. */
  readonly interval: number;
}

type View<N, O> = (name: N, asked: Asked, options: O) => Promise<ExitCode>;

/** The same view, which `--watch` shows again as often as it has changed. */
export function watchable<N, O>(view: View<N, O>): View<N, O & Watching> {
  return (name, asked, options) =>
    options.watch ? watched((one) => view(name, one, options), asked, options) : view(name, asked, options);
}

/** What one look says; only the last one is kept. */
interface Look {
  readonly text: string;
  readonly notes: string;
  readonly code: ExitCode;
}

/**
 * Looks again and again until a person stops it, or its reader has gone. An API server that does not answer is told,
 * and asked again at the next look. @throws what a look throws that does not pass by itself
 */
async function watched(
  view: (asked: Asked) => Promise<ExitCode>,
  asked: Asked,
  { interval }: Watching,
): Promise<ExitCode> {
  let last: Look | undefined;
  while (!asked.stop.aborted && !asked.isClosed?.()) {
    const look = await lookOnce(view, asked, interval);
    if (look && (look.text !== last?.text || look.notes !== last.notes))
      draw(look, asked, { interval, isFirst: !last });
    last = look ?? last;
    await pause(interval * 1000, undefined, { signal: asked.stop }).catch(() => undefined);
  }
  return last?.code ?? 0;
}

/** `undefined`: it was stopped meanwhile. */
async function lookOnce(
  view: (asked: Asked) => Promise<ExitCode>,
  asked: Asked,
  interval: number,
): Promise<Look | undefined> {
  let [text, notes] = ['', ''];
  const out = (more: string) => {
    text += more;
  };
  const err = (more: string) => {
    notes += more;
  };
  try {
    // What lists hold is accounted for each look by itself: on one account it would add up for ever.
    const code = await view({ ...asked, kube: asked.kube.bounded(), out, err });
    return { text, notes, code };
  } catch (error) {
    if (asked.stop.aborted) return undefined;
    if (!(error instanceof KubeError) || error.class === 'terminal') throw error;
    return { text: '', notes: `${printable(error.message)}; it looks again in ${interval} s\n`, code: 1 };
  }
}

function draw(
  { text, notes }: Look,
  asked: Asked,
  { interval, isFirst }: { interval: number; isFirst: boolean },
): void {
  const { out, err, clear, output, now } = asked;
  if (clear) {
    clear();
    out(text);
    err(`${notes}\nas of ${now().toISOString().slice(11, 19)} UTC; it looks every ${interval} s, and Ctrl-C ends it\n`);
    return;
  }
  const before = isFirst || text === '' ? '' : output === 'yaml' ? '---\n' : '\n';
  out(`${before}${text}`);
  err(notes);
}
