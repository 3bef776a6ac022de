/** Written from package.json by `npm run generate`, so that a bundle stands alone. */
export const version = '0.1.0';

/** Our own image of this release: what runs where nothing else is said. */
export const publishedImage = `ghcr.io/etcd-ratchet/etcd-ratchet:v${version}`;
