import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';

/** What this process is in Kubernetes: the only place that reads the environment, apart from where the API server is. */
export interface Identity {
  /** For claims: who acts. */
  readonly holder: { readonly pod: string; readonly uid: string };
  /** Whose template follow-up Jobs are made from; absent outside of a CronJob. */
  readonly cronJob?: { readonly namespace: string; readonly name: string };
}

export function identityFrom(env: NodeJS.ProcessEnv): Identity {
  const { POD_NAME: pod, POD_UID: uid, POD_NAMESPACE: namespace, CRONJOB_NAME: cronJob } = env;
  return {
    // Outside of a cluster every process is a holder of its own, even on one machine.
    holder: namespace && pod && uid ? { pod: `${namespace}/${pod}`, uid } : { pod: hostname(), uid: randomUUID() },
    ...(namespace && cronJob && { cronJob: { namespace, name: cronJob } }),
  };
}
