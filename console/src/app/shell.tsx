import { AppShell, Burger, Group, NavLink, Stack, Text, UnstyledButton, VisuallyHidden } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import type { SessionState } from '../api/session.ts';
import { SearchIcon } from '../parts/layout/icons.tsx';
import { Logo } from '../parts/layout/logo.tsx';
import { useSession, useSessionState } from './context.tsx';
import { listDestinations } from './navigation.ts';
import { NoAccess } from './no-access.tsx';
import classes from './shell.module.css';
import { UsageWarnings } from './usage-warnings.tsx';
import { UserMenu } from './user-menu.tsx';

const CommandPalette = lazy(() => import('./command-palette.tsx'));
const SessionEnded = lazy(() => import('./session-ended.tsx'));
const FreshSignIn = lazy(() => import('./fresh-sign-in.tsx'));

/** Header and navigation around every page. Renders nothing after sign-out. */
export function Shell() {
  const { status, session } = useSessionState();
  return session ? <SignedInShell status={status} /> : null;
}

function SignedInShell({ status }: Pick<SessionState, 'status'>) {
  const session = useSession();
  const { pathname } = useLocation();
  // The menu of small screens closes when the page changes.
  const [menuPath, setMenuPath] = useState<string>();
  const isMenuOpen = menuPath === pathname;
  const [isPaletteOpen, setIsPaletteOpen] = useState(false);
  const main = useFocusOnNewPage(pathname);
  const destinations = listDestinations(session);
  const openPalette = () => setIsPaletteOpen(true);
  useHotkeys([['mod+K', openPalette]], []);

  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 220, breakpoint: 'sm', collapsed: { mobile: !isMenuOpen } }}
      padding={{ base: 'md', sm: 'xl' }}
    >
      <a className="ph-skip" href="#main">
        Skip to main content
      </a>
      <AppShell.Header className={classes.bar}>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap" gap="sm">
          <Group gap="sm" wrap="nowrap" miw={0}>
            <Burger
              opened={isMenuOpen}
              onClick={() => setMenuPath(isMenuOpen ? undefined : pathname)}
              hiddenFrom="sm"
              size="sm"
              aria-label="Navigation"
            />
            <Link to="/" className={classes.brand} aria-label="Pilothouse overview">
              <Logo />
              <Text fw={700} visibleFrom="xs" component="span">
                Pilothouse
              </Text>
            </Link>
            <Text className={classes.organization} truncate title={session.organization.name} component="span">
              {session.organization.name}
            </Text>
          </Group>
          <Group gap="xs" wrap="nowrap">
            <UnstyledButton className={classes.search} onClick={openPalette} aria-keyshortcuts="Control+K Meta+K">
              <SearchIcon size={16} />
              <span className={classes.searchText}>Search or jump to…</span>
              <VisuallyHidden>Open command palette</VisuallyHidden>
              <span className={classes.keys} aria-hidden="true">
                Ctrl K
              </span>
            </UnstyledButton>
            <UserMenu />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar className={classes.bar} p="sm" aria-label="Main">
        <Stack gap={2}>
          {destinations.map(({ to, label, icon: Icon }) => (
            <NavLink
              key={to}
              renderRoot={(props) => <Link to={to} {...props} />}
              label={label}
              leftSection={<Icon />}
              active={to === '/' ? pathname === '/' : pathname === to || pathname.startsWith(`${to}/`)}
              aria-current={pathname === to ? 'page' : undefined}
              className={classes.link}
            />
          ))}
        </Stack>
      </AppShell.Navbar>
      <AppShell.Main id="main" ref={main} tabIndex={-1} className={classes.main}>
        <div className={classes.width}>
          {session.can('openapiKeyCreate') && session.can('usageWarningGetList') && <UsageWarnings />}
          {destinations.length === 0 ? <NoAccess /> : <Outlet />}
        </div>
      </AppShell.Main>
      {isPaletteOpen && (
        <Suspense>
          <CommandPalette onClosed={() => setIsPaletteOpen(false)} />
        </Suspense>
      )}
      <Suspense>
        {status === 'ended' && <SessionEnded />}
        {status === 'stale' && <FreshSignIn />}
      </Suspense>
    </AppShell>
  );
}

/** Moves the focus to a new page, so that keyboards and screen readers start at its top. It stays on a tab of the page. */
function useFocusOnNewPage(pathname: string) {
  const main = useRef<HTMLElement>(null);
  const last = useRef(pathname);
  useEffect(() => {
    const isOnTab = document.activeElement?.closest('[data-keeps-focus]');
    if (last.current !== pathname && !isOnTab) main.current?.focus({ preventScroll: true });
    last.current = pathname;
  }, [pathname]);
  return main;
}
