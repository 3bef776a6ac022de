import { stringify } from 'yaml';
import { compose, type Part, type Root } from './compose.ts';
import { helpers } from './helpers.ts';
import { ingresses } from './ingress.ts';
import { changesOf, printed, templateOf } from './template.ts';
import { values } from './values.ts';
import { type Settled, settled, valuesFile, valuesSchema } from './values-file.ts';

/** The components of manifests/install, and where each may be switched on. */
const components = {
  certManager: { directory: 'cert-manager', namespaced: 'cert-manager-namespaced' },
  webhooks: { directory: 'webhooks', namespaced: 'webhooks-namespaced' },
  page: { directory: 'page', namespaced: 'page-namespaced' },
  pageShared: { directory: 'page-shared', namespaced: 'page-shared' },
  pagePlans: { directory: 'page-plans' },
  nodeReboots: { directory: 'node-reboots' },
  storageMigration: { directory: 'storage-migration' },
  shards: { directory: 'shards', namespaced: 'shards' },
  metrics: { directory: 'metrics' },
  prometheusOperator: { directory: 'prometheus-operator' },
  dashboards: { directory: 'dashboards' },
} as const satisfies Readonly<Record<string, { readonly directory: string; readonly namespaced?: string }>>;

export type Component = keyof typeof components;

/** What a kustomization names for these values: the two that must render the same. */
export function kustomizationOf(namespaced: boolean, on: readonly Component[]) {
  const base = namespaced ? 'install/namespaced' : 'install';
  const directories = on.map((name) => {
    const component: { readonly directory: string; readonly namespaced?: string } = components[name];
    const directory = namespaced ? component.namespaced : component.directory;
    if (directory === undefined) throw new Error(`${name} is not for one namespace`);
    return `install/components/${directory}`;
  });
  return { resources: [base], components: directories };
}

function roots(): readonly Root[] {
  return [
    { directory: 'install', when: { namespaced: false } },
    { directory: 'install/namespaced', when: { namespaced: true } },
    ...Object.entries(components).flatMap(([name, component]) => [
      { directory: `install/components/${component.directory}`, when: { [name]: true, namespaced: false } },
      ...('namespaced' in component
        ? [{ directory: `install/components/${component.namespaced}`, when: { [name]: true, namespaced: true } }]
        : []),
    ]),
  ];
}

const also = { 'install/crds': { crds: true }, 'install/cluster/namespace.yaml': { namespace: true } } as const;

const header = 'Generated from manifests by `npm run generate`. Do not edit.';

/** Every file of the chart by its path within it. */
export function chartFiles(version: string): Readonly<Record<string, string>> {
  const parts = compose(roots(), { also });
  const all = settled(values, parts);
  const templates = Map.groupBy(parts, ({ file }) => file.replace(/^install\//, 'templates/'));
  return {
    'Chart.yaml': `# ${header}\n${stringify(metadata(version))}`,
    'values.yaml': `# ${header}\n\n${valuesFile(all)}`,
    'values.schema.json': `${JSON.stringify(valuesSchema(all), null, 2)}\n`,
    'templates/_helpers.tpl': helpers(header, all, parts),
    'templates/NOTES.txt': notes,
    'templates/settings.yaml': settings,
    'templates/ingress.yaml': ingresses(header),
    'templates/tests/look.yaml': lookTest(parts, all),
    ...Object.fromEntries(
      [...templates].map(([name, some]) => [
        name,
        `# Generated from manifests/${some[0]?.file} by \`npm run generate\`; the reasons stand there.\n${some
          .map((part) => documentOf(templateOf(part, all)))
          .join('')}`,
      ]),
    ),
  };
}

/** The values with their defaults, for the reference. */
export function chartValues(): readonly Settled[] {
  return settled(values, compose(roots(), { also }));
}

function documentOf(template: string): string {
  return template.startsWith('{{-') ? template : `---\n${template}`;
}

function metadata(version: string): object {
  return {
    apiVersion: 'v2',
    name: 'etcd-ratchet',
    description: 'etcd clusters on Kubernetes, kept by pull request',
    type: 'application',
    version,
    appVersion: version,
    kubeVersion: '>=1.33.0-0',
    home: 'https://github.com/etcd-ratchet/etcd-ratchet',
    sources: ['https://github.com/etcd-ratchet/etcd-ratchet'],
    keywords: ['etcd', 'gitops', 'operator'],
    annotations: { 'artifacthub.io/license': 'Apache-2.0', 'artifacthub.io/category': 'database' },
  };
}

const settings = `# ${header}
{{- include "etcd-ratchet.check" . }}
{{- if or .Values.settings .Values.strict }}
apiVersion: v1
kind: ConfigMap
metadata:
  name: etcd-ratchet-settings
  namespace: {{ .Release.Namespace | quote }}
  labels:
    app.kubernetes.io/name: etcd-ratchet
    {{- with .Values.commonLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with .Values.commonAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
data:
  {{- if and .Values.strict (not (hasKey .Values.settings "RATCHET_STRICT")) }}
  RATCHET_STRICT: Enabled
  {{- end }}
  {{- with .Values.settings }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
`;

const notes = `etcd-ratchet {{ .Chart.AppVersion }} looks at everything by the schedule {{ .Values.tick.schedule }}.

  helm test {{ .Release.Name }} --namespace {{ .Release.Namespace }} --logs

takes one look with its rights and touches nothing. What comes next is a fleet, which names your Git repository:
https://github.com/etcd-ratchet/etcd-ratchet/blob/v{{ .Chart.AppVersion }}/docs/how-to/fleets.md
`;

/** `helm test`: what a tick would do, with a tick's own account and settings, and nothing done. */
function lookTest(parts: readonly Part[], all: readonly Settled[]): string {
  const part = parts.find(({ object }) => object.kind === 'CronJob');
  if (!part) throw new Error('there is no CronJob');
  const object = structuredClone(part.object) as unknown as TickTemplate;
  const { template } = object.spec.jobTemplate.spec;
  // Not in its args: those are what the namespaced variant says.
  template.spec.containers[0].command.push('--dry-run');
  template.spec.activeDeadlineSeconds = 120;
  const changes = changesOf(part, all);
  const spec = printed(template.spec, '/spec/jobTemplate/spec/template/spec', changes, 2);
  return `# ${header}
apiVersion: v1
kind: Pod
metadata:
  name: etcd-ratchet-look
  namespace: {{ .Release.Namespace | quote }}
  labels:
    app.kubernetes.io/name: etcd-ratchet
    {{- with merge (dict) .Values.podLabels .Values.commonLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    helm.sh/hook: test
    helm.sh/hook-delete-policy: before-hook-creation
spec:
${spec}`;
}

interface TickTemplate {
  readonly spec: {
    readonly jobTemplate: {
      readonly spec: {
        readonly template: {
          readonly spec: { containers: [{ readonly command: string[] }]; activeDeadlineSeconds?: number };
        };
      };
    };
  };
}
