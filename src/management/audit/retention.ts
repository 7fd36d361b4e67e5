import { setImmediate } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Clock } from '../../kernel/time/clock.ts';
import { DAY_MS } from '../../kernel/time/clock.ts';
import { toUtcDay } from '../../kernel/time/days.ts';
import type { State } from '../../platform/state/state.ts';
import type { Organizations } from '../organizations/organizations.ts';
import type { Actor } from './activity.ts';
import type { Audit } from './audit.ts';
import { deleteLinks, listLinks, readAnchor, readHead, updateAnchor } from './chain-store.ts';
import { checkLink } from './verification.ts';

interface Options {
  state: State;
  clock: Clock;
  audit: Audit;
  organizations: Organizations;
  log: Pick<Logger, 'info' | 'warn'>;
  /** Undefined keeps everything. */
  days: number | undefined;
}

/** Changes of the organization wait for one transaction. */
const ROWS_PER_TRANSACTION = 500;

const ACTOR: Actor = { type: 'system', id: 'retention', details: 'pilothouse, retention of the audit log' };

/**
 * Removes the oldest activities of each organization, in whole days. The chain continues from the last removed one, and an
 * activity records the removal. Several nodes may do this at the same time: the organization's row is locked.
 */
export function createAuditRetention({ state, clock, audit, organizations, log, days }: Options) {
  /** The number of removed activities; `isBroken` if the next one was changed, removed or inserted by other means. */
  const removeSome = (organizationId: string, before: number): Promise<{ removed: number; isBroken: boolean }> =>
    state.write(async (tx) => {
      await organizations.lock(tx, organizationId);
      const anchor = await readAnchor(tx, organizationId);
      const { sequence: lastSequence } = await readHead(tx, organizationId);
      const rows = await listLinks(tx, organizationId, { after: undefined, lastSequence, limit: ROWS_PER_TRANSACTION });
      let last = { sequence: anchor.sequence, hash: anchor.hash };
      for (const row of rows) {
        // Evidence of a manipulation is kept.
        if (checkLink(row, last)) return { removed: 0, isBroken: true };
        if (row.created_at >= before) break;
        last = { sequence: row.sequence, hash: row.hash };
      }
      const removed = last.sequence - anchor.sequence;
      if (removed === 0) return { removed, isBroken: false };
      await deleteLinks(tx, organizationId, last.sequence);
      await updateAnchor(tx, organizationId, { ...last, removedAt: clock.now() });
      await audit.record(tx, ACTOR, {
        organizationId,
        type: 'audit_retention',
        resource: { type: 'organization', id: organizationId },
        after: { removed, through: last.sequence, hash: last.hash },
      });
      return { removed, isBroken: false };
    });

  /** Without a lock, because mostly nothing is due. */
  async function isOldestDue(organizationId: string, before: number): Promise<boolean> {
    const range = { after: undefined, lastSequence: Number.MAX_SAFE_INTEGER, limit: 1 };
    const [oldest] = await listLinks(state.db, organizationId, range);
    return oldest !== undefined && oldest.created_at < before;
  }

  return {
    async run(): Promise<void> {
      if (days === undefined) return;
      // By both clocks: what is removed too early is lost.
      const today = toUtcDay(Math.min(clock.now(), await state.now()));
      const before = Date.parse(`${today}T00:00:00Z`) - days * DAY_MS;
      for (const { id } of await organizations.list()) {
        let total = 0;
        while (await isOldestDue(id, before)) {
          const { removed, isBroken } = await removeSome(id, before);
          total += removed;
          if (isBroken)
            log.warn(
              { organizationId: id },
              'the audit log is not intact: its retention removes nothing; run pilothouse audit verify',
            );
          if (isBroken || removed === 0) break;
          await setImmediate();
        }
        if (total > 0) log.info({ organizationId: id, activities: total }, 'removed old activities');
      }
    },
  };
}
