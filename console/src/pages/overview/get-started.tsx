import { Anchor, Button, Group, Stack, Text } from '@mantine/core';
import { useConfig, useDependencies, useSession } from '../../app/context.tsx';
import { addDays, toDay } from '../../parts/format/days.ts';
import { useNow } from '../../parts/format/timestamp.tsx';
import { CopyIconButton } from '../../parts/forms/copy-button.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { ScrollRegion } from '../../parts/tables/scroll-region.tsx';
import classes from './get-started.module.css';

/** What Pilothouse is and how to use it. No secret is shown, except the public key of the demo. */
export function GetStarted({ onDismiss }: { onDismiss: () => void }) {
  const { base } = useDependencies();
  const { demo } = useConfig();
  const { organization } = useSession();
  const today = toDay(useNow());
  const url = `${window.location.origin}${base}`;
  const key = demo ? `${demo.keyId}:${demo.keySecret}` : '"$KEY_ID:$KEY_SECRET"';
  const request = (path: string) => `curl -u ${key} '${url}/v1/organizations/${organization.id}/${path}'`;
  return (
    <Panel
      title="Get started"
      aside={
        <Button variant="subtle" color="gray" size="compact-sm" onClick={onDismiss}>
          Dismiss
        </Button>
      }
    >
      <div className={classes.columns}>
        <Stack gap="sm">
          <Text size="sm">
            Pilothouse is the control plane of your database fleet: how each service scales, which keys have access,
            what every day costs, and dashboards of your telemetry. The console uses the same HTTP APIs as your scripts.
          </Text>
          <Group gap="md">
            <Anchor size="sm" href={`${base}/docs`} target="_blank" rel="noopener">
              API reference
            </Anchor>
            <Anchor size="sm" href={`${base}/openapi.json`} target="_blank" rel="noopener">
              OpenAPI document
            </Anchor>
          </Group>
          {!demo && (
            <Text size="sm" c="dimmed">
              Set <code>KEY_ID</code> and <code>KEY_SECRET</code> to an API key before you run the commands.
            </Text>
          )}
          <Example title="List services" text={request('services')} />
          <Example
            title="Get the costs of the last seven days"
            text={request(`usageCost?from_date=${addDays(today, -6)}&to_date=${today}`)}
          />
        </Stack>
        <Stack gap="sm">
          <Example title="Declare a service in a fleet file, fleet.yaml" text={renderFleetFile(organization)} />
          <Text size="sm" c="dimmed">
            <code>pilothouse apply fleet.yaml</code> applies it, with the same <code>--data</code> or{' '}
            <code>--database-url</code> as the server. <code>--dry-run</code> lists the changes only.
          </Text>
        </Stack>
      </div>
    </Panel>
  );
}

function Example({ title, text }: { title: string; text: string }) {
  return (
    <div>
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <Text size="sm" fw={600}>
          {title}
        </Text>
        <CopyIconButton value={text} label={`Copy: ${title}`} />
      </Group>
      <ScrollRegion className={classes.code} aria-label={title}>
        <pre>{text}</pre>
      </ScrollRegion>
    </div>
  );
}

/** A service with the smallest settings that its tier allows. */
function renderFleetFile({ id, name, tier }: { id: string; name: string; tier: string }): string {
  const size = ['numReplicas: 2', 'minTotalMemoryGb: 24', 'maxTotalMemoryGb: 48'];
  return [
    'organizations:',
    `  - id: ${id}`,
    // A JSON string is also a YAML string.
    `    name: ${JSON.stringify(name)}`,
    `    tier: ${tier}`,
    '    services:',
    '      - name: reporting',
    '        kind: production',
    ...(tier === 'BASIC' ? [] : size.map((line) => `        ${line}`)),
  ].join('\n');
}
