import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { createDatabase } from '../../../test/support/postgres.ts';
import { readPlans } from '../../../test/support/query-plan.ts';
import { onEachStore } from '../../../test/support/server.ts';
import { SORTS } from '../../kernel/page.ts';
import { systemClock } from '../../kernel/time/clock.ts';
import { listCandidates } from '../../management/audit/store.ts';
import { listBudgets, listUnqueuedAlerts } from '../../management/billing/budgets/store.ts';
import { sumComputeCost } from '../../management/billing/forecast/store.ts';
import { listClickpipes, listEntityCosts } from '../../management/billing/store.ts';
import { listKeyIdsWithRole, listKeyPage, listKeysWithRole } from '../../management/keys/store.ts';
import { listChannels } from '../../management/notifications/store.ts';
import { listRoles } from '../../management/roles/store.ts';
import { listServicePage, listServicesById, listWarehouses } from '../../management/services/store.ts';
import { listChanges } from '../../observability/alerts/evaluation/evaluation-store.ts';
import { listStoredAnnotations } from '../../observability/annotations/store.ts';
import { listExcess } from '../../observability/dashboards/deletion-store.ts';
import { listProvisioned, listStored } from '../../observability/dashboards/store.ts';
import { listVersions } from '../../observability/dashboards/version-store.ts';
import { listLinks } from '../../observability/links/store.ts';
import { listSources } from '../../observability/sources/store.ts';
import { listTokens } from '../../observability/tokens/store.ts';
import { listDecisionPage, listSamplesByHour } from '../../running/autoscaling/store.ts';
import { listBackups, listPending } from '../../running/backups/store.ts';
import { listHistory } from '../../running/queries/history-store.ts';
import { listSavedQueries } from '../../running/queries/saved-query-store.ts';
import { findEarlierAttempt, listDueNotifications, listNotifications } from '../notifications/store.ts';
import { openState } from './open.ts';
import type { State } from './state.ts';
import type { Db } from './tables.ts';

type Run = (db: Db) => Promise<unknown>;

const organization = '7c0e4a34-3c0e-4f0b-9c4e-1d2f3a4b5c6d';
const service = '0d8f2f2e-6b1a-4b0e-8f57-2b6d3c1a9e11';
const range = { fromMs: undefined, toMs: undefined, fromId: undefined, beforeId: 'b' };
const activity = (condition: object) => (db: Db) => listCandidates(db, organization, [condition], range, 10);

const notification = { organizationId: organization, eventId: 'e', createdAt: 1 };

