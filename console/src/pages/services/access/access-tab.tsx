import { Button, Text } from '@mantine/core';
import { useState } from 'react';
import { useApi, useSession } from '../../../app/context.tsx';
import { ConfirmDialog } from '../../../parts/forms/confirm-dialog.tsx';
import { Copyable, Fact, Facts } from '../../../parts/layout/facts.tsx';
import { Panel } from '../../../parts/layout/panel.tsx';
import { useService } from '../service-context.tsx';
import classes from '../services.module.css';
import { findEndpoints } from './connection-strings.ts';
import { EditServiceDialog } from './edit-service-dialog.tsx';
import { PasswordDialog } from './password-dialog.tsx';
import { QueryEndpointPanel } from './query-endpoint.tsx';

/** Who may connect: the password, the addresses and the query endpoint. */
export function AccessTab() {
  const service = useService();
  const { can } = useSession();
  const [isEditing, setIsEditing] = useState(false);
  const addresses = service.ipAccessList ?? [];
  return (
    <div className={classes.panels}>
      <PasswordPanel />
      <Panel
        title="IP access list"
        aside={
          can('instanceUpdate') && (
            <Button size="compact-sm" variant="default" onClick={() => setIsEditing(true)}>
              Edit list
            </Button>
          )
        }
      >
        {addresses.length === 0 ? (
          <Text size="sm" c="dimmed">
            Any address may connect.
          </Text>
        ) : (
          <Facts>
            {addresses.map(({ source, description }) => (
              <Fact key={source} label={source}>
                {description || '–'}
              </Fact>
            ))}
          </Facts>
        )}
        {isEditing && <EditServiceDialog service={service} onClose={() => setIsEditing(false)} />}
      </Panel>
      {can('instanceQueryEndpointGet') && <QueryEndpointPanel service={service} />}
    </div>
  );
}

function PasswordPanel() {
  const service = useService();
  const api = useApi();
  const { organizationId, can } = useSession();
  const [isConfirming, setIsConfirming] = useState(false);
  const [password, setPassword] = useState<string>();
  const { http, native } = findEndpoints(service) ?? {};
  return (
    <Panel
      title="Password"
      aside={
        can('instancePasswordUpdate') && (
          <Button size="compact-sm" variant="default" onClick={() => setIsConfirming(true)}>
            Reset password
          </Button>
        )
      }
    >
      <Facts>
        <Fact label="User">{http?.username ?? 'default'}</Fact>
        <Fact label="Password">Only a hash is stored, so it cannot be shown again</Fact>
        <Fact label="Host and port">
          {http && <Copyable value={`${http.host}:${http.port}`} label="Copy host and port" />}
        </Fact>
        <Fact label="Protocol">{http?.protocol}</Fact>
        {native && (
          <Fact label="Native protocol">
            <Copyable value={`${native.host}:${native.port}`} label="Copy host and port of the native protocol" />
          </Fact>
        )}
      </Facts>
      <ConfirmDialog
        opened={isConfirming}
        title="Reset password"
        action="Reset password"
        isDangerous
        onConfirm={async () => {
          const result = await api.instancePasswordUpdate({ organizationId, serviceId: service.id, body: {} });
          setPassword(result.password);
        }}
        onClose={() => setIsConfirming(false)}
      >
        The user default of <b>{service.name}</b> gets a new password. The old one stops working.
      </ConfirmDialog>
      {password !== undefined && (
        <PasswordDialog
          title="New password"
          service={service}
          password={password}
          onSaved={() => setPassword(undefined)}
        />
      )}
    </Panel>
  );
}
