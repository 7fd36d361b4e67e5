import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { EmptyState } from '../parts/empty-state.tsx';
import { Page } from '../parts/page.tsx';

export function NotFoundPage() {
  return (
    <Page title="Not found">
      <EmptyState
        title="There is no such page"
        action={<Button renderRoot={(props) => <Link to="/" {...props} />}>To the overview</Button>}
      >
        The address may be mistyped, or what it named is gone.
      </EmptyState>
    </Page>
  );
}
