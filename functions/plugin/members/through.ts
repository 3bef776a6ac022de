import { hostPort, leadsTo, urlOf } from '../../../manifests/render/hosts.ts';
import { ports } from '../../../manifests/render/names.ts';
import { EtcdError, type EtcdTls } from '../../../reconcile/interfaces/etcd.ts';
import type { EtcdAdmin } from '../../../reconcile/interfaces/etcd-admin.ts';
import { type Asked, type Reach, Refusal } from '../command.ts';
import type { Way, Ways } from './ways.ts';

/**
 * Members are known by their own addresses, as where they are reached, and dialled at ports of this machine. To look
 * only: what would change something is not led anywhere.
 */
export function reachThrough({ reach, kubectl, namespace }: Asked, { ways }: Ways): Reach {
  const wayTo = (address: string) => ways.find((way) => way.address !== undefined && leadsTo(address, way.address));
  const there = (endpoint: string) => {
    const { protocol, port } = new URL(endpoint);
    const way = port === String(ports.client) ? wayTo(endpoint) : undefined;
    return way ? `${protocol}//127.0.0.1:${portOf(way)}` : endpoint;
  };
  return {
    etcd: async (tls) => lookingAt(await reach.etcd(tls && known(tls, ways)), there),
    wire: async (target, signal) => {
      const way = wayTo(urlOf('https', target.host, target.port));
      if (!way) return undefined;
      try {
        using forwarded = await kubectl.forward({ namespace, pod: way.pod, port: target.port }, signal);
        return await reach.wire({ ...target, host: '127.0.0.1', port: forwarded.port }, signal);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        return undefined;
      }
    },
  };
}

function lookingAt(etcd: EtcdAdmin, there: (endpoint: string) => string): EtcdAdmin {
  return {
    ...etcd,
    members: (endpoints, options) => etcd.members(endpoints.map(there), options),
    lastMembers: (endpoints, options) => etcd.lastMembers(endpoints.map(there), options),
    status: (endpoint, options) => etcd.status(there(endpoint), options),
    version: (endpoint, options) => etcd.version(there(endpoint), options),
    hashKv: (endpoint, options) => etcd.hashKv(there(endpoint), options),
    alarms: (endpoints, options) => etcd.alarms(endpoints.map(there), options),
    hasHistory: (endpoints, revision, options) => etcd.hasHistory(endpoints.map(there), revision, options),
    authStatus: (endpoint, options) => etcd.authStatus(there(endpoint), options),
    users: (endpoints, options) => etcd.users(endpoints.map(there), options),
    roles: (endpoints, options) => etcd.roles(endpoints.map(there), options),
    rolesOf: (endpoints, user, options) => etcd.rolesOf(endpoints.map(there), user, options),
    rightsOf: (endpoints, role, options) => etcd.rightsOf(endpoints.map(there), role, options),
    metrics: noWay,
    counters: noWay,
  };
}

async function noWay(endpoint: string): Promise<never> {
  throw new EtcdError(`no way leads to the metrics of ${endpoint}`, 'down');
}

/** The name in a certificate is that of the member, whatever port leads to it. */
function known(tls: EtcdTls, ways: readonly Way[]): EtcdTls {
  const own = (endpoint: string) => {
    const way = ways.find((one) => portOf(one) === new URL(endpoint).port);
    return way?.address === undefined
      ? endpoint
      : `${new URL(endpoint).protocol}//${hostPort(way.address, ports.client)}`;
  };
  return { ...tls, serverName: (endpoint) => tls.serverName(own(endpoint)) };
}

function portOf({ url }: Way): string {
  return new URL(url).port;
}
