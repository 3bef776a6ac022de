import type { Pod } from './wire.ts';

export const clusterDomain = 'cluster.local';

/** The /etc/hosts that kubelet writes, with the pod's own address and its aliases. */
export function hostsFile(pod: Pod, ips: readonly string[], hostname: string): string {
  const { subdomain, hostAliases = [] } = pod.spec;
  const full = subdomain ? `${hostname}.${subdomain}.${pod.metadata.namespace}.svc.${clusterDomain}\t` : '';
  return [
    '127.0.0.1\tlocalhost',
    '::1\tlocalhost ip6-localhost ip6-loopback',
    ...ips.map((ip) => `${ip}\t${full}${hostname}`),
    ...hostAliases.map((alias) => `${alias.ip}\t${(alias.hostnames ?? []).join('\t')}`),
    '',
  ].join('\n');
}

/** dnsPolicy ClusterFirst, which all policies but None come down to here: there is no other resolver to hand. */
export function resolvConf(pod: Pod, nameserver: string): string {
  const { namespace } = pod.metadata;
  const own = pod.spec.dnsConfig;
  const cluster = pod.spec.dnsPolicy !== 'None';
  const svc = `svc.${clusterDomain}`;
  const nameservers = [...(cluster ? [nameserver] : []), ...(own?.nameservers ?? [])];
  const searches = [...(cluster ? [`${namespace}.${svc}`, svc, clusterDomain] : []), ...(own?.searches ?? [])];
  const options = (own?.options ?? []).map(({ name, value }) => (value ? `${name}:${value}` : `${name}`));
  return [
    ...nameservers.map((address) => `nameserver ${address}`),
    `search ${searches.join(' ')}`,
    `options ${[...(cluster ? ['ndots:5'] : []), ...options].join(' ')}`,
    '',
  ].join('\n');
}
