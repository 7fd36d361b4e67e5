/** What the address of the costs page holds. */
export type CostsSearch = Record<string, never>;

export const costsSearch = (_search: Record<string, unknown>): CostsSearch => ({});
