import type { ForgeType, WebhookType } from '../../manifests/api/etcd-fleet.ts';
import type { Receiver } from '../webhooks/receiver.ts';
import { azureDevOps as azureDevOpsApi } from './azure-devops/api.ts';
import { azureDevOps as azureDevOpsWebhook } from './azure-devops/webhook.ts';
import { bitbucketCloud as bitbucketCloudApi } from './bitbucket-cloud/api.ts';
import { bitbucketCloud as bitbucketCloudWebhook } from './bitbucket-cloud/webhook.ts';
import { bitbucketDataCenter as bitbucketDataCenterApi } from './bitbucket-data-center/api.ts';
import { bitbucketDataCenter as bitbucketDataCenterWebhook } from './bitbucket-data-center/webhook.ts';
import type { ForgeKind } from './forge.ts';
import { generic } from './generic/webhook.ts';
import { gitea as giteaApi } from './gitea/api.ts';
import { gitea as giteaWebhook } from './gitea/webhook.ts';
import { gitHub as gitHubApi } from './github/api.ts';
import { gitHub as gitHubWebhook } from './github/webhook.ts';
import { gitLab as gitLabApi } from './gitlab/api.ts';
import { gitLab as gitLabWebhook } from './gitlab/webhook.ts';

interface Sender {
  readonly webhook: Receiver;
}

interface Registered extends Sender {
  readonly api: ForgeKind;
}

/** Every forge, and every sender that is none: a new one is a folder and a line here. */
export const registry = {
  GitHub: { api: gitHubApi, webhook: gitHubWebhook },
  GitLab: { api: gitLabApi, webhook: gitLabWebhook },
  Gitea: { api: giteaApi, webhook: giteaWebhook },
  Forgejo: { api: giteaApi, webhook: giteaWebhook },
  BitbucketCloud: { api: bitbucketCloudApi, webhook: bitbucketCloudWebhook },
  BitbucketDataCenter: { api: bitbucketDataCenterApi, webhook: bitbucketDataCenterWebhook },
  AzureDevOps: { api: azureDevOpsApi, webhook: azureDevOpsWebhook },
  Generic: { webhook: generic },
} as const satisfies Record<ForgeType, Registered> & Record<WebhookType, Sender>;
