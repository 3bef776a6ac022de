/** What Pod Security's "restricted" asks of each container by itself; the rest it asks of the pod. */
export const restrictedRights = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } } as const;
