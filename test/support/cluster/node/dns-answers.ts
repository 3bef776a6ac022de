import { clusterDomain } from './pod-files.ts';
import type { EndpointSlice, Service } from './wire.ts';

export type DnsRecords = {
  service(namespace: string, name: string): Service | undefined;
  slices(namespace: string, service: string): readonly EndpointSlice[];
  /** Names outside the cluster that were given at start. */
  readonly hosts: Readonly<Record<string, string>>;
};

export type DnsAnswer =
  | { readonly kind: 'addresses'; readonly addresses: readonly string[] }
  | { readonly kind: 'servers'; readonly servers: readonly { target: string; port: number }[] }
  | { readonly kind: 'alias'; readonly target: string }
  | { readonly kind: 'no-name' };

/** What a name stands for, now. */
export type LookUp = (name: string) => DnsAnswer;

const noName: DnsAnswer = { kind: 'no-name' };

/** What a name stands for (github.com/kubernetes/dns, specification 1.1), whatever type of record is asked for. */
export function lookUp(records: DnsRecords, question: string): DnsAnswer {
  const name = question.toLowerCase().replace(/\.$/, '');
  const host = records.hosts[name];
  if (host !== undefined) return { kind: 'addresses', addresses: [host] };
  const zone = `.${clusterDomain}`;
  if (!name.endsWith(zone)) return noName;
  const labels = name.slice(0, -zone.length).split('.').reverse();
  const [kind, namespace, ...rest] = labels;
  if (kind === 'pod') return podAddress(rest);
  if (kind !== 'svc') return noName;
  // A parent of names that exist is a name without records.
  if (namespace === undefined || rest.length === 0) return { kind: 'addresses', addresses: [] };
  return serviceAnswer(records, namespace, rest);
}

function podAddress([dashed]: readonly string[]): DnsAnswer {
  const ip = dashed?.replaceAll('-', '.') ?? '';
  return /^\d+\.\d+\.\d+\.\d+$/.test(ip) ? { kind: 'addresses', addresses: [ip] } : noName;
}

function serviceAnswer(records: DnsRecords, namespace: string, [name = '', ...inner]: readonly string[]): DnsAnswer {
  const service = records.service(namespace, name);
  if (!service) return noName;
  if (service.spec?.type === 'ExternalName') {
    return inner.length === 0 ? { kind: 'alias', target: service.spec.externalName ?? '' } : noName;
  }
  const headless = service.spec?.clusterIP === 'None';
  const endpoints = headless ? readyEndpoints(records.slices(namespace, name)) : [];
  const [first, second] = inner;
  if (first === undefined) {
    return { kind: 'addresses', addresses: headless ? endpoints.map(({ ip }) => ip) : clusterIPs(service) };
  }
  if (first.startsWith('_'))
    return servers(records, service, `${name}.${namespace}.svc.${clusterDomain}`, first, second);
  const named = second === undefined ? endpoints.filter(({ label }) => label === first) : [];
  return named.length > 0 ? { kind: 'addresses', addresses: named.map(({ ip }) => ip) } : noName;
}

/** One of each of its families; the second is told in this list only. */
function clusterIPs({ spec }: Service): readonly string[] {
  return spec?.clusterIPs ?? (spec?.clusterIP === undefined ? [] : [spec.clusterIP]);
}

/** `_port._protocol.service`: the labels come innermost last, so the protocol is first here. */
function servers(records: DnsRecords, service: Service, domain: string, protocol: string, port = ''): DnsAnswer {
  const { namespace, name } = service.metadata;
  const matches = (candidate: { name?: string; protocol?: string }) =>
    `_${candidate.name ?? ''}` === port && `_${(candidate.protocol ?? 'TCP').toLowerCase()}` === protocol;
  if (service.spec?.clusterIP !== 'None') {
    const found = service.spec?.ports?.find(matches);
    return found ? { kind: 'servers', servers: [{ target: domain, port: found.port }] } : noName;
  }
  const found = records.slices(namespace, name).flatMap((slice) => {
    const number = slice.ports?.find(matches)?.port;
    if (number === undefined) return [];
    return readyEndpoints([slice]).map(({ label }) => ({ target: `${label}.${domain}`, port: number }));
  });
  return found.length > 0 ? { kind: 'servers', servers: found } : noName;
}

/**
 * The slices of a Service that publishes addresses that are not ready have them as ready: its controller sees to that.
 */
function readyEndpoints(slices: readonly EndpointSlice[]): { label: string; ip: string }[] {
  const endpoints = slices.flatMap((slice) => slice.endpoints ?? []);
  const ready = endpoints.filter(({ conditions }) => conditions?.ready ?? true);
  const all = ready.flatMap(({ addresses, hostname }) =>
    addresses.map((ip) => ({ label: hostname ?? ip.replaceAll(/[.:]/g, '-'), ip })),
  );
  return [...new Map(all.map((endpoint) => [endpoint.ip, endpoint])).values()];
}
