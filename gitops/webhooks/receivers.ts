import { azureDevOps } from '../forges/azure-devops/webhook.ts';
import { bitbucketCloud } from '../forges/bitbucket-cloud/webhook.ts';
import { bitbucketDataCenter } from '../forges/bitbucket-data-center/webhook.ts';
import { generic } from '../forges/generic/webhook.ts';
import { gitea } from '../forges/gitea/webhook.ts';
import { gitHub } from '../forges/github/webhook.ts';
import { gitLab } from '../forges/gitlab/webhook.ts';
import type { Receivers } from './receiver.ts';

/** Every caller that is understood; a new one is a file and a line here. */
export const receivers = {
  GitHub: gitHub,
  GitLab: gitLab,
  Gitea: gitea,
  Forgejo: gitea,
  BitbucketCloud: bitbucketCloud,
  BitbucketDataCenter: bitbucketDataCenter,
  AzureDevOps: azureDevOps,
  Generic: generic,
} as const satisfies Receivers;

/** Every header that may prove something. A delivery without any of them is not looked at. */
export const proofs: ReadonlySet<string> = new Set(Object.values(receivers).flatMap((one) => one.proofs));
