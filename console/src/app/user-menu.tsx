import { ActionIcon, Menu, Text, useMantineColorScheme } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { CheckIcon, DotsIcon, HalfIcon, MembersIcon, MoonIcon, SignOutIcon, SunIcon } from '../parts/layout/icons.tsx';
import { notifyError } from '../parts/messages/notifications.ts';
import { useApi, useDependencies, useSession } from './context.tsx';
import { openPage } from './open-page.ts';

const OwnSessions = lazy(() => import('./own-sessions.tsx'));

const COLOR_SCHEMES = [
  { value: 'light', label: 'Light', icon: SunIcon },
  { value: 'dark', label: 'Dark', icon: MoonIcon },
  { value: 'auto', label: 'System', icon: HalfIcon },
] as const;

const KINDS = { member: 'Signed in as', key: 'Signed in with API key', token: 'Signed in with dashboard token' };

/** Signs out here, and then at the identity provider if it has a page for that. */
export function useSignOut(): () => Promise<void> {
  const { sessions } = useDependencies();
  const queries = useQueryClient();
  const navigate = useNavigate();
  return async () => {
    try {
      const providerUrl = await sessions.signOut();
      queries.clear();
      if (providerUrl === undefined) await navigate({ to: '/sign-in' });
      else window.location.assign(providerUrl);
    } catch (error) {
      notifyError('Could not sign out', error);
    }
  };
}

export function UserMenu() {
  const { credential, kind, organizations } = useSession();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const [showsSessions, setShowsSessions] = useState(false);
  const signOut = useSignOut();
  return (
    <>
      <Menu position="bottom-end" width={250} shadow="md">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" size={36} aria-label="Account and appearance">
            <DotsIcon />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown mah="calc(100dvh - 70px)" style={{ overflowY: 'auto' }}>
          <Menu.Label component="div">
            <Text size="xs" c="dimmed">
              {KINDS[kind]}
            </Text>
            <Text size="sm" fw={600} c="var(--mantine-color-text)" style={{ overflowWrap: 'anywhere' }}>
              {credential.name}
            </Text>
            <Text size="xs" c="dimmed">
              {kind === 'token' ? 'Dashboards only' : credential.roles.join(', ')}
            </Text>
          </Menu.Label>
          {organizations.length > 1 && <OrganizationItems />}
          <Menu.Divider />
          {COLOR_SCHEMES.map(({ value, label, icon: Icon }) => (
            <Menu.Item
              key={value}
              leftSection={<Icon size={16} />}
              rightSection={colorScheme === value ? <CheckIcon size={14} /> : undefined}
              aria-current={colorScheme === value}
              closeMenuOnClick={false}
              onClick={() => setColorScheme(value)}
            >
              {label}
            </Menu.Item>
          ))}
          <Menu.Divider />
          <Menu.Item leftSection={<MembersIcon size={16} />} onClick={() => setShowsSessions(true)}>
            Your sessions
          </Menu.Item>
          <Menu.Item leftSection={<SignOutIcon size={16} />} onClick={signOut}>
            Sign out
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {showsSessions && (
        <Suspense>
          <OwnSessions onClose={() => setShowsSessions(false)} />
        </Suspense>
      )}
    </>
  );
}

/** The other organizations of the person. After a switch, the whole console loads again. */
function OrganizationItems() {
  const api = useApi();
  const { base } = useDependencies();
  const { organizations, organizationId: current } = useSession();
  const switchTo = async (organizationId: string) => {
    try {
      await api.consoleSessionSwitch({ body: { organizationId } });
      openPage(base, '/');
    } catch (error) {
      notifyError('Could not switch the organization', error);
    }
  };
  return (
    <>
      <Menu.Divider />
      <Menu.Label>Organization</Menu.Label>
      {organizations.map(({ id, name }) => (
        <Menu.Item
          key={id}
          rightSection={id === current ? <CheckIcon size={14} /> : undefined}
          aria-current={id === current}
          style={{ overflowWrap: 'anywhere' }}
          onClick={() => id !== current && void switchTo(id)}
        >
          {name}
        </Menu.Item>
      ))}
    </>
  );
}
