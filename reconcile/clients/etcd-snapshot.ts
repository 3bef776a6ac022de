/** `Maintenance.Snapshot` as a stream, with the guards of `etcd-calls.ts`. */

import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import type { ISnapshotResponse } from 'etcd3';
import { firstAbort } from '../../manifests/abort-after.ts';
import { EtcdError } from '../interfaces/etcd.ts';
import { type EtcdOptions, guardedCalls } from './etcd-calls.ts';

interface SnapshotOptions {
  readonly signal: AbortSignal;
  /** For the whole of it, in milliseconds. */
  readonly timeoutMs: number;
  /** How long etcd may send nothing while we wait for it, in milliseconds. Default: 60,000. */
  readonly stallMs?: number;
}

export interface EtcdSnapshots {
  /**
   * One endpoint's snapshot, read only as fast as it is taken. It ends with etcd's sha256, which is not checked here.
   * Leaving early ends the call. @throws {EtcdError} also when fewer bytes came than etcd announced
   */
  snapshot(endpoint: string, options: SnapshotOptions): AsyncGenerator<Uint8Array>;
  close(): void;
}

/** Messages of 32 KiB that wait for the reader: those that wait long grow old, and are collected late. */
const waiting = 4;

/**
 * Bytes that etcd may send ahead. HTTP/2's own 64 KiB are two messages: etcd would wait after each, and a snapshot take
 * twice as long. It is memory as well, so no larger than helps.
 */
const windowBytes = 512 * 1024;

export function connectSnapshots(options: EtcdOptions = {}): EtcdSnapshots {
  const calls = guardedCalls(options, windowBytes);
  return { snapshot, close: calls.close };

  async function* snapshot(endpoint: string, { signal, timeoutMs, stallMs = 60_000 }: SnapshotOptions) {
    const leaving = new AbortController();
    const stop = firstAbort(signal, leaving.signal);
    const taken = new PassThrough({ objectMode: true, highWaterMark: waiting });
    const asked = calls.ask(
      'snapshot',
      endpoint,
      stop,
      async (client, callOptions) => {
        const messages = (await client.maintenance.snapshot(
          callOptions,
        )) as unknown as AsyncIterable<ISnapshotResponse>;
        for await (const blob of whole(endpoint, patient(endpoint, messages, stallMs))) {
          if (!taken.write(blob)) await once(taken, 'drain', { signal: stop });
        }
      },
      timeoutMs,
    );
    const ended = asked.then(
      () => taken.end(),
      (error: Error) => taken.destroy(error),
    );
    try {
      yield* taken as AsyncIterable<Uint8Array>;
    } finally {
      leaving.abort(new Error('not wanted any more'));
      await ended;
    }
  }
}

/** `remaining_bytes` says how much is to come: a stream that ends early, or goes on, is torn. */
async function* whole(endpoint: string, messages: AsyncIterable<ISnapshotResponse>): AsyncGenerator<Buffer> {
  let expected: bigint | undefined;
  for await (const { blob, remaining_bytes } of messages) {
    const remaining = BigInt(remaining_bytes);
    // The checksum comes after what was announced, in a message of its own, with nothing remaining.
    const due = expected === undefined ? remaining : expected > 0n ? expected - BigInt(blob.length) : 0n;
    if (remaining !== due) throw torn(endpoint, `announced ${remaining} more bytes where ${due} are due`);
    expected = remaining;
    if (blob.length > 0) yield blob;
  }
  if (expected !== 0n) throw torn(endpoint, `ended ${expected ?? 'all'} bytes too early`);
}

function torn(endpoint: string, what: string): EtcdError {
  return new EtcdError(`snapshot at ${endpoint}: etcd ${what}; it may have been stopped: try again`, 'ambiguous');
}

/** A member that froze sends nothing and reports nothing. Time in which the reader does not read does not count. */
async function* patient<T>(endpoint: string, messages: AsyncIterable<T>, stallMs: number): AsyncGenerator<T> {
  const iterator = messages[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await withinTime(iterator.next(), endpoint, stallMs);
      if (next.done) return;
      yield next.value;
    }
  } finally {
    // Not awaited: of a stream that is stuck, it would not come back.
    void iterator.return?.().catch(() => undefined);
  }
}

function withinTime<T>(promise: Promise<T>, endpoint: string, ms: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new EtcdError(`snapshot at ${endpoint}: etcd sent nothing for ${ms} ms`, 'ambiguous')),
    ms,
  );
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
