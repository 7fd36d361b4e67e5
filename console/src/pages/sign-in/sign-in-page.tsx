import { Paper, Stack, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { Suspense } from 'react';
import { Logo } from '../../parts/layout/logo.tsx';
import classes from './sign-in.module.css';
import { SignInForm } from './sign-in-form.tsx';

const route = getRouteApi('/sign-in');

export function SignInPage() {
  useDocumentTitle('Sign in · Pilothouse');
  const { to } = route.useSearch();
  const navigate = useNavigate();
  return (
    <main className={classes.page}>
      <Stack gap="lg" w="100%" maw={400}>
        <Stack gap={6} align="center" ta="center">
          <Logo size={52} />
          <Title order={1}>Pilothouse</Title>
          <Text c="dimmed">Control plane for ClickHouse-style fleets</Text>
        </Stack>
        <Paper className={classes.card}>
          <Suspense fallback={<div className={classes.waiting} />}>
            <SignInForm onSignedIn={() => navigate({ href: to ?? '/', replace: true })} />
          </Suspense>
        </Paper>
        <Text size="sm" c="dimmed" ta="center">
          No key? An admin creates one under Keys, or with <code>pilothouse key create</code> on the server.
        </Text>
      </Stack>
    </main>
  );
}
