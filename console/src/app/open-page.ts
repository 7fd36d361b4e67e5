/** Loads the whole console again, so that nothing of another session or organization remains. */
export const openPage = (base: string, path: string): void => window.location.assign(`${base}${path}`);
