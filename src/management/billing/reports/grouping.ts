/** How the rows of a summary are grouped. */
export const GROUPINGS = ['entity', 'entityType', 'metric', 'warehouse', 'none'] as const;
export type Grouping = (typeof GROUPINGS)[number];
