import type { Block } from './blocks.ts';
import { commandsAt } from './places.ts';

/**
 * Tests that type commands of pages literally, and which. Beside these, one test types every tutorial (pages.ts), and
 * stories type the runbooks (test/e2e/support/runbooks). What stands in none of them is in form-only.ts.
 */
export const typedBy = {
  'e2e/tls-provided': [
    'docs/how-to/tls.md',
    'docs/how-to/tls.md#managed',
    'docs/how-to/tls.md#revoke-a-clients-certificate',
    'docs/how-to/tls.md#by-cert-manager',
    'docs/how-to/tls.md#provided-by-you',
  ],
  'e2e/migrate': [
    'docs/how-to/etcdctl.md',
    'docs/how-to/migrate.md#by-a-backup-that-etcd-ratchet-takes',
    'docs/how-to/migrate.md#by-a-file-that-is-there',
    'docs/how-to/migrate.md#compare-then-move-the-clients',
  ],
  'e2e/uninstall': [
    'docs/how-to/uninstall.md#stop-it-and-keep-everything',
    'docs/how-to/uninstall.md#remove-it-and-keep-the-members',
    'docs/how-to/uninstall.md#remove-everything-data-included',
    'docs/how-to/helm.md:1',
  ],
  'e2e/update': [
    'docs/releases/v0.1.0.md#update-an-earlier-build:1',
    'docs/releases/v0.1.0.md#update-an-earlier-build:2',
  ],
  'e2e/halts': ['docs/how-to/stages.md#when-a-rollout-halts'],
  'e2e/shards': ['docs/how-to/shards.md#when-one-fails'],
  'e2e/stages': ['docs/how-to/stages.md#go-on-all-the-same'],
  'e2e/prune': ['docs/runbooks/fleet.md', 'docs/runbooks/fleet.md#several-objects-are-to-be-deleted'],
  'e2e/tutorials': [
    'docs/explanation/the-seal.md#how-it-works',
    'docs/how-to/backups.md',
    'docs/how-to/kubectl-plugin.md#use-it',
    'docs/how-to/plans.md',
    'docs/how-to/plans.md#by-hand',
    'docs/how-to/pull-requests.md',
    'docs/how-to/space.md#ask-for-it',
    'docs/how-to/external-clients.md#try-it',
  ],
  'e2e/readme': [
    'README.md#try-it',
    'README.md#install',
    'README.md#first-cluster',
    'README.md#back-up-restore',
    'README.md#when-it-needs-you',
  ],
  'e2e/external-clients': ['docs/how-to/external-clients.md#names'],
  'e2e/recipes': [
    'docs/how-to/recipes.md',
    'docs/how-to/recipes.md#kamaji',
    'docs/how-to/recipes.md#hypershift:1',
    'docs/how-to/recipes.md#hypershift:2',
  ],
  'e2e/rollback': ['docs/how-to/roll-back.md'],
  'e2e/adopt': [
    'docs/how-to/adopt.md#1-look:1',
    'docs/how-to/adopt.md#1-look:3',
    'docs/how-to/adopt.md#3-move-the-clients-stop-what-manages-the-old-members-approve',
  ],
  'e2e/support/runbooks/members.ts': ['docs/how-to/scale-and-heal.md#let-a-person-decide'],
  'integration/manifests/chart-release': [
    'docs/how-to/helm.md:2',
    'docs/how-to/helm.md:3',
    'docs/how-to/helm.md#from-kustomize-to-helm',
    'docs/how-to/monitoring.md#in-ten-minutes-with-the-prometheus-operator:2',
    'docs/how-to/air-gapped.md#2-install-from-the-mirror:2',
  ],
  'integration/manifests/own-account': [
    'docs/how-to/install.md#what-its-own-account-may-do:1',
    'docs/how-to/install.md#what-its-own-account-may-do:2',
  ],
  'integration/manifests/own-account-shapes': ['docs/how-to/node-reboots.md#how-the-host-is-told'],
  'integration/manifests/webhook-jobs-namespaced': [
    'docs/how-to/webhooks.md#in-one-namespace-only:1',
    'docs/how-to/webhooks.md#in-one-namespace-only:2',
  ],
  'integration/manifests/release': [
    'docs/releases/README.md#update-an-installation',
    'docs/releases/v0.1.0.md#install',
  ],
  'integration/manifests/plugin-package': ['docs/how-to/kubectl-plugin.md#install-it:3'],
  'integration/docs/typed': [
    'README.md#install',
    'docs/how-to/install.md',
    'docs/how-to/fleets.md',
    'docs/how-to/revisions.md',
    'docs/how-to/tls.md#renew-and-rotate',
    'docs/how-to/webhooks.md',
    'docs/how-to/air-gapped.md#1-mirror-the-images',
    'docs/how-to/air-gapped.md#2-install-from-the-mirror:1',
    'docs/how-to/knative.md#install-it',
    'docs/how-to/knative.md#a-broker-that-is-there-already',
    'docs/how-to/knative.md#the-address-of-the-webhooks',
    'docs/how-to/knative.md#when-nothing-happens-after-a-change',
    'docs/how-to/limit-tenants.md',
    'docs/how-to/monitoring.md#in-ten-minutes-with-the-prometheus-operator:1',
    'docs/how-to/monitoring.md#the-state-of-objects',
    'docs/how-to/monitoring.md#what-a-pass-sends',
    'docs/how-to/network-policies.md',
    'docs/how-to/node-reboots.md#a-policy',
    'docs/how-to/node-reboots.md#a-policy-in-git',
    'docs/how-to/node-reboots.md#a-teams-broken-cluster',
    'docs/how-to/external-clients.md#what-is-refused',
    'docs/runbooks/README.md',
    'docs/runbooks/alerts.md#etcdratchetdoesnotrun',
    'docs/runbooks/member-list.md',
    'docs/runbooks/member-list.md#a-removal-does-not-end',
    'docs/runbooks/member-list.md#new-members-are-not-promoted',
    'docs/runbooks/node-stuck.md',
  ],
  'integration/manifests/silent-end': ['docs/runbooks/kubernetes-refuses.md#a-pass-ends-without-a-word'],
  'integration/manifests/large-namespace': ['docs/runbooks/kubernetes-refuses.md#a-namespace-is-left-out'],
  'integration/manifests/own-objects': ['docs/how-to/resources-and-priority.md#priority'],
  'integration/manifests/backup-offers': ['docs/how-to/backups.md#what-a-backup-may-use'],
  'integration/manifests/tenants-page': [
    'docs/how-to/tenants.md#what-the-platform-does',
    'docs/how-to/tenants.md#what-a-team-does',
  ],
  'integration/manifests/signed-commits-page': [
    'docs/how-to/signed-commits.md',
    'docs/how-to/signed-commits.md#who-signed:1',
    'docs/how-to/signed-commits.md#who-signed:2',
    'docs/how-to/signed-commits.md#begin-anew',
  ],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** Of a test that types whole pages, one after the other, and compares what is printed with what they say. */
export function pagesOf(test: keyof typeof typedBy): readonly string[] {
  return [...new Set(typedBy[test].map((place) => place.replace(/#.*/, '')))];
}

/** What that test is to type, by place: it takes its blocks from here, so the list can't say more than is typed. */
export function typedIn(test: keyof typeof typedBy): (place: string) => readonly Block[] {
  const places: readonly string[] = typedBy[test];
  return (place) => {
    if (!places.includes(place)) throw new Error(`${place} is not in typed-by.ts as typed by ${test}`);
    return commandsAt(place);
  };
}
