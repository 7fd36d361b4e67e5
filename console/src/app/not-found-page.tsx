import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { EmptyState } from '../parts/layout/empty-state.tsx';
import { Page } from '../parts/layout/page.tsx';

export function NotFoundPage() {
  return (
    <Page title="Page not found">
      <EmptyState
        title="This page does not exist"
        action={<Button renderRoot={(props) => <Link to="/" {...props} />}>Go to overview</Button>}
      >
        Check the URL. The resource may have been deleted.
      </EmptyState>
    </Page>
  );
}
