import { Anchor, Paper, Stack, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { useState } from 'react';
import type { ConsoleSetupResult } from '../../api/generated.ts';
import { useDependencies } from '../../app/context.tsx';
import { Logo } from '../../parts/layout/logo.tsx';
import classes from '../sign-in/sign-in.module.css';
import { SetupDone } from './setup-done.tsx';
import { SetupForm } from './setup-form.tsx';

/** The first run: creates the organization and its admin key, and shows the key once. */
export function SetupPage() {
  const { base } = useDependencies();
  const [created, setCreated] = useState<ConsoleSetupResult>();
  const title = created ? `${created.organization.name} is ready` : 'Set up Pilothouse';
  useDocumentTitle(`${title} · Pilothouse`);
  return (
    <main className={classes.page}>
      <Stack gap="lg" w="100%" maw={520}>
        <Stack gap={6} align="center" ta="center">
          <Logo size={52} />
          <Title order={1}>{title}</Title>
          <Text c="dimmed">
            {created
              ? 'Save the admin key and the fleet file before you continue.'
              : 'This server has no organization yet. Create the first one and its admin key.'}
          </Text>
        </Stack>
        <Paper className={classes.card}>
          {created ? <SetupDone created={created} /> : <SetupForm onCreated={setCreated} />}
        </Paper>
        {!created && (
          <Text size="sm" c="dimmed" ta="center">
            Already set up? {/* Loads the page again: it may have changed since. */}
            <Anchor href={`${base}/sign-in`} underline="always">
              Sign in
            </Anchor>
          </Text>
        )}
      </Stack>
    </main>
  );
}
