/** Where a browser finds the repository's files, and so every page of the documentation. */
export const repositoryFiles = 'https://github.com/etcd-ratchet/etcd-ratchet/blob/main';
