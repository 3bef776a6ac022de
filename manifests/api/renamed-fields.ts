import { networkStores } from '../stores/stores.ts';
import type { Path } from './problem.ts';

/** Fields that were renamed, by the last two words of their paths. The old name is refused, and the new one told. */
const renamed: Readonly<Record<string, string>> = {
  'defragmentation.maxUsedRatio': 'defragmentation.maxUsedPercent, a whole number of percent: 50 for 0.5',
  'tls.authorityLifetime': 'tls.managed.authorityLifetime',
  'tls.issuerRef': 'tls.certManager.issuerRef',
  'tls.peerIssuerRef': 'tls.certManager.peerIssuerRef',
  'tls.peerSecretName': 'tls.provided.peerSecretName',
  'tls.serverSecretName': 'tls.provided.serverSecretName',
  'tls.clientSecretName': 'tls.provided.clientSecretName',
  'forge.apiUrl': 'forge.apiURL',
  'checks.comment': 'checks.comments: Enabled for true, Disabled for false',
  'retention.dryRun': 'retention.mode: DryRun for true, Delete for false',
  ...Object.fromEntries(
    networkStores.flatMap(({ field, renamed: former = {} }) =>
      Object.entries(former).map(([name, now]) => [`${field}.${name}`, `${field}.${now}`]),
    ),
  ),
};

/** Ends a sentence about an unknown field; `undefined` where no field ever had this name. */
export function nameNow(path: Path): string | undefined {
  const before = path.slice(-2).join('.');
  return Object.hasOwn(renamed, before) ? `: its name is now ${renamed[before]}` : undefined;
}
