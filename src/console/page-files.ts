import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';

/** A file of the built console and its precompressed variants. */
export interface PageFile {
  /** URL path, such as `/assets/main-1a2b.js`. */
  address: string;
  path: string;
  type: string;
  encodings: { br?: string; gzip?: string };
  /** The name contains a hash of the contents, so the contents never change. */
  isImmutable: boolean;
}

export interface PageFiles {
  /** The HTML page, with all references below the base path. */
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
const COMPRESSED_SUFFIXES = { br: '.br', gzip: '.gz' } as const;
/** Needs no escaping and has no special meaning for the router. */
const PLAIN_ADDRESS = /^\/[\w./-]+$/;

/** Undefined if the console was not built. The folder is read once; files added later are not served. */
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
    for (const [encoding, suffix] of Object.entries(COMPRESSED_SUFFIXES))
      if (present.has(name + suffix)) encodings[encoding as keyof typeof COMPRESSED_SUFFIXES] = path + suffix;
    return [{ address, path, type, encodings, isImmutable: name.startsWith('assets/') }];
  });
  return { index: addBasePath(readFileSync(index, 'utf8'), basePath), files };
}

/**
 * Puts relative and root-relative references below the base path; scripts read it from the meta element. A `base`
 * element would do both, but the content security policy forbids it.
 */
function addBasePath(html: string, basePath: string): string {
  return html
    .replace(/\b(src|href)="\.?\/(?!\/)/g, `$1="${basePath}/`)
    .replace(/<head>/i, `<head>\n    <meta name="pilothouse-base" content="${basePath}" />`);
}
