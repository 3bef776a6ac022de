import { stringify } from 'yaml';
import { version } from '../../manifests/release.ts';

export const about = 'Looks at etcd clusters of etcd-ratchet, says why they do what they do, plans, and approves.';

/** An archive that krew unpacks, where its selector says. */
export interface KrewPlatform {
  readonly selector: object;
  readonly uri: string;
  readonly sha256: string;
  /** The directory in the archive that has the files: '' for the archive itself. */
  readonly directory: string;
  readonly bin: string;
}

/** krew links one file, under the name of the plugin; the script for completion is linked by hand. */
export function krewManifest(platforms: readonly KrewPlatform[], needs = ''): string {
  return stringify({
    apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
    kind: 'Plugin',
    metadata: { name: 'ratchet' },
    spec: {
      version: `v${version}`,
      homepage: 'https://github.com/etcd-ratchet/etcd-ratchet',
      shortDescription: 'Looks at, plans and approves etcd clusters',
      description: `${about}\nIt has no rights of its own: it uses your kubeconfig.\n`,
      caveats: `${needs}For completion: kubectl ratchet completion > DIRECTORY_ON_PATH/kubectl_complete-ratchet, and make it executable.\n`,
      platforms: platforms.map(({ selector, uri, sha256, directory, bin }) => ({
        ...{ selector, uri, sha256 },
        files: [{ from: `${directory}*`, to: '.' }],
        bin,
      })),
    },
  });
}
