/** The `before` parameter of the `rel="next"` URL in a link header of the audit log. */
export function readNextPage(link: string | null): string | undefined {
  const url = /<([^>]+)>; rel="next"/.exec(link ?? '')?.[1];
  return url === undefined ? undefined : (new URL(url, location.origin).searchParams.get('before') ?? undefined);
}
