import type { ApiServer } from './api-server.ts';

interface Quota {
  readonly spec: { readonly hard: Readonly<Record<string, string>> };
}

/** What the controller of quotas would note, which does not run here: nothing is used yet. */
export async function noteQuota({ kubectl }: Pick<ApiServer, 'kubectl'>, namespace: string, name: string) {
  const quota = ['-n', namespace, 'resourcequota', name];
  const { hard } = (JSON.parse(await kubectl(['get', ...quota, '-o', 'json'])) as Quota).spec;
  const used = Object.fromEntries(Object.keys(hard).map((resource) => [resource, '0']));
  const status = JSON.stringify({ status: { hard, used } });
  await kubectl(['patch', ...quota, '--subresource=status', '--type=merge', '-p', status]);
}
