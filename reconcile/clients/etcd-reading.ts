import { unbracketed, urlOf } from '../../manifests/render/hosts.ts';
import { ports } from '../../manifests/render/names.ts';
import { type EndpointStatus, type Etcd, EtcdError, type MemberList } from '../interfaces/etcd.ts';
import type { Calls } from './etcd-calls.ts';
import { allFailed } from './etcd-errors.ts';
import { readCounters, readMetrics } from './etcd-metrics.ts';
import { memberListOf, statusOf } from './etcd-values.ts';
import { readVersion } from './etcd-version.ts';

/** How long an endpoint may be silent before the next one is asked as well. */
const patienceMs = 300;

export function reading(
  calls: Calls,
): Pick<Etcd, 'members' | 'lastMembers' | 'status' | 'version' | 'metrics' | 'counters'> {
  return {
    members: (endpoints, { signal, barrier = false }) =>
      fromAny('member list', endpoints, signal, async (endpoint, attempt) => {
        if (barrier) await settle(calls, endpoint, attempt);
        return listMembers(calls, endpoint, attempt);
      }),
    lastMembers: (endpoints, { signal }) =>
      fromAny('last member list', endpoints, signal, (endpoint, attempt) =>
        calls.ask('last member list', endpoint, attempt, async (client, options) =>
          memberListOf(await client.cluster.memberList({ linearizable: false }, options)),
        ),
      ),
    status: (endpoint, { signal }) => readStatus(calls, endpoint, signal),
    version: (endpoint, { signal }) =>
      calls.fetch('GET /version', endpoint, signal, (limit, own) => readVersion(endpoint, limit, own)),
    metrics: (endpoint, { signal }) => {
      const url = metricsUrlOf(endpoint);
      return calls.fetch('GET /metrics', url, signal, (limit) => readMetrics(url, limit));
    },
    counters: (endpoint, { signal, slow }) => {
      const url = metricsUrlOf(endpoint);
      return calls.fetch('GET /metrics', url, signal, (limit) => readCounters(url, slow, limit));
    },
  };
}

function metricsUrlOf(endpoint: string): string {
  return urlOf('http', unbracketed(new URL(endpoint).hostname), ports.metrics);
}

/** The first answer of any endpoint. Only for reads. @throws {EtcdError} that names each endpoint, made by `failed` */
export async function fromAny<T>(
  call: string,
  endpoints: readonly string[],
  signal: AbortSignal,
  read: (endpoint: string, signal: AbortSignal) => Promise<T>,
  failed: (call: string, failures: readonly EtcdError[]) => EtcdError = allFailed,
): Promise<T> {
  if (endpoints.length === 0) throw new EtcdError(`${call}: there is no endpoint to ask`, 'down');
  const settled = await hedge(endpoints, read, { patienceMs, signal });
  if (settled.kind === 'first') return settled.value;
  const failures = settled.errors.filter((error) => error instanceof EtcdError);
  if (failures.length > 0) throw failed(call, failures);
  throw new EtcdError(`${call}: not asked, the time was up already`, 'down', settled.errors[0]);
}

/** The barrier before a list. Both go to one endpoint: what it has applied by then, its list shows. */
async function settle(calls: Calls, endpoint: string, signal: AbortSignal): Promise<void> {
  // An alarm GET changes nothing, but it is a proposal: it is answered when all that was proposed before it is decided.
  await calls.ask('alarm list', endpoint, signal, (client, options) =>
    client.maintenance.alarm({ action: 'Get' }, options),
  );
}

/** Linearizable: an endpoint that is not in a quorum does not answer. */
export function listMembers(calls: Calls, endpoint: string, signal: AbortSignal): Promise<MemberList> {
  return calls.ask('member list', endpoint, signal, async (client, options) =>
    memberListOf(await client.cluster.memberList({ linearizable: true }, options)),
  );
}

export function readStatus(calls: Calls, endpoint: string, signal: AbortSignal): Promise<EndpointStatus> {
  return calls.ask('status', endpoint, signal, async (client, options) =>
    statusOf(await client.maintenance.status(options)),
  );
}

type Settled<T> =
  | { readonly kind: 'first'; readonly value: T }
  | { readonly kind: 'none'; readonly errors: readonly unknown[] };

/**
 * Tries candidates in turn; each failure, and each `patienceMs` without an answer, starts the next one beside the
 * others. The first success counts, and the rest are told to stop: a hanging candidate costs `patienceMs`, not the
 * whole time. `attempt` must settle soon after its signal aborts.
 */
export async function hedge<C, T>(
  candidates: readonly C[],
  attempt: (candidate: C, signal: AbortSignal) => Promise<T>,
  { patienceMs, signal }: { readonly patienceMs: number; readonly signal: AbortSignal },
): Promise<Settled<T>> {
  const race = new AbortController();
  const giveUp = () => race.abort(signal.reason);
  signal.addEventListener('abort', giveUp, { once: true });
  if (signal.aborted) giveUp();
  const waiting = [...candidates];
  const errors: unknown[] = [];
  let running = 0;
  let patience: NodeJS.Timeout | undefined;

  try {
    return await new Promise((resolve) => {
      const startNext = () => {
        clearTimeout(patience);
        const candidate = race.signal.aborted ? undefined : waiting.shift();
        if (candidate === undefined) {
          if (running === 0) resolve({ kind: 'none', errors });
          return;
        }
        running += 1;
        if (waiting.length > 0) patience = setTimeout(startNext, patienceMs);
        attempt(candidate, race.signal).then(
          (value) => resolve({ kind: 'first', value }),
          (error: unknown) => {
            errors.push(error);
            running -= 1;
            startNext();
          },
        );
      };
      startNext();
    });
  } finally {
    clearTimeout(patience);
    signal.removeEventListener('abort', giveUp);
    race.abort();
  }
}
