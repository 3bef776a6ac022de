import { AsyncLocalStorage } from 'node:async_hooks';

export type Log = (fields: Readonly<Record<string, unknown>>, message: string) => void;

/** What a span may say of itself: a closed list, so that no secret finds its way into one. */
type Fact =
  | 'trigger'
  | 'fleet'
  | 'revision'
  | 'reading'
  | 'cluster'
  | 'backup'
  | 'policy'
  | 'decision'
  | 'reason'
  | 'action'
  | 'outcome'
  | 'verb'
  | 'resource'
  | 'namespace'
  | 'status'
  | 'call'
  | 'endpoint'
  | 'host';
export type Facts = { readonly [name in Fact]?: string | number | boolean | undefined };

/** Whom a request was sent to; what else a span is about sends none of its own. */
export type Asked = 'api-server' | 'etcd' | 'git';

/** Work that was begun; times in milliseconds since the epoch, from a clock that never goes back. */
export interface Span {
  readonly name: string;
  facts: Facts;
  readonly asked?: Asked | undefined;
  readonly parent?: Span | undefined;
  readonly begun: number;
  ended?: number;
  /** The kind of error that it ended with, never its message. */
  failure?: string;
}

/** What one invocation did. A large fleet's spans are not all kept: its requests are counted to the last. */
export interface Recording {
  readonly spans: Span[];
  left: number;
  readonly requests: Record<Asked, number>;
}

const mostSpans = 2_000;

interface Place {
  readonly recording: Recording;
  readonly parent?: Span;
}

const place = new AsyncLocalStorage<Place>();

/** Runs the work with everything in it that is `traced` written down. */
export function recorded<T>(work: (recording: Recording) => Promise<T>): Promise<T> {
  const recording = { spans: [], left: 0, requests: { 'api-server': 0, etcd: 0, git: 0 } };
  return place.run({ recording }, () => work(recording));
}

/** Work that a trace shows; where nothing is recorded, only the work. `note` adds what is known later. */
export function traced<T>(
  name: string,
  facts: Facts,
  work: (note: (more: Facts) => void) => Promise<T>,
  asked?: Asked,
): Promise<T> {
  const here = place.getStore();
  return here ? record(here, { name, facts, asked, parent: here.parent, begun: now() }, work) : work(ignored);
}

async function record<T>(
  { recording }: Place,
  span: Span,
  work: (note: (more: Facts) => void) => Promise<T>,
): Promise<T> {
  if (span.asked) recording.requests[span.asked] += 1;
  if (recording.spans.length < mostSpans) recording.spans.push(span);
  else recording.left += 1;
  const note = (more: Facts) => {
    span.facts = { ...span.facts, ...more };
  };
  try {
    return await place.run({ recording, parent: span }, () => work(note));
  } catch (error) {
    span.failure = kindOf(error);
    throw error;
  } finally {
    span.ended = now();
  }
}

function ignored(): void {}

function now(): number {
  return performance.timeOrigin + performance.now();
}

function kindOf(error: unknown): string {
  const { reason, name } = error instanceof Error ? (error as Error & { readonly reason?: unknown }) : {};
  return typeof reason === 'string' ? reason : (name ?? 'Error');
}
