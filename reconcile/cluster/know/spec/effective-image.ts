import type { EtcdClusterSpec } from '../../../../manifests/api/etcd-cluster.ts';
import { compareVersions, highestOf, minorOf, parseVersion } from '../../../../manifests/api/version.ts';
import type { PeerView, Slot } from '../observation.ts';
import type { VersionPlan } from '../versions/effective-version.ts';
import { mayHaveRun } from '../versions/versions-run.ts';
import { type Allowing, imageNotAllowed } from './allowed.ts';
import type { Refusal } from './refusal.ts';

/** What the installation leaves of the image that a spec asks for, and of its version. */
export interface ImagePlan {
  readonly value: EtcdClusterSpec['image'];
  readonly plan: VersionPlan;
  readonly refusal?: Refusal;
  /** The image is refused, and no member has another: nothing may be made of it. */
  readonly unfit?: Refusal;
}

/**
 * Of members, and so of those that are still to join: what they have stays. A digest names the bytes of one version, so
 * that stays with it: else members would run the lower version under the name of the higher one.
 */
export function judgeImage(
  spec: EtcdClusterSpec,
  slots: readonly Slot[],
  { plan, allowing }: { readonly plan: VersionPlan; readonly allowing: Allowing },
): ImagePlan {
  const refusal = imageNotAllowed(spec, allowing);
  if (!refusal) return { value: spec.image, plan };
  const kept = keptFor(plan.value, slots);
  if (!kept) return { value: spec.image, plan, refusal, unfit: refusal };
  const { image, version } = kept.inputs;
  if (image?.digest === undefined) return { value: image, plan, refusal };
  const { pending: _, ...held } = plan;
  return { value: image, plan: { ...held, value: version }, refusal };
}

/** The member that has this version; else the one whose version is highest, best of the same minor (I6). */
function keptFor(wanted: string, slots: readonly Slot[]): PeerView | undefined {
  const peers = slots.flatMap(({ peer }) => (peer?.current ? [peer] : []));
  const minor = (version: string) => minorOf(parseVersion(version));
  const same = peers.filter(({ inputs }) => minor(inputs.version) === minor(wanted));
  const [highest] = (same.length > 0 ? same : peers).toSorted((a, b) =>
    compareVersions(parseVersion(b.inputs.version), parseVersion(a.inputs.version)),
  );
  const kept = same.find(({ inputs }) => inputs.version === wanted) ?? highest;
  const ran = highestOf(slots.flatMap(mayHaveRun));
  // A version below that minor would not open those data.
  const opens = !ran || !kept || same.includes(kept) || minor(kept.inputs.version) >= minorOf(ran);
  return opens ? kept : undefined;
}
