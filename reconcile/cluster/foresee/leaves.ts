import type { TlsMode } from '../../../manifests/api/tls-settings.ts';
import { issuedSecretName, type LeafPlan } from '../../../manifests/render/certificate-names.ts';
import { fatal } from '../../x509/defect.ts';
import { defectsOf } from '../../x509/judge.ts';
import { type NamesAllowed, sourceNameOf, tlsModeOf, wantedLeaves } from '../know/certificates/wanted.ts';
import type { IssuedView, LeafView, Observation, ReadCertificates } from '../know/observation.ts';

type Place = Pick<Observation, 'cluster' | 'slots' | 'certificates' | 'at' | 'nameAllowances'>;

/** The leaves that are looked at, once peers have come or gone: what is not there yet is missing. */
export function withLeavesOf<T extends Place>(observation: T): T {
  const { certificates, cluster, slots, nameAllowances } = observation;
  if (certificates.kind !== 'read') return observation;
  const mode = tlsModeOf(cluster, slots);
  const plans = wantedLeaves(cluster, slots, mode, namesAllowedIn(certificates, nameAllowances));
  const isSame =
    plans.length === certificates.leaves.length &&
    plans.every(({ secretName }, index) => certificates.leaves[index]?.plan.secretName === secretName);
  if (isSame) return observation;
  const leaves = plans.map(
    (plan) =>
      certificates.leaves.find((leaf) => leaf.plan.secretName === plan.secretName) ??
      missing(plan, mode, observation, certificates),
  );
  return { ...observation, certificates: { ...certificates, leaves } };
}

/** As the Certificates of these leaves ask by now. */
export function namesAllowedIn({ leaves }: ReadCertificates, allowances: Place['nameAllowances']): NamesAllowed {
  return {
    allowances,
    asked: (secretName) => {
      const found = leaves.find(({ plan }) => plan.secretName === secretName)?.issued?.certificate;
      return found?.state === 'ours' ? found.asked : undefined;
    },
  };
}

function missing(plan: LeafPlan, mode: TlsMode, observation: Place, read: ReadCertificates): LeafView {
  const issued =
    mode === 'CertManager'
      ? toBeRequested(plan)
      : mode === 'Provided'
        ? asProvidedForOthers(plan, observation, read)
        : undefined;
  return { plan, state: 'missing', defects: [notThere(plan.secretName)], ...(issued && { issued }) };
}

function toBeRequested(plan: LeafPlan): IssuedView {
  const name = issuedSecretName(plan);
  return { name, certificate: { state: 'missing' }, secret: 'missing', owned: false, defects: [notThere(name)] };
}

/** One Secret serves all members: whether it is good for this one, too, its names say. */
function asProvidedForOthers(
  plan: LeafPlan,
  { cluster, at }: Place,
  { leaves, forMembersToCome = [] }: ReadCertificates,
): IssuedView | undefined {
  const name = sourceNameOf(cluster, 'Provided', plan);
  if (name === undefined) return undefined;
  const views = [...leaves.flatMap(({ issued }) => issued ?? []), ...forMembersToCome];
  const facts = views.find((issued) => issued.name === name)?.facts;
  const defects = facts ? defectsOf({ facts, plan: { ...plan, secretName: name }, now: at }) : [notThere(name)];
  return { name, secret: facts ? 'ours' : 'missing', owned: true, defects, ...(facts && { facts }) };
}

function notThere(secretName: string) {
  const cure = 'create it with the keys tls.crt, tls.key and ca.crt';
  return fatal({ reason: 'SecretMissing', secretName, problem: 'does not exist', cure });
}
