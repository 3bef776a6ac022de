import { type HandlerTarget, runHandler } from './handlers.ts';
import type { Probe } from './wire.ts';

export type ProbeKind = 'startup' | 'readiness' | 'liveness';

export type ProbeEvents = {
  /** The verdict changed: enough successes, or enough failures, in a row. */
  verdict(kind: ProbeKind, ok: boolean): void;
  /** Every single failure, for the events that people read. */
  failed(kind: ProbeKind, message: string): void;
};

export type Prober = {
  /** Probes readiness at once, out of turn, as kubelet does whenever it looks at a pod that is not ready. */
  hurry(): void;
  /** A pod that is being deleted is no longer checked for being alive. */
  onlyReadiness(): void;
  stop(): void;
};

/**
 * Runs the probes of one running container until stopped. Liveness and readiness begin when the startup probe, if there
 * is one, has succeeded; each begins at once, then follows its period (kubelet: pkg/kubelet/prober/worker.go).
 */
export function startProbes(target: HandlerTarget, events: ProbeEvents): Prober {
  const { startupProbe, readinessProbe, livenessProbe } = target.container;
  const running = new Map<ProbeKind, Loop>();

  const begin = (kind: ProbeKind, probe: Probe | undefined) => {
    if (probe) running.set(kind, probeLoop(kind, probe, target, { ...events, verdict }));
  };
  function verdict(kind: ProbeKind, ok: boolean): void {
    if (kind === 'startup' && ok) {
      running.get('startup')?.stop();
      beginOthers();
    }
    events.verdict(kind, ok);
  }
  function beginOthers(): void {
    begin('readiness', readinessProbe);
    begin('liveness', livenessProbe);
  }

  if (startupProbe) begin('startup', startupProbe);
  else beginOthers();
  return {
    hurry: () => running.get('readiness')?.hurry(),
    onlyReadiness: () => {
      running.get('startup')?.stop();
      running.get('liveness')?.stop();
    },
    stop: () => {
      for (const loop of running.values()) loop.stop();
    },
  };
}

type Loop = { hurry(): void; stop(): void };

function probeLoop(kind: ProbeKind, probe: Probe, target: HandlerTarget, events: ProbeEvents): Loop {
  const {
    initialDelaySeconds = 0,
    periodSeconds = 10,
    timeoutSeconds = 1,
    successThreshold = 1,
    failureThreshold = 3,
  } = probe;
  const startedAt = Date.now();
  let streak = { ok: false, length: 0 };
  let stopped = false;
  let busy = false;
  let settled: boolean | undefined;

  async function once(): Promise<void> {
    if (busy || stopped || Date.now() - startedAt < initialDelaySeconds * 1000) return;
    busy = true;
    const outcome = await runHandler(probe, target, timeoutSeconds * 1000);
    busy = false;
    if (stopped) return;
    streak = { ok: outcome.ok, length: streak.ok === outcome.ok ? streak.length + 1 : 1 };
    if (!outcome.ok) events.failed(kind, outcome.message);
    const enough = streak.length >= (outcome.ok ? successThreshold : failureThreshold);
    // A container that stays dead is reported again each time: the last kill may have been refused or forgotten.
    if (!enough || (settled === outcome.ok && kind === 'readiness')) return;
    if (settled === outcome.ok && outcome.ok) return;
    settled = outcome.ok;
    events.verdict(kind, outcome.ok);
  }

  let ticker: NodeJS.Timeout | undefined;
  const first = setTimeout(() => {
    void once();
    ticker = setInterval(() => void once(), periodSeconds * 1000);
  }, initialDelaySeconds * 1000);
  return {
    hurry: () => {
      if (settled !== true) void once();
    },
    stop: () => {
      stopped = true;
      clearTimeout(first);
      clearInterval(ticker);
    },
  };
}
