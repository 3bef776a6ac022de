import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import { printable } from '../../manifests/printable.ts';
import { kubectlRatchet } from '../../manifests/render/kubectl.ts';
import { keyOf } from '../../reconcile/fleet/names.ts';
import { type Concern, clusterConcerns, fleetConcerns } from '../page/attention.ts';
import { fleetState } from '../page/state.ts';
import { coloured, lineWidth } from './table.ts';
import { type General, toldLines } from './words.ts';
import { wrapped } from './wrap.ts';

/** What a person has to see to, and where all of it is told. */
export interface Problem extends Concern {
  /** Like `EtcdFleet etcd-ratchet/production`; absent: the installation. */
  readonly about?: string;
  /** A command. */
  readonly more?: string;
}

/** All that needs a person: the installation's problem first, then fleets, then clusters, as listed. */
export function problemsAmong(
  { fleets, clusters }: { readonly fleets: readonly EtcdFleet[]; readonly clusters: readonly EtcdCluster[] },
  installation: Concern | undefined,
  now: Date,
): readonly Problem[] {
  const isAlone = ({ tone, reason }: Concern) => tone === 'bad' && !(installation && reason === installation.reason);
  const of = (kind: string, object: EtcdFleet | EtcdCluster, concerns: readonly Concern[]) =>
    concerns.filter(isAlone).map((concern) => ({
      ...concern,
      about: `${kind} ${keyOf(object)}`,
      more: kubectlRatchet(
        object.metadata.namespace ?? 'default',
        `why ${kind === 'EtcdCluster' ? '' : 'fleet/'}${object.metadata.name}`,
      ),
    }));
  const ofClusters = clusters.flatMap((cluster) => of('EtcdCluster', cluster, clusterConcerns(cluster)));
  const ofFleets = fleets.flatMap((fleet) => of('EtcdFleet', fleet, fleetConcerns(fleet, now)));
  // A stalled cluster speaks for itself, where it is seen.
  const unseen =
    ofClusters.length > 0 ? [] : fleets.flatMap((fleet) => of('EtcdFleet', fleet, stalledElsewhere(fleet)));
  return [...(installation ? [installation] : []), ...ofFleets, ...unseen, ...ofClusters];
}

function stalledElsewhere(fleet: EtcdFleet): readonly Concern[] {
  const { tone, reason, message } = fleetState(fleet);
  return tone === 'bad' && reason === 'ClusterStalled' ? [{ tone, reason, message }] : [];
}

/** The whole first one, and how many others there are; '' where none needs a person. */
export function firstProblemText([first, ...others]: readonly Problem[], colours: boolean): string {
  if (!first) return '';
  const { about, more } = first;
  const all = [
    ...(about === undefined ? [] : [`${about} needs you`]),
    ...concernLines(first, colours),
    ...(more === undefined ? [] : [`  more:  ${more}`]),
    ...(others.length > 0 ? [`  and ${others.length} more of what needs you`] : []),
  ];
  return all.map((line) => `${line}\n`).join('');
}

/** What is, what it means, what to do and where to read on, in lines that fit. */
export function concernLines(
  { tone, reason, message }: Concern,
  colours: boolean,
  general?: General,
): readonly string[] {
  const [what = '', ...lines] = toldLines(reason, message, general).map(printable);
  const [begun = '', ...rest] = wrapped(`${reason}: ${what}`, lineWidth);
  const first = `${coloured({ tone, text: reason }, colours)}${begun.slice(reason.length)}`;
  return [first, ...rest.map((line) => `  ${line}`), ...lines.flatMap(shownLines)];
}

/** A command, a document or an address is to be copied: it stands by itself, and is not broken. */
export function shownLines(line: string): readonly string[] {
  return parted(line).map((one, at) => `${' '.repeat(at === 0 ? 2 : 9)}${one}`);
}

function parted(line: string): readonly string[] {
  if (line.startsWith('see: ')) return [line];
  const [prose = '', ...copied] = line.split(/(?<=: )(?=kubectl |\{")/);
  const isCommand = copied.length === 0 && /^(do|or): +kubectl /.test(line);
  return isCommand ? [line] : [...prosed(prose), ...copied.flatMap(copiedLines)];
}

/** A document, and what is said after it. */
function copiedLines(text: string): readonly string[] {
  const [copied = '', ...said] = text.split(/(?<=\})\. /);
  return [copied.trim(), ...said.flatMap(prosed)];
}

function prosed(text: string): readonly string[] {
  return wrapped(text.trimEnd(), lineWidth - 9);
}
