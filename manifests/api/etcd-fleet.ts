import Type, { type Static } from 'typebox';
import { dnsLabel, httpUrl, objectName } from './common-rules.ts';
import type { EtcdFleetStatus } from './etcd-fleet-status.ts';
import { authorIsKnown, whoseApprovals } from './four-eyes.ts';
import type { CustomResource } from './metadata.ts';
import { notOurAccount } from './our-accounts.ts';
import { countOrShare, rolloutSchema, statusesAreTold } from './rollout.ts';
import { type Rule, rule } from './rule.ts';
import { intOrString, keepsDefault, object, type ReadonlyDeep, text } from './schema.ts';
import { fleetDefaults } from './spec-defaults.ts';

export const forgeTypes = [
  'GitHub',
  'GitLab',
  'Gitea',
  'Forgejo',
  'BitbucketCloud',
  'BitbucketDataCenter',
  'AzureDevOps',
] as const;
export type ForgeType = (typeof forgeTypes)[number];

/** The senders that a fleet's webhook understands; a superset of the forges, because any program can sign a body. */
export const webhookTypes = [...forgeTypes, 'Generic'] as const;
export type WebhookType = (typeof webhookTypes)[number];

/** The label that lets a request from a fork be checked, letter for letter. */
export const forkLabel = 'etcd-ratchet/check';

const notSsh = rule<string>({
  message: 'SSH is not supported, use HTTPS: https://<host>/<owner>/<repository>.git, with a token in the Secret',
  cel: `!self.matches('^([a-z+]*ssh://|[^/@]+@[^/@:]+:)')`,
  holds: (url) => !/^([a-z+]*ssh:\/\/|[^/@]+@[^/@:]+:)/.test(url),
  hidesValue: true,
});

