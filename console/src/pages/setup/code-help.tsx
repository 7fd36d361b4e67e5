import { Text } from '@mantine/core';
import classes from './setup.module.css';

const PLACES = [
  { how: 'systemd', command: 'journalctl -u pilothouse' },
  { how: 'Docker', command: 'docker logs <container>' },
  { how: 'Kubernetes', command: 'kubectl logs deployment/pilothouse' },
];

/** Only a person with access to the machine can read the code, so no stranger can set the server up. */
export function CodeHelp() {
  return (
    <div className={classes.help}>
      <Text size="sm">The server prints a link with the code in its log when it starts:</Text>
      <dl className={classes.places}>
        {PLACES.map(({ how, command }) => (
          <div key={how}>
            <dt>{how}</dt>
            <dd>
              <code>{command}</code>
            </dd>
          </div>
        ))}
      </dl>
      <Text size="sm">
        Or run <code>pilothouse init --name NAME</code> on the server; it needs no code.
      </Text>
    </div>
  );
}
