/**
 * The tests whose outcome depends on the minor of Kubernetes, by the names of their files: `--per-minor` runs these.
 *
 * Of the integration tests: the CRDs and their rules, requests against their models, server-side apply, what defaults
 * make of a StatefulSet of ours, and what is installed, by kustomize and by Helm, and may do. End to end: what leans on
 * controllers, scheduler and node.
 */
export const perMinor = {
  integration: [
    ...['agreement', 'apply', 'chart', 'contracts', 'crds', 'install', 'kube-contract', 'kubectl', 'network-policies'],
    ...['own-sets', 'ownership', 'people', 'pod-spec', 'restricted', 'yaml'],
  ],
  e2e: [
    ...['backup', 'bootstrap', 'chart', 'life-losses', 'life-recovered', 'life-sizes', 'life-space', 'life-versions'],
    ...['tls-managed'],
  ],
} as const satisfies Readonly<Record<'integration' | 'e2e', readonly string[]>>;
