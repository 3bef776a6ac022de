/** What the bundle's plugin makes of etcd's protocol. */
declare module 'etcd-protocol' {
  const services: readonly import('./etcd-protocol.ts').Service[];
  export default services;
}
