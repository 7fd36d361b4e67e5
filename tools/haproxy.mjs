// The configuration of HAProxy in docs/scaling.md, so that tests and benchmarks run what users read.
import { readFileSync } from 'node:fs';

/** With other ports; `more` is added to the frontend. */
export function readHaproxyConfiguration(port, nodes, more = '') {
  const text = readFileSync(new URL('../docs/scaling.md', import.meta.url), 'utf8');
  const [, configuration = ''] = /```\n(defaults\n.*?)```/s.exec(text) ?? [];
  const [line = ''] = /^ {2}server .*$/m.exec(configuration) ?? [];
  const servers = nodes.map((node, index) => line.replace(/node0 \S+/, `node${index} 127.0.0.1:${node}`));
  return configuration
    .replace('  bind :8080\n', `  bind 127.0.0.1:${port}\n${more}`)
    .replace(/( {2}server .*\n)+/, `${servers.join('\n')}\n`);
}
