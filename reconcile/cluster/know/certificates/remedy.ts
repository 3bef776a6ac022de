/** How a leaf is corrected: signed anew, or kept with other CAs to trust beside it. */
export type Remedy = 'issue' | 'bundle';
