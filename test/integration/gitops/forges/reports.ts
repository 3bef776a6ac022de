import type { ForgeType } from '../../../../manifests/api/etcd-fleet.ts';
import { azureDevOps } from './reports/azure.ts';
import { bitbucketCloud, bitbucketDataCenter } from './reports/bitbucket.ts';
import { gitea } from './reports/gitea.ts';
import { gitHub } from './reports/github.ts';
import { gitLab } from './reports/gitlab.ts';
import type { ForgeReport } from './reports/report.ts';

/** What each forge's API was publicly reported to do. A new report is a row: api-reports.test.ts plays each. */
export const forgeReports: Readonly<Record<ForgeType, readonly ForgeReport[]>> = {
  GitHub: gitHub,
  GitLab: gitLab,
  Gitea: gitea,
  // What Gitea was reported to do before Forgejo parted from it.
  Forgejo: gitea,
  BitbucketCloud: bitbucketCloud,
  BitbucketDataCenter: bitbucketDataCenter,
  AzureDevOps: azureDevOps,
};
