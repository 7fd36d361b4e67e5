import { AppShell, Burger, Group, NavLink, Stack, Text, UnstyledButton, VisuallyHidden } from '@mantine/core';
import { useDisclosure, useHotkeys } from '@mantine/hooks';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { SearchIcon } from '../parts/icons.tsx';
import { Logo } from '../parts/logo.tsx';
import { useSession, useSessionState } from './context.tsx';
import { listDestinations } from './navigation.ts';
import { NoAccess } from './no-access.tsx';
import classes from './shell.module.css';
import { UserMenu } from './user-menu.tsx';

const Palette = lazy(() => import('./command-palette.tsx'));
const SessionEnded = lazy(() => import('./session-ended.tsx'));

/** What stands around every page. Nothing of it is drawn once somebody has signed out. */
export function Shell() {
  const { status } = useSessionState();
  return status === 'signed-in' || status === 'ended' ? <SignedInShell isEnded={status === 'ended'} /> : null;
}

function SignedInShell({ isEnded }: { isEnded: boolean }) {
  const session = useSession();
  const { pathname } = useLocation();
  const [isMenuOpen, menu] = useDisclosure(false);
  const [isPaletteWanted, setIsPaletteWanted] = useState(false);
  const main = useFocusOnNewPage(pathname);
  const destinations = listDestinations(session);
  const openPalette = () => setIsPaletteWanted(true);
  useHotkeys([['mod+K', openPalette]], []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the menu of a phone closes when the page changes
  useEffect(menu.close, [pathname]);

  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 220, breakpoint: 'sm', collapsed: { mobile: !isMenuOpen } }}
      padding={{ base: 'md', sm: 'xl' }}
    >
      <a className="ph-skip" href="#main">
        Skip to the page
      </a>
      <AppShell.Header className={classes.bar}>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap" gap="sm">
          <Group gap="sm" wrap="nowrap" miw={0}>
            <Burger opened={isMenuOpen} onClick={menu.toggle} hiddenFrom="sm" size="sm" aria-label="Navigation" />
            <Link to="/" className={classes.brand} aria-label="Pilothouse, overview">
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
              <VisuallyHidden>Open the command palette</VisuallyHidden>
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
        <div className={classes.width}>{destinations.length === 0 ? <NoAccess /> : <Outlet />}</div>
      </AppShell.Main>
      {isPaletteWanted && (
        <Suspense>
          <Palette onClosed={() => setIsPaletteWanted(false)} />
        </Suspense>
      )}
      {isEnded && (
        <Suspense>
          <SessionEnded />
        </Suspense>
      )}
    </AppShell>
  );
}

/** A new page takes the focus, so that keyboard and screen reader go on from its beginning. */
function useFocusOnNewPage(pathname: string) {
  const main = useRef<HTMLElement>(null);
  const last = useRef(pathname);
  useEffect(() => {
    if (last.current !== pathname) main.current?.focus({ preventScroll: true });
    last.current = pathname;
  }, [pathname]);
  return main;
}
