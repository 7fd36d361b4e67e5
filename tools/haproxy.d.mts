/** The configuration of HAProxy in docs/scaling.md with other ports; `more` is added to the frontend. */
export function readHaproxyConfiguration(port: number, nodes: readonly number[], more?: string): string;
