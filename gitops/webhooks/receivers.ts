import { azureDevOps } from './azure-devops.ts';
import { bitbucketCloud } from './bitbucket-cloud.ts';
import { bitbucketDataCenter } from './bitbucket-data-center.ts';
import { generic } from './generic.ts';
import { gitea } from './gitea.ts';
import { gitHub } from './github.ts';
import { gitLab } from './gitlab.ts';
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

/** Every header that may prove something, to whomever: without any of them, nobody needs to look. */
export const proofs: ReadonlySet<string> = new Set(Object.values(receivers).flatMap((one) => one.proofs));
