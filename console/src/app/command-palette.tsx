import '@mantine/spotlight/styles.css';
import { useMantineColorScheme } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { createSpotlight, Spotlight, type SpotlightActionData } from '@mantine/spotlight';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { foundServicesQuery } from '../api/queries.ts';
import {
  DashboardsIcon,
  HalfIcon,
  MoonIcon,
  PlusIcon,
  SearchIcon,
  ServicesIcon,
  SignOutIcon,
  SunIcon,
} from '../parts/layout/icons.tsx';
import { useApi, useSession } from './context.tsx';
import { listCreations, listDestinations } from './navigation.ts';
import { removeVerb, useServiceCommands } from './service-commands.tsx';
import { useSignOut } from './user-menu.tsx';

const DEBOUNCE_MS = 200;

/** Ctrl+K: pages, services, dashboards, and what can be done with them: "stop analytics", "create key". */
export default function CommandPalette({ onClosed }: { onClosed: () => void }) {
  const session = useSession();
  const api = useApi();
  const navigate = useNavigate();
  const signOut = useSignOut();
  const { setColorScheme } = useMantineColorScheme();
  const [text, setText] = useState('');
  const [search] = useDebouncedValue(removeVerb(text).slice(0, 255), DEBOUNCE_MS);
  const services = useQuery({
    ...foundServicesQuery(api, session.organizationId, search),
    enabled: session.can('instanceGetList'),
    placeholderData: keepPreviousData,
  });
  const dashboards = useQuery({
    queryKey: [session.organizationId, 'dashboards'],
    queryFn: ({ signal }) => api.listDashboards({}, { signal }),
    enabled: session.canSeeDashboards,
  });
  const [[store, palette]] = useState(createSpotlight);
  useEffect(() => palette.open(), [palette]);
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // Mantine selects the first action when the text changes, which is before the results have arrived.
    if (text === '' || list.current?.querySelector('[data-selected]')) return;
    list.current?.querySelector('[data-action]')?.setAttribute('data-selected', 'true');
    store.updateState((state) => ({ ...state, selected: 0 }));
  });
  // The palette closes when an action is chosen; a question of the action stays.
  const isAsking = useRef(false);
  const commands = useServiceCommands({
    onAsk: () => {
      isAsking.current = true;
    },
    onAnswer: onClosed,
  });

  const pages: SpotlightActionData[] = listDestinations(session).map(({ to, label, hint, icon: Icon }) => ({
    id: to,
    label,
    description: hint,
    leftSection: <Icon />,
    onClick: () => void navigate({ to }),
  }));
  const resources: SpotlightActionData[] = [
    ...(services.data ?? []).map(({ id, name, driver }) => ({
      id: `service-${id}`,
      label: name,
      description: driver === 'simulated' ? 'Simulated service' : 'Service',
      leftSection: <ServicesIcon />,
      onClick: () => void navigate({ to: '/services/$id', params: { id } }),
    })),
    ...(dashboards.data ?? []).map(({ id, name }) => ({
      id: `dashboard-${id}`,
      label: name,
      description: 'Dashboard',
      leftSection: <DashboardsIcon />,
      onClick: () => void navigate({ to: '/dashboards/$id', params: { id } }),
    })),
  ];
  const actions: SpotlightActionData[] = [
    // Without a text, they would push everything else out of the list.
    ...(text.trim() === '' ? [] : commands.list(services.data ?? [])),
    ...listCreations(session).map(({ to, label }) => ({
      id: label,
      label,
      leftSection: <PlusIcon />,
      onClick: () => void navigate({ to, hash: 'create' }),
    })),
    { id: 'light', label: 'Light theme', leftSection: <SunIcon />, onClick: () => setColorScheme('light') },
    { id: 'dark', label: 'Dark theme', leftSection: <MoonIcon />, onClick: () => setColorScheme('dark') },
    {
      id: 'auto',
      label: 'System theme',
      leftSection: <HalfIcon />,
      onClick: () => setColorScheme('auto'),
    },
    { id: 'sign-out', label: 'Sign out', leftSection: <SignOutIcon />, onClick: () => void signOut() },
  ];
  return (
    <>
      <Spotlight
        ref={list}
        store={store}
        shortcut={null}
        query={text}
        onQueryChange={setText}
        attributes={{ content: { 'aria-label': 'Command palette' } }}
        actions={[
          { group: 'Pages', actions: pages },
          ...(resources.length > 0 ? [{ group: 'Services and dashboards', actions: resources }] : []),
          { group: 'Actions', actions: actions },
        ]}
        nothingFound="No results"
        highlightQuery
        scrollable
        maxHeight="min(440px, 70vh)"
        limit={30}
        onSpotlightClose={() => !isAsking.current && onClosed()}
        searchProps={{
          leftSection: <SearchIcon />,
          placeholder: 'Search pages, services, dashboards and actions…',
          'aria-label': 'Search',
        }}
      />
      {commands.confirmation}
    </>
  );
}
