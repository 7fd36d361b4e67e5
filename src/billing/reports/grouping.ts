/** What a row of a summary is about. */
export const GROUPINGS = ['entity', 'entityType', 'metric', 'warehouse', 'none'] as const;
export type Grouping = (typeof GROUPINGS)[number];
