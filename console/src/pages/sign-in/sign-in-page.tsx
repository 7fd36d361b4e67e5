import { Paper, Stack, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { type ReactNode, Suspense } from 'react';
import { useConfig } from '../../app/context.tsx';
import { Logo } from '../../parts/layout/logo.tsx';
import classes from './sign-in.module.css';
import { SignInOptions } from './sign-in-options.tsx';
import { SignInProblem } from './sign-in-problem.tsx';

const route = getRouteApi('/sign-in');

export function SignInPage() {
  useDocumentTitle('Sign in · Pilothouse');
  const { to = '/', problem, account } = route.useSearch();
  const navigate = useNavigate();
  return (
    <SignInFrame help={<Help />}>
      <Stack gap="md">
        {problem !== undefined && <SignInProblem problem={problem} account={account} />}
        <SignInOptions returnTo={to} onSignedIn={() => navigate({ href: to, replace: true })} />
      </Stack>
    </SignInFrame>
  );
}

/** The pages that need no session: the name of the product above a card. */
export function SignInFrame({ children, help }: { children: ReactNode; help?: ReactNode }) {
  return (
    <main className={classes.page}>
      <Stack gap="lg" w="100%" maw={400}>
        <Stack gap={6} align="center" ta="center">
          <Logo size={52} />
          <Title order={1}>Pilothouse</Title>
          <Text c="dimmed">Control plane for ClickHouse-style fleets</Text>
        </Stack>
        <Paper className={classes.card}>
          <Suspense fallback={<div className={classes.waiting} />}>{children}</Suspense>
        </Paper>
        <Suspense>{help}</Suspense>
      </Stack>
    </main>
  );
}

function Help() {
  const { provider, allowsKeys } = useConfig();
  if (provider || !allowsKeys) return null;
  return (
    <Text size="sm" c="dimmed" ta="center">
      No key? An administrator creates one under Keys, or with <code>pilothouse key create</code> on the server.
    </Text>
  );
}
