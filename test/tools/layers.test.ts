import { describe, expect, it } from 'vitest';
import { findLayerViolations } from '../../tools/layers.mjs';

describe('the imports between rooms', () => {
  const listAllowed = [
    ['src/management/keys/keys.ts', '../../kernel/errors.ts'],
    ['src/management/keys/keys.ts', '../audit/audit.ts'],
    ['src/observability/charts/routes.ts', '../../platform/http/guard.ts'],
    ['src/operations/fleet/fleet.ts', '../../management/services/store.ts'],
    ['src/server/mount.ts', '../management/keys/routes.ts'],
    ['src/platform/engine/open.ts', '../listener/listener.ts'],
  ];
  it.each(listAllowed)('%s may import %s', (path = '', name = '') => {
    expect(findLayerViolations(path, [name])).toEqual([]);
  });

  const listRejected = [
    ['src/kernel/errors.ts', '../platform/state/state.ts', 'a room imports only the rooms before it'],
    ['src/management/keys/keys.ts', '../../running/drivers/upstream.ts', 'a room imports only the rooms before it'],
    ['src/management/audit/audit.ts', '../keys/keys.ts', 'a folder imports only the folders before it'],
    ['src/platform/http/app.ts', '../state/state.ts', 'platform/http may import tls'],
    ['src/management/keys/keys.ts', '../../platform/http/guard.ts', 'only routes use HTTP'],
    ['src/management/services/services.ts', '../keys/store.ts', 'stores are private to their domain'],
    ['src/management/services/routes.ts', '../keys/routes.ts', 'routes are private to their domain'],
    ['src/cli/management/keys.ts', '../../management/keys/store.ts', 'the CLI uses operations'],
    ['src/cli/management/keys.ts', '../../main.ts', 'nothing imports it'],
    ['src/management/keys/keys.ts', './missing.ts', 'does not exist'],
    ['src/management/keys/keys.ts', 'kysely', 'only state/ and store files may import it'],
    ['src/utilities/keys.ts', 'kysely', 'is not a room'],
    ['console/src/main.tsx', '../../src/kernel/errors.ts', 'through its generated client only'],
  ];
  it.each(listRejected)('%s must not import %s', (path = '', name = '', reason = '') => {
    expect(findLayerViolations(path, [name])).toEqual([expect.stringContaining(reason)]);
  });
});
