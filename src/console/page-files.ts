import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';

/** A file of the built console, with the encodings that the build left beside it. */
export interface PageFile {
  /** As it stands in an address: `/assets/main-1a2b.js`. */
  address: string;
  path: string;
  type: string;
  encodings: { br?: string; gzip?: string };
  /** Its name holds a hash of its contents, so what it holds never changes. */
  isImmutable: boolean;
}

export interface PageFiles {
  /** The page itself, with everything it names below the base path. */
  index: string;
  files: PageFile[];
}

const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
};
const TWINS = { br: '.br', gzip: '.gz' } as const;
/** What may stand in an address as it is, and means nothing to the router. */
const PLAIN_ADDRESS = /^\/[\w./-]+$/;

/** Undefined where no console was built. The folder is read once: only what lay there then is ever served. */
export function findPageFiles(directory: string, basePath: string): PageFiles | undefined {
  const index = join(directory, 'index.html');
  if (!existsSync(index)) return undefined;
  const names = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)).split(sep).join('/'));
  const present = new Set(names);
  const files = names.flatMap((name): PageFile[] => {
    const type = TYPES[extname(name)];
    const address = `/${name}`;
    if (type === undefined || name === 'index.html' || !PLAIN_ADDRESS.test(address)) return [];
    const path = join(directory, name);
    const encodings: PageFile['encodings'] = {};
    for (const [encoding, ending] of Object.entries(TWINS))
      if (present.has(name + ending)) encodings[encoding as keyof typeof TWINS] = path + ending;
    return [{ address, path, type, encodings, isImmutable: name.startsWith('assets/') }];
  });
  return { index: placed(readFileSync(index, 'utf8'), basePath), files };
}

/**
 * What the page names from its own folder or from the root lies below the base path; scripts learn it from the meta
 * element. A `base` element would do both, but the security policy forbids it.
 */
function placed(html: string, basePath: string): string {
  return html
    .replace(/\b(src|href)="\.?\/(?!\/)/g, `$1="${basePath}/`)
    .replace(/<head>/i, `<head>\n    <meta name="pilothouse-base" content="${basePath}" />`);
}
