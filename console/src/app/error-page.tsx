import { type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { ErrorNotice } from '../parts/layout/error-notice.tsx';
import { Page } from '../parts/layout/page.tsx';
import { isStaleScript } from '../parts/layout/part-boundary.tsx';

/** For errors that no page or part of it handles. */
export function ErrorPage({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  // The session check may have failed too, so all route loaders run again.
  const retry = async () => {
    await router.invalidate();
    reset();
  };
  const isStale = isStaleScript(error);
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
