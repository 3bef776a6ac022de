import { setTimeout as pause } from 'node:timers/promises';
import { type Kube, KubeError, type Resource } from '../../../reconcile/interfaces/kube.ts';

/** The loop of a controller, as the ones of Kubernetes have it: whatever changes, look at everything, put it right. */
export interface Controller {
  /** Looks at everything now, or as soon as it is done with what it is at. */
  wake(): void;
  /** Resolves once `signal` aborted; rejects, and aborts nothing itself, with what can't be got over. */
  readonly ended: Promise<void>;
}

export interface ControllerOptions {
  readonly kube: Kube;
  readonly namespace: string;
  /** A change of any of these, whatever it is, wakes it. */
  readonly watched: readonly Resource[];
  /** Puts everything right; when it wants to look again though nothing changed (milliseconds since 1970), if ever. */
  readonly attend: () => Promise<number>;
  readonly signal: AbortSignal;
}

/** Failures in a row. */
const patience = 50;
/** A timer of more than 24 days would go off at once. */
const longestTimer = 3600e3;

export function startController({ kube, namespace, watched, attend, signal }: ControllerOptions): Controller {
  let woken = Promise.withResolvers<void>();
  const wake = () => woken.resolve();
  signal.addEventListener('abort', wake);

  async function attendOnce(): Promise<void> {
    woken = Promise.withResolvers();
    const due = await attend();
    const timer = setTimeout(wake, Math.min(Math.max(0, due - Date.now()), longestTimer));
    if (!signal.aborted) await woken.promise;
    clearTimeout(timer);
  }

  async function follow(resource: Resource): Promise<void> {
    const { resourceVersion } = await kube.list(resource, { namespace, signal });
    wake();
    for await (const _ of kube.watch(resource, { namespace, resourceVersion, signal })) wake();
  }

  const steps = [attendOnce, ...watched.map((resource) => () => follow(resource))];
  const ended = Promise.all(steps.map((step) => persistently(step, signal))).then(() => {});
  return { wake, ended };
}

/** Again and again until the end. What passes by itself is tried again, so often; anything else ends it. */
async function persistently(step: () => Promise<void>, signal: AbortSignal): Promise<void> {
  for (let failures = 0; !signal.aborted; ) {
    try {
      await step();
      failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof KubeError) || !passes(error) || ++failures > patience) throw error;
      await pause(100, undefined, { signal }).catch(() => {});
    }
  }
}

/** What was looked at may be gone by the time that it is written: the next look does not find it. */
function passes(error: KubeError): boolean {
  return error.class !== 'terminal' || error.reason === 'NotFound';
}
