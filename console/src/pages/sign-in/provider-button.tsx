import { Button } from '@mantine/core';
import { useDependencies } from '../../app/context.tsx';
import classes from './sign-in.module.css';

interface Props {
  host: string;
  /** The page of the console to open afterwards. */
  returnTo: string;
  /** The provider asks the person again, also if they are signed in there. */
  isFresh?: boolean;
  /** Opens the provider in a new tab, so that this page stays as it is. */
  isInNewTab?: boolean;
}

/** A link to the identity provider, which sends the browser back to the console. */
export function ProviderButton({ host, returnTo, isFresh = false, isInNewTab = false }: Props) {
  const { base } = useDependencies();
  const query = new URLSearchParams({ ...(isFresh ? { fresh: '1' } : {}), returnTo });
  return (
    <Button
      component="a"
      size="md"
      fullWidth
      classNames={{ root: classes.wide, label: classes.wideLabel }}
      href={`${base}/console/sign-in/oidc?${query}`}
      {...(isInNewTab ? { target: '_blank' } : {})}
      data-autofocus
    >
      Sign in with {host}
    </Button>
  );
}
