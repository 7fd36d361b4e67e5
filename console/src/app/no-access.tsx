import { Button } from '@mantine/core';
import { EmptyState } from '../parts/empty-state.tsx';
import { Page } from '../parts/page.tsx';
import { useSession } from './context.tsx';
import { useSignOut } from './user-menu.tsx';

/** For a credential that is good, and good for nothing that the console shows. */
export function NoAccess() {
  const { credential } = useSession();
  const signOut = useSignOut();
  return (
    <Page title="Nothing to see with this key">
      <EmptyState
        title={`The key ${credential.name} may not read here`}
        action={<Button onClick={signOut}>Sign in with another key</Button>}
      >
        Its roles ({credential.roles.join(', ')}) admit none of what the console shows. A key with the role developer
        may read, one with the role admin may also change.
      </EmptyState>
    </Page>
  );
}
