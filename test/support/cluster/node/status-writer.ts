import { type Api, isStatus } from './api.ts';
import type { Log } from './options.ts';
import { corePath, type Pod, type PodStatus } from './wire.ts';

export type StatusWriter = {
  /** Reports this status, soon; of several waiting ones only the last is sent. */
  report(status: PodStatus): void;
  /** What was last reported, or is about to be. */
  readonly latest: PodStatus | undefined;
  /** Resolves when nothing waits to be sent, or the pod is gone. */
  settled(): Promise<void>;
  stop(): void;
};

/**
 * Sends a pod's status, `lagMs` late, until the API server has it, with a growing pause between attempts; at most one
 * at a time.
 */
export function createStatusWriter(api: Api, pod: Pod, log: Log, lagMs = 0): StatusWriter {
  const { namespace, name, uid } = pod.metadata;
  const path = `${corePath(namespace, 'pods', name)}/status`;
  let latest: PodStatus | undefined;
  let sent = '';
  let sending: Promise<void> | undefined;
  let stopped = false;
  let wake = () => {};

  async function send(): Promise<void> {
    try {
      await sendUntilEqual();
    } finally {
      sending = undefined;
    }
  }

  async function sendUntilEqual(): Promise<void> {
    let failures = 0;
    while (!stopped && latest && sent !== JSON.stringify(latest)) {
      if (lagMs > 0 && failures === 0) await rest(lagMs);
      const body = JSON.stringify(latest);
      try {
        // The UID makes this a conflict when the name already belongs to a successor.
        await api.patch(path, 'strategic-merge', { metadata: { uid }, status: forPatch(latest) });
        sent = body;
        failures = 0;
      } catch (error) {
        if (isStatus(error, 404, 409) || (isStatus(error, 422) && /uid/i.test(error.message))) return stop();
        failures++;
        log.warn({ pod: `${namespace}/${name}`, error: String(error) }, 'the status was not accepted, trying again');
        await rest(Math.min(5000, 50 * 2 ** failures));
      }
    }
  }

  function rest(ms: number): Promise<void> {
    return new Promise((resolve) => {
      wake = resolve;
      setTimeout(resolve, ms);
    });
  }

  function stop(): void {
    stopped = true;
    wake();
  }

  return {
    report: (status) => {
      latest = status;
      if (stopped) return;
      sending ??= send();
    },
    get latest() {
      return latest;
    },
    settled: async () => {
      while (sending) await sending;
    },
    stop,
  };
}

/** Addresses are merged by address: without this, a pod would keep those it had before its node came back. */
function forPatch(status: PodStatus): unknown {
  const { podIPs, hostIPs, ...rest } = status;
  const replaced = (list: { ip?: string }[] | undefined) => list && [{ $patch: 'replace' }, ...list];
  return {
    ...rest,
    ...(podIPs && { podIPs: replaced(podIPs) }),
    ...(hostIPs && { hostIPs: replaced(hostIPs) }),
  };
}
