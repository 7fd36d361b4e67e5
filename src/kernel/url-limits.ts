/** The limits of a URL, at the API and at the endpoints of services. They are checked before anything is read from it. */
export const MAX_URL_BYTES = 64 * 1024;
export const MAX_URL_PARAMETERS = 1000;
