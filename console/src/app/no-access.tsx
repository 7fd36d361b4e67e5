import { Button } from '@mantine/core';
import { EmptyState } from '../parts/layout/empty-state.tsx';
import { Page } from '../parts/layout/page.tsx';
import { useSession } from './context.tsx';
import { useSignOut } from './user-menu.tsx';

/** For a valid credential without access to any page. */
export function NoAccess() {
  const { credential, kind } = useSession();
  const isMember = kind === 'member';
  const signOut = useSignOut();
  return (
    <Page title="No access">
      <EmptyState
        title={`${isMember ? '' : 'The key '}${credential.name} cannot access the console`}
        action={<Button onClick={signOut}>{isMember ? 'Sign out' : 'Sign in with another key'}</Button>}
      >
        {isMember ? 'Your' : 'Its'} roles ({credential.roles.join(', ') || 'none'}) do not include console access.{' '}
        {isMember
          ? 'Ask an administrator for the developer role to view, or the admin role to make changes.'
          : 'Use a key with the developer role to view, or the admin role to make changes.'}
      </EmptyState>
    </Page>
  );
}