/** The table instead of the index if it is the primary key. */
const LISTS: [name: string, index: RegExp, run: Run][] = [
  ...SORTS.flatMap((sort): typeof LISTS => {
    const isByName = sort.endsWith('name');
    const query = { sort, limit: 10, after: [isByName ? 'a' : 1, 'b'] };
    const page = (run: typeof listKeyPage): Run => {
      return async (db) => [await run(db, organization, query), await run(db, organization, { ...query, after: [] })];
    };
    return [
      [`keys by ${sort}`, isByName ? /api_keys_by_name/ : /api_keys_by_time/, page(listKeyPage)],
      [
        `services by ${sort}`,
        isByName ? /services_by_name/ : /services_by_organization/,
        page(listServicePage as never),
      ],
    ];
  }),
  ['keys with a role', /key_roles/, (db) => listKeysWithRole(db, organization, 'a', 10)],
  ['ids of keys with a role', /key_roles/, (db) => listKeyIdsWithRole(db, organization, 'a', 10)],
  ['backups of a service', /service_backups_by_time/, (db) => listBackups(db, organization, service)],
  ['backups to make', /service_backups_pending/, (db) => listPending(db, 'a')],
  ['tokens', /dashboard_tokens_by_time/, (db) => listTokens(db, organization)],
  [
    'statements of a credential',
    /sql_history/,
    (db) => listHistory(db, { organizationId: organization, serviceId: service, credentialId: 'a' }, 10),
  ],
  [
    'saved queries',
    /saved_queries_by_time/,
    (db) => listSavedQueries(db, { organizationId: organization, serviceId: service }, { limit: 10, after: [1, 'a'] }),
  ],
  ['links', /dashboard_links_by_time/, (db) => listLinks(db, organization)],
  [
    'annotations',
    /annotations_by_time/,
    (db) => listStoredAnnotations(db, organization, { startMs: 1, endMs: 2 }, { dashboardId: undefined, limit: 10 }),
  ],
  ['sources', /dashboard_sources/, (db) => listSources(db, organization)],
  ['dashboards', /dashboards/, (db) => listStored(db, organization)],
  ['versions', /dashboard_versions/, (db) => listVersions(db, organization, 'a')],
  ['roles', /custom_roles/, (db) => listRoles(db, organization)],
  ['budgets', /budgets/, (db) => listBudgets(db, organization)],
  ['channels', /channels/, (db) => listChannels(db, organization, { limit: 10, offset: 0 })],
  [
    'notifications',
    /notifications_by_time/,
    (db) => listNotifications(db, organization, { limit: 10, before: { createdAt: 1, id: 'b' } }),
  ],
  [
    'notifications of a subject',
    /notifications_by_subject/,
    (db) => listNotifications(db, organization, { limit: 10, subjectId: 'a', before: { createdAt: 1, id: 'b' } }),
  ],
  ['changes of alerts', /alert_evaluations_changes/, (db) => listChanges(db, organization, { fromMs: 1, toMs: 2 }, 10)],
  ['activities', /activities/, (db) => listCandidates(db, organization, undefined, range, 10)],
  ['activities by type', /activities_by_type/, activity({ type: 'key_create' })],
  ['activities by actor', /activities_by_actor_id/, activity({ actor_id: 'a' })],
  ['activities by resource', /activities_by_resource/, activity({ resource_id: 'a' })],
  [
    'decisions',
    /autoscaling_decisions/,
    (db) => listDecisionPage(db, organization, service, { limit: 9, after: ['b'] }),
  ],
  ['load', /service_load/, (db) => listSamplesByHour(db, organization, service, 0, 1)],
  [
    'costs of an entity',
    /usage_costs_by_entity/,
    (db) => listEntityCosts(db, organization, { entityType: 'service', entityId: service }, '2026-10-01'),
  ],
];

/** Few rows. */
const LOOKUPS: typeof LISTS = [
  ['dashboards of the folder', /dashboards_provisioned/, listProvisioned],
  ['services by id', /services/, (db) => listServicesById(db, organization, [service, organization])],
  ['services of a warehouse', /services_by_warehouse/, (db) => listWarehouses(db, organization, [service])],
  [
    'compute cost',
    /usage_costs_by_entity/,
    (db) => sumComputeCost(db, organization, service, { from: '2026-10-01', to: '2026-10-31' }),
  ],
  ['deleted dashboards', /deleted_dashboards_by_time/, (db) => listExcess(db, organization)],
  ['clickpipes', /usage_costs_by_entity/, (db) => listClickpipes(db, organization, [service])],
  ['alerts of an earlier version', /budget_notices_due/, (db) => listUnqueuedAlerts(db, 10)],
  [
    'earlier notifications of an event',
    /notifications_pending/,
    (db) => findEarlierAttempt(db, { ...notification, channelId: 'a' }),
  ],
  ['notifications that are due', /notifications_due/, (db) => listDueNotifications(db, 1, 10)],
];

onEachStore('a query', (store) => {
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-test-'));
  let database: { url: string; drop(): Promise<void> } | undefined;
  let state: State;
  const open = () => openState({ dataDirectory: directory, databaseUrl: database?.url, clock: systemClock });

  beforeAll(async () => {
    database = store === 'postgres' ? await createDatabase(inject('postgresUrl')) : undefined;
    state = await open();
  });

  afterAll(async () => {
    await state?.close();
    await database?.drop();
    rmSync(directory, { recursive: true, force: true });
  });

  it.each(LISTS)('for %s reads one range of an index, in its order', async (_, index, run) => {
    for (const plan of await readPlans(state, open, run)) {
      expect(plan).toMatch(index);
      expect(plan).not.toMatch(/Sort|Seq Scan|TEMP B-TREE|SCAN /);
    }
  });

  it.each(LOOKUPS)('for %s reads no other rows', async (_, index, run) => {
    for (const plan of await readPlans(state, open, run)) {
      expect(plan).toMatch(index);
      // Some of the indexes have only the rows that are wanted.
      expect(plan).not.toMatch(
        /Seq Scan|SCAN (?!\w+ USING INDEX (dashboards_provisioned|budget_notices_due|notifications_due))/,
      );
    }
  });
});