/** What git-check-ref-format allows, near enough: the remote has the last word. */
const gitRef = rule<string>({
  message: 'must be a branch, a tag, a full name like refs/heads/main or a commit',
  cel: String.raw`self.matches(r'^[^\x00-\x20\x7f~^:?*\[\\]+$') && !self.matches('^[-/]|[.][.]|@[{]|//|[/.]$|[.]lock$')`,
  holds: (ref) =>
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    /^[^\x00-\x20\x7f~^:?*[\\]+$/u.test(ref) && !/^[-/]|\.\.|@\{|\/\/|[/.]$|\.lock$/.test(ref),
});

const insideTheTree = rule<string>({
  message: 'must be a directory of the repository: relative, with "/" between names, without ".."',
  cel: String.raw`self.matches(r'^[^/\x00-\x1f\\][^\x00-\x1f\\]*$') && !self.matches('(^|/)[.][.](/|$)')`,
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
  holds: (path) => /^[^/\x00-\x1f\\][^\x00-\x1f\\]*$/u.test(path) && !/(^|\/)\.\.(\/|$)/.test(path),
});

const fleetFields = {
  git: object(
    {
      url: text(2048, {
        description: 'https://… (SSH is not supported). Credentials go into the Secret.',
        rules: [notSsh, httpUrl],
      }),
      ref: text(255, { description: 'A branch, a tag, a full refs/… name or a commit.', rules: [gitRef] }),
      path: Type.Optional(
        text(1024, {
          default: fleetDefaults.path,
          description: 'The directory in the repository, without leading slash.',
          rules: [insideTheTree],
        }),
      ),
      secretName: Type.Optional(
        text(253, {
          description:
            "Secret with username and password, or token, or a GitHub App's appId, installationId and privateKey; and ca.crt for a CA of its own. It needs the label etcd.ratchet.dev/fleet-secret=true.",
          rules: [objectName],
        }),
      ),
      verify: Type.Optional(
        object(
          {
            mode: Type.Optional(
              Type.Enum(['Head', 'HeadAndMerges', 'Tag'], {
                default: fleetDefaults.verifyMode,
                description:
                  'Head: the commit at the ref. HeadAndMerges: also each commit that was pushed or merged into the branch since the last verified one, at most 1000. Tag: the annotated tag that ref names.',
              }),
            ),
            configMapName: text(253, {
              description:
                "ConfigMap in the fleet's namespace with the keys of those who may sign: SSH keys in an item allowed_signers (ssh-keygen's format), OpenPGP public keys in items that end in .asc.",
              rules: [objectName],
            }),
          },
          {
            description:
              'What is at the ref must be signed with one of these keys. Else nothing of it is read, and what was applied before stays.',
          },
        ),
      ),
    },
    { description: 'The directory of a repository that the specs are in.' },
  ),
  forge: Type.Optional(
    object(
      {
        type: Type.Enum(forgeTypes, { description: 'Which API the forge has.' }),
        apiURL: Type.Optional(
          text(2048, {
            description:
              "The API's address, where git.url's host does not tell it: for instance https://git.example.com/api/v4.",
            rules: [httpUrl],
          }),
        ),
        secretName: text(253, {
          description:
            "Secret with token; or, where the forge takes them, with username and password, or with a GitHub App's appId, installationId and privateKey. And ca.crt for a CA of its own. It needs the label etcd.ratchet.dev/fleet-secret=true.",
          rules: [objectName],
        }),
      },
      { description: 'Where commit statuses go. Absent: none are sent.' },
    ),
  ),
  checks: Type.Optional(
    object(
      {
        pullRequests: Type.Optional(
          Type.Enum(['Enabled', 'Disabled'], {
            default: fleetDefaults.pullRequests,
            description:
              'Open pull (merge) requests that touch the path get a status with the plan of what merging them would do.',
          }),
        ),
        comments: Type.Optional(
          Type.Enum(['Enabled', 'Disabled'], {
            default: fleetDefaults.comments,
            description: 'Also as one comment that is kept up to date (GitHub, Gitea, Forgejo, GitLab).',
          }),
        ),
        untouched: Type.Optional(
          Type.Enum(['Silent', 'Success'], {
            default: fleetDefaults.untouched,
            description:
              'Requests that change nothing under the path. Silent: they get no status. Success: they get success, so that the status can be a required one.',
          }),
        ),
        mergeQueue: Type.Optional(
          Type.Enum(['Enabled', 'Disabled'], {
            default: fleetDefaults.mergeQueue,
            description:
              "Commits of the branch's merge queue are checked like requests, and get their status (GitHub). It takes one more request to the forge in each tick.",
          }),
        ),
        forks: Type.Optional(
          Type.Enum(['Disabled', 'Labelled', 'Enabled'], {
            default: fleetDefaults.forks,
            description: `Requests from other repositories. Disabled: none is checked. Labelled: those that bear the label ${forkLabel}; Gitea and Forgejo let authors set labels, so there another person must have set it. Bitbucket has no labels, and on Azure DevOps any reader may set them: there Labelled is as Disabled. Enabled: all.`,
          }),
        ),
      },
      { description: 'Checks of pull (merge) requests into git.ref. Without a forge there are none.' },
    ),
  ),
  webhook: Type.Optional(
    object(
      {
        type: Type.Optional(
          Type.Enum(webhookTypes, {
            description: 'The sender. Absent: forge.type, or Generic (X-Signature: sha256=<hex HMAC of the body>).',
          }),
        ),
        secretName: text(253, {
          description:
            'Secret with the key secret, which the caller proves to know; previousSecret while it is rotated. It needs the label etcd.ratchet.dev/fleet-secret=true.',
          rules: [objectName],
        }),
      },
      { description: 'Takes POST /hooks/<namespace>/<name> from the forge, so that a push need not wait for a tick.' },
    ),
  ),
  serviceAccountName: Type.Optional(
    text(253, {
      default: fleetDefaults.serviceAccountName,
      description:
        "A service account in the fleet's namespace: the fleet may touch what this account may. Never one of etcd-ratchet itself.",
      rules: [objectName, notOurAccount],
    }),
  ),
  prune: Type.Optional(
    Type.Boolean({ default: false, description: 'Delete clusters that the repository no longer lists.' }),
  ),
  maxClustersInProgress: Type.Optional(
    intOrString({
      default: fleetDefaults.maxClustersInProgress,
      description:
        'How many clusters may be changed at once: rolled, upgraded, scaled, stopped or defragmented. A cluster that is not well counts, and is healed all the same. A cluster that is being born, hibernates or is paused does not count. A number or a percentage, at least 1.',
      rules: [countOrShare],
    }),
  ),
  rollout: Type.Optional(rolloutSchema),
  suspend: Type.Optional(
    Type.Boolean({
      default: false,
      keepsDefault,
      description:
        'The repository is not read. Its clusters are kept as their last spec says. To stop them as well, suspend or pause them, or suspend the CronJob.',
    }),
  ),
  approvals: Type.Optional(whoseApprovals),
};

export const etcdFleetSpecSchema = object(fleetFields, { rules: [authorIsKnown, statusesAreTold] });

/** The field manager `etcd-ratchet-fleet-<namespace>-<name>` may have 128 characters, and a namespace 63 of them. */
const longestName = 45;

/** Rules about the object as a whole. */
export const etcdFleetRules: readonly Rule[] = [
  rule<{ metadata: { name: string } }>({
    message: `metadata.name must be at most ${longestName} characters: the field manager made from it may have 128`,
    cel: `size(self.metadata.name) <= ${longestName}`,
    holds: ({ metadata }) => metadata.name.length <= longestName,
    fieldPath: '.metadata.name',
  }),
  rule<{ metadata: { name: string } }>({
    message: 'metadata.name must be lower-case letters, digits and "-": it is part of the context of commit statuses',
    cel: `self.metadata.name.matches('${dnsLabel}')`,
    holds: ({ metadata }) => new RegExp(dnsLabel).test(metadata.name),
    fieldPath: '.metadata.name',
  }),
];

type EtcdFleetSpec = ReadonlyDeep<Static<typeof etcdFleetSpecSchema>>;

export type EtcdFleet = CustomResource<'EtcdFleet', EtcdFleetSpec, EtcdFleetStatus>;
