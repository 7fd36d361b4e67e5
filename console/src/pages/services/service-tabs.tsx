import { Link, type LinkProps, useLocation } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import type { Permissions } from '../../api/session.ts';
import { useSession } from '../../app/context.tsx';
import classes from './service-tabs.module.css';

interface Tab {
  to: NonNullable<LinkProps['to']>;
  label: string;
  isVisible?: (permissions: Permissions) => boolean;
}

const TABS: readonly Tab[] = [
  { to: '/services/$id', label: 'Overview' },
  { to: '/services/$id/sql', label: 'SQL', isVisible: ({ can }) => can('sqlRead') },
  { to: '/services/$id/scaling', label: 'Scaling' },
  {
    to: '/services/$id/autoscaling',
    label: 'Autoscaling',
    isVisible: ({ can }) => can('instanceAutoscalingGet') && can('instanceAutoscalingHistoryGet'),
  },
  { to: '/services/$id/schedule', label: 'Schedule', isVisible: ({ can }) => can('scalingScheduleGet') },
  { to: '/services/$id/backups', label: 'Backups', isVisible: ({ can }) => can('backupConfigurationGet') },
  { to: '/services/$id/access', label: 'Access' },
  { to: '/services/$id/logs', label: 'Logs', isVisible: ({ can }) => can('instanceLogGet') },
  { to: '/services/$id/history', label: 'History', isVisible: ({ can }) => can('activityGetList') },
];

/** Each tab has its own address and its own script. On small screens the row scrolls. */
export function ServiceTabs({ id }: { id: string }) {
  const session = useSession();
  const { pathname } = useLocation();
  const row = useRef<HTMLElement>(null);
  useEffect(() => {
    const links = row.current?.querySelectorAll('a') ?? [];
    const selected = [...links].find((link) => link.pathname.endsWith(pathname));
    selected?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [pathname]);
  return (
    <nav ref={row} className={classes.tabs} aria-label="Service" data-keeps-focus>
      {TABS.filter(({ isVisible }) => isVisible?.(session) ?? true).map(({ to, label }) => (
        <Link key={to} to={to} params={{ id }} activeOptions={{ exact: true }} className={classes.tab}>
          {label}
        </Link>
      ))}
    </nav>
  );
}
