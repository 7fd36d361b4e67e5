import type { App } from './validation.ts';

/** Lists the methods of a path, for 405 responses and their `Allow` header. */
export function createAllowedMethods(app: App): (url: string) => string[] {
  const methodsByPattern = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }) => {
    if (url.includes('*')) return;
    const methods = methodsByPattern.get(url) ?? new Set();
    for (const name of [method].flat()) methods.add(name);
    methodsByPattern.set(url, methods);
  });
  return (url) => {
    const segments = pathSegments(url);
    const matches = [...methodsByPattern].filter(([pattern]) => isMatch(pathSegments(pattern), segments));
    return [...new Set(matches.flatMap(([, methods]) => [...methods]))].sort();
  };
}

const pathSegments = (url: string): string[] => (url.split('?', 1)[0] ?? '').split('/');

const isMatch = (pattern: string[], path: string[]): boolean =>
  pattern.length === path.length &&
  pattern.every((segment, i) => (segment.startsWith(':') ? path[i] !== '' : segment === path[i]));
