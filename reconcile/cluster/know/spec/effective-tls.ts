import type { EtcdClusterSpec } from '../../../../manifests/api/etcd-cluster.ts';
import { certManagerDefaults, tlsDefaults } from '../../../../manifests/api/spec-defaults.ts';
import type { TlsMode } from '../../../../manifests/api/tls-settings.ts';
import type { VolumeRecord } from '../../../../manifests/render/volume-record.ts';
import { mayBeTold, namesRefusal } from '../certificates/take-names.ts';
import { bornMode, namesHeld } from '../certificates/wanted.ts';
import type { Life } from '../life.ts';
import type { Observation, Shared } from '../observation.ts';
import type { Inputs } from './inputs.ts';
import type { Judged, Refusal } from './refusal.ts';

type Seen = Pick<Observation, 'cluster' | 'slots' | 'certificates'> & { readonly shared: Pick<Shared, 'revocations'> };

/**
 * Peer URLs keep their scheme for life, and members that ask for names refuse those whose leaves have none: both are as
 * the volumes keep them. Where the spec has another, members keep all that they have of TLS, but for what the spec says
 * and names make safe. A cluster without names gets them when a person approves it.
 */
export function judgeTls(seen: Seen, life: Life): Judged<Inputs['tls']> {
  const { cluster, slots } = seen;
  const tls = withoutMissingList(seen, life);
  const mode = tls?.mode ?? tlsDefaults.mode;
  const pending = namesRefusal(seen, life);
  if (pending) return { value: withoutNames({ ...tls, mode }), refusal: pending };
  const held = namesHeld(cluster, slots);
  const isTold = held !== undefined && mayBeTold(seen);
  const names = isTold ? { allowedNames: held } : {};
  const born = bornMode(slots) ?? mode;
  const refusal = otherThanBorn({ mode: born, held }, { ...tls, mode }, life);
  if (!refusal) return { value: held && !isTold ? withoutNames({ ...tls, mode }) : { ...tls, mode, ...names } };
  // The Secrets of its mode are those that the members name, not those of the spec.
  const { allowedNames: _, ...kept } = slots.find(({ peer }) => peer?.current)?.peer?.inputs.tls ?? {};
  const { revokedClientSerials, peerSourceAddress } = tls ?? {};
  return {
    value: {
      // One record that was written by hand takes no TLS from the others.
      mode: born,
      ...kept,
      ...names,
      ...(revokedClientSerials && { revokedClientSerials }),
      ...(isTold && peerSourceAddress && { peerSourceAddress }),
    },
    refusal,
  };
}

/** Members are told of a list when it is there, or is made with them: their pods would not start without it. */
function withoutMissingList({ cluster, slots, shared }: Seen, life: Life): EtcdClusterSpec['tls'] {
  const { revokedClientSerials, ...tls } = cluster.spec.tls ?? {};
  const isRead = slots.some(({ peer }) => peer?.current && peer.inputs.tls.revocations !== undefined);
  const isThere = ['present', 'drifted'].includes(shared.revocations.state);
  if (!revokedClientSerials || isRead || isThere || life.stage === 'unborn') return cluster.spec.tls;
  return tls;
}

/** As long as members do not ask for names; with these alone any address would be safe. */
function withoutNames<T extends NonNullable<EtcdClusterSpec['tls']>>({
  certManager,
  ...tls
}: T): Omit<T, 'certManager'> {
  if (certManager?.peerIssuerRef !== undefined) return tls;
  const { peerSourceAddress: _, ...rest } = tls;
  return rest as typeof tls;
}

function otherThanBorn(
  born: { readonly mode: TlsMode; readonly held: VolumeRecord['allowedNames'] },
  { mode, certManager }: NonNullable<EtcdClusterSpec['tls']> & Pick<Inputs['tls'], 'mode'>,
  life: Life,
): Refusal | undefined {
  const isYoung = life.stage === 'birth';
  const cure = (field: string, had: string, wanted: string) =>
    isYoung
      ? `set ${field} to ${had}; or, to start anew with no data, delete the EtcdCluster with its PersistentVolumeClaims, and create it again with ${wanted}`
      : `set ${field} to ${had}; to have ${wanted}, restore a backup to a cluster of another name`;
  if (born.mode !== mode) {
    const field = 'spec.tls.mode';
    return {
      reason: 'TlsModeRefused',
      message: `the cluster was created with TLS mode ${born.mode}, and its members' peer URLs keep it for life`,
      cure: cure(field, born.mode, mode),
      field,
    };
  }
  const wanted = certManager?.allowedNames ?? certManagerDefaults.allowedNames;
  if (mode !== 'CertManager' || !born.held || wanted === 'Own') return undefined;
  const field = 'spec.tls.certManager.allowedNames';
  return {
    reason: 'TlsModeRefused',
    message: `members of the cluster let in names of its own (tls.certManager.allowedNames Own), and keep to that for life`,
    cure: cure(field, 'Own', wanted),
    field,
  };
}
