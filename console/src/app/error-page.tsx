import { type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { formatError } from '../api/errors.ts';
import { ErrorNotice } from '../parts/error-notice.tsx';
import { Page } from '../parts/page.tsx';

/** For what no page caught itself. A new build on the server takes old scripts away: loading again brings the new ones. */
export function ErrorPage({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  // The guard may have failed too, so the whole way to the page is gone again.
  const retry = async () => {
    await router.invalidate();
    reset();
  };
  const isStale = /dynamically imported module|module script/i.test(formatError(error));
  return (
    <Page title="This page did not load">
      {isStale ? (
        <ErrorNotice
          error={new Error('The console was updated on the server.')}
          title="Load it again"
          retry={() => window.location.reload()}
        />
      ) : (
        <ErrorNotice error={error} title="Something went wrong" retry={retry} />
      )}
    </Page>
  );
}
