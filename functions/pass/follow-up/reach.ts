import { randomBytes } from 'node:crypto';
import type { Library } from '../../../reconcile/cluster/load-ahead.ts';
import type { Kube } from '../../../reconcile/interfaces/kube.ts';
import { egressFrom, nameAllowancesFrom } from '../../environment.ts';
import type { Log } from '../../log.ts';
import type { PassContext } from '../pass-context.ts';

export interface Invocation {
  readonly kube: Kube;
  readonly log: Log;
  readonly holder: PassContext['holder'];
  readonly signal: AbortSignal;
  /** When everything must be over, in milliseconds since the epoch. */
  readonly deadline: number;
}

const libraries = {
  step: () => import('../../../reconcile/cluster/full-look.ts'),
  etcd3: () => import('../../../reconcile/clients/etcd3.ts'),
  x509: () => import('../../../reconcile/clients/x509.ts'),
} satisfies Record<Library, () => Promise<unknown>>;

/** How an invocation reaches what it works on; each client is loaded only when it is needed. */
export function reachOf(invocation: Invocation) {
  return {
    ...invocation,
    nameAllowances: nameAllowancesFrom(process.env),
    egress: egressFrom(process.env),
    // One for each who asks: who asked closes it.
    etcd: async (tls) => (await import('../../../reconcile/clients/etcd.ts')).connectEtcd(tls ? { tls } : {}),
    loadAhead: (library) => {
      libraries[library]().catch(() => undefined);
    },
    wire: async (...what) =>
      (await import('../../../reconcile/clients/served-fingerprint.ts')).servedFingerprint(...what),
    health: async (...what) => (await import('../../../reconcile/clients/member-health.ts')).memberHealth(...what),
    nonce: () => randomBytes(16).toString('hex'),
  } satisfies Partial<PassContext>;
}
