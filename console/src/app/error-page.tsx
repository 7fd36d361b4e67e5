import { type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { formatError } from '../api/errors.ts';
import { ErrorNotice } from '../parts/layout/error-notice.tsx';
import { Page } from '../parts/layout/page.tsx';

/** For errors that no page handles. After an upgrade of the server the old scripts are gone; reloading fetches the new ones. */
export function ErrorPage({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  // The session check may have failed too, so all route loaders run again.
  const retry = async () => {
    await router.invalidate();
    reset();
  };
  const isStale = /dynamically imported module|module script/i.test(formatError(error));
  return (
    <Page title="Could not load this page">
      {isStale ? (
        <ErrorNotice
          error={new Error('A new version of the console is available.')}
          title="Reload the page"
          retry={() => window.location.reload()}
        />
      ) : (
        <ErrorNotice error={error} title="Something went wrong" retry={retry} />
      )}
    </Page>
  );
}
