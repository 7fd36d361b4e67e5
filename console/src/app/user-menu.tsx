import { ActionIcon, Menu, Text, useMantineColorScheme } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { CheckIcon, DotsIcon, HalfIcon, MoonIcon, SignOutIcon, SunIcon } from '../parts/layout/icons.tsx';
import { notifyError } from '../parts/messages/notifications.ts';
import { useDependencies, useSession } from './context.tsx';

const COLOR_SCHEMES = [
  { value: 'light', label: 'Light', icon: SunIcon },
  { value: 'dark', label: 'Dark', icon: MoonIcon },
  { value: 'auto', label: 'System', icon: HalfIcon },
] as const;

export function useSignOut(): () => Promise<void> {
  const { sessions } = useDependencies();
  const queries = useQueryClient();
  const navigate = useNavigate();
  return async () => {
    try {
      await sessions.signOut();
      queries.clear();
      await navigate({ to: '/sign-in' });
    } catch (error) {
      notifyError('Could not sign out', error);
    }
  };
}

export function UserMenu() {
  const { credential, kind } = useSession();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const signOut = useSignOut();
  return (
    <Menu position="bottom-end" width={230} shadow="md">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size={36} aria-label="Account and appearance">
          <DotsIcon />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label component="div">
          <Text size="xs" c="dimmed">
            Signed in with {kind === 'token' ? 'dashboard token' : 'API key'}
          </Text>
          <Text size="sm" fw={600} c="var(--mantine-color-text)" style={{ overflowWrap: 'anywhere' }}>
            {credential.name}
          </Text>
          <Text size="xs" c="dimmed">
            {kind === 'token' ? 'Dashboards only' : credential.roles.join(', ')}
          </Text>
        </Menu.Label>
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
        <Menu.Item leftSection={<SignOutIcon size={16} />} onClick={signOut}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
