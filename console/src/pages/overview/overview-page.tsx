import { Button, SimpleGrid, Stack } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { useSession } from '../../app/context.tsx';
import { BudgetsAtAGlance } from '../../parts/costs/budgets-glance.tsx';
import { Page } from '../../parts/layout/page.tsx';
import { ExpiringKeys } from './expiring-keys.tsx';
import { FiringAlerts } from './firing-alerts.tsx';
import { GetStarted } from './get-started.tsx';
import { MonthFigures } from './month-figures.tsx';
import { RecentActivity } from './recent-activity.tsx';
import { ServicesAtAGlance } from './services-at-a-glance.tsx';

/** `SCALE` → "Scale". */
const formatTier = (tier: string): string => tier.charAt(0) + tier.slice(1).toLowerCase();

export function OverviewPage() {
  const { organization, canSeeDashboards } = useSession();
  const [isDismissed, setDismissed] = useLocalStorage({
    key: 'pilothouse-get-started-dismissed',
    defaultValue: false,
    getInitialValueInEffect: false,
  });
  return (
    <Page
      title="Overview"
      subtitle={`${organization.name} · ${formatTier(organization.tier)} tier`}
      actions={
        isDismissed && (
          <Button variant="subtle" color="gray" size="compact-sm" onClick={() => setDismissed(false)}>
            Get started
          </Button>
        )
      }
    >
      <Stack gap="lg">
        {!isDismissed && <GetStarted onDismiss={() => setDismissed(true)} />}
        <MonthFigures />
        <ServicesAtAGlance />
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg" style={{ alignItems: 'start' }}>
          <RecentActivity />
          <Stack gap="lg">
            {canSeeDashboards && <FiringAlerts />}
            <BudgetsAtAGlance />
            <ExpiringKeys />
          </Stack>
        </SimpleGrid>
      </Stack>
    </Page>
  );
}
