import { Box, Group, Stack, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { PartBoundary } from './part-boundary.tsx';

interface Props {
  title: string;
  /** Next to the title. */
  badges?: ReactNode;
  /** One line under the title. */
  subtitle?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

/** Page title, also used as the document title, with actions. */
export function Page({ title, badges, subtitle, actions, children }: Props) {
  useDocumentTitle(`${title} · Pilothouse`);
  return (
    <Stack gap="lg">
      <Group justify="space-between" align="flex-start" gap="sm" mih={40}>
        <Box miw={0}>
          <Group gap="sm" align="center">
            <Title order={1} style={{ overflowWrap: 'anywhere' }}>
              {title}
            </Title>
            {badges}
          </Group>
          {subtitle && (
            <Text c="dimmed" size="sm" mt={2}>
              {subtitle}
            </Text>
          )}
        </Box>
        {actions && <Group gap="xs">{actions}</Group>}
      </Group>
      <PartBoundary>{children}</PartBoundary>
    </Stack>
  );
}
