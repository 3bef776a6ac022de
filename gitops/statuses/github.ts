import { assertTaken } from './answer.ts';
import type { CommitStatus, Forge, ForgeAccess } from './forge.ts';
import { postJson } from './http.ts';
import { type RepositoryName, repositoryOf, statusesUrl } from './repository.ts';

/** GitHub and GitHub Enterprise. @throws ForgeError InvalidForge */
export function gitHub({ gitUrl, token, apiUrl, caBundle }: ForgeAccess): Forge {
  const repository = repositoryOf(gitUrl);
  const api = apiUrl ?? gitHubApi(repository);
  return {
    address: api,
    async post({ sha, context, state, description, targetUrl }: CommitStatus, { signal }): Promise<void> {
      const answer = await postJson(
        {
          url: statusesUrl(api, repository, sha),
          headers: {
            accept: 'application/vnd.github+json',
            authorization: `Bearer ${token}`,
            'x-github-api-version': '2022-11-28',
          },
          body: { state, context, description, ...(targetUrl ? { target_url: targetUrl } : {}) },
          caBundle,
        },
        signal,
      );
      assertTaken(api, answer, Date.now());
    },
  };
}

function gitHubApi({ base, host }: RepositoryName): string {
  if (host === 'github.com' || host === 'www.github.com') return 'https://api.github.com';
  // Enterprise Cloud with data residency has its API beside it, Enterprise Server below it.
  return host.endsWith('.ghe.com') ? `https://api.${host}` : `${base}/api/v3`;
}
