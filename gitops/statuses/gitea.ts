import { assertTaken } from './answer.ts';
import type { CommitStatus, Forge, ForgeAccess } from './forge.ts';
import { postJson } from './http.ts';
import { repositoryOf, statusesUrl } from './repository.ts';

/** Gitea and Forgejo. @throws ForgeError InvalidForge */
export function gitea({ gitUrl, token, apiUrl, caBundle }: ForgeAccess): Forge {
  const repository = repositoryOf(gitUrl);
  const api = apiUrl ?? `${repository.base}/api/v1`;
  return {
    address: api,
    async post({ sha, context, state, description, targetUrl }: CommitStatus, { signal }): Promise<void> {
      const answer = await postJson(
        {
          url: statusesUrl(api, repository, sha),
          headers: { accept: 'application/json', authorization: `token ${token}` },
          body: { state, context, description, ...(targetUrl ? { target_url: targetUrl } : {}) },
          caBundle,
        },
        signal,
      );
      assertTaken(api, answer, Date.now());
    },
  };
}
