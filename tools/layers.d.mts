export const ROOMS: Readonly<Record<string, readonly string[]>>;
export function findLayerViolations(path: string, imports: readonly string[]): string[];
