import type { Container, Probe } from '../kube-types.ts';
import { ports } from './names.ts';

/** The three probes of a member, on the metrics port, which needs no client certificate. */
export function probes(): Pick<Container, 'startupProbe' | 'readinessProbe' | 'livenessProbe'> {
  return {
    // Every second, because birth and every roll wait for it; ten minutes, because a large database is checked before
    // etcd answers anything.
    startupProbe: probe('/livez', { periodSeconds: 1, timeoutSeconds: 5, failureThreshold: 600 }),
    // A linearizable read, and not a learner. etcd itself gives up after 7 s; a longer timeout lets its own answer be
    // seen.
    readinessProbe: probe('/readyz', { periodSeconds: 2, timeoutSeconds: 8, failureThreshold: 2 }),
    // Patient: a restart cures no slow disk and no lost quorum, and `/livez` asks for neither.
    livenessProbe: probe('/livez', { periodSeconds: 10, timeoutSeconds: 15, failureThreshold: 6 }),
  };
}

/** Of a member that forgets all others: an earlier CORRUPT alarm must not block it; it is disarmed when it serves. */
export function isolatedReadiness(): Probe {
  return probe('/readyz?exclude=data_corruption', { periodSeconds: 2, timeoutSeconds: 8, failureThreshold: 2 });
}

function probe(path: string, times: Pick<Probe, 'periodSeconds' | 'timeoutSeconds' | 'failureThreshold'>): Probe {
  return { httpGet: { path, port: ports.metrics, scheme: 'HTTP' }, ...times };
}
