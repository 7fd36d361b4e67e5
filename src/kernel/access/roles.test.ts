import { describe, expect, it } from 'vitest';
import {
  ADMINS,
  DASHBOARD_READERS,
  DASHBOARD_WRITERS,
  getDashboardAccess,
  KEY_ROLES,
  READERS,
  type Role,
  TOKEN_ACCESSES,
} from './roles.ts';

describe('roles', () => {
  it('K5: keys and tokens have separate roles', () => {
    expect(KEY_ROLES).toEqual(['admin', 'developer', 'query_endpoints']);
    expect(TOKEN_ACCESSES).toEqual(['read', 'write', 'ingest']);
  });

  it('admit to the management interface by key role only', () => {
    expect(READERS).toEqual(['admin', 'developer']);
    expect(ADMINS).toEqual(['admin']);
  });

  it('admit to dashboards by key role or token access', () => {
    expect(DASHBOARD_READERS).toEqual(['admin', 'developer', 'read', 'write']);
    expect(DASHBOARD_WRITERS).toEqual(['admin', 'write']);
  });

  it.each<[Role[], string]>([
    [['admin'], 'write'],
    [['query_endpoints', 'admin'], 'write'],
    [['developer', 'query_endpoints'], 'read'],
    [['query_endpoints'], 'none'],
    [['write'], 'write'],
    [['read'], 'read'],
    [[], 'none'],
  ])('%j has the dashboard access %s', (roles, access) => {
    expect(getDashboardAccess(roles)).toBe(access);
  });
});
