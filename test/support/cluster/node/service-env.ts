import { urlOf } from '../../../../manifests/render/hosts.ts';
import type { Service } from './wire.ts';

/**
 * The variables by which a container finds Services without DNS (kubelet: pkg/kubelet/envvars). The API server's
 * Service is always given, those of the pod's own namespace when it wants service links.
 */
export function serviceEnv(services: readonly Service[], namespace: string, links: boolean): Map<string, string> {
  const env = new Map<string, string>();
  const wanted = services.filter(({ metadata }) => {
    const isApiServer = metadata.namespace === 'default' && metadata.name === 'kubernetes';
    return isApiServer || (links && metadata.namespace === namespace);
  });
  for (const service of wanted) addService(env, service);
  return env;
}

function addService(env: Map<string, string>, { metadata, spec }: Service): void {
  const address = spec?.clusterIP;
  const [first] = spec?.ports ?? [];
  if (address === undefined || address === 'None' || address === '' || !first) return;
  const prefix = variable(metadata.name);
  env.set(`${prefix}_SERVICE_HOST`, address);
  env.set(`${prefix}_SERVICE_PORT`, String(first.port));
  env.set(`${prefix}_PORT`, urlOf((first.protocol ?? 'TCP').toLowerCase(), address, first.port));
  for (const { name, port, protocol = 'TCP' } of spec?.ports ?? []) {
    if (name) env.set(`${prefix}_SERVICE_PORT_${variable(name)}`, String(port));
    const link = `${prefix}_PORT_${port}_${protocol}`;
    env.set(link, urlOf(protocol.toLowerCase(), address, port));
    env.set(`${link}_PROTO`, protocol.toLowerCase());
    env.set(`${link}_PORT`, String(port));
    env.set(`${link}_ADDR`, address);
  }
}

function variable(name: string): string {
  return name.toUpperCase().replaceAll('-', '_');
}
